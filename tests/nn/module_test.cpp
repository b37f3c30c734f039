#include "shoal/nn/module.h"

#include <gtest/gtest.h>

#include <memory>

#include "shoal/nn/batch_norm.h"
#include "shoal/nn/direct_binding.h"
#include "shoal/nn/linear.h"
#include "shoal/tests/support/nn_world.h"
#include "shoal/tests/support/op_harness.h"

namespace shoal::test {
namespace {

struct Inner : nn::Module {
  Inner(nn::Module* parent, std::string name) : Module(parent, std::move(name), "Inner") {}
  nn::Linear up{this, "up", 2, 3};
  nn::BatchNorm bn{this, "bn", 3};
};

struct Outer : nn::Module {
  Outer() : Module(nullptr, "", "Outer") { add_parameter("scale", {}, {nn::Init::Kind::Constant, 1}, false); }
  Inner left{this, "left"};
  Inner right{this, "right"};
};

TEST(Module, Names_AreDottedPathsInDeclarationOrder) {
  Outer root;
  std::vector<std::string> names;
  for (const nn::Parameter* parameter : root.parameters()) names.push_back(parameter->name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"scale", "left.up.weight", "left.up.bias", "left.bn.weight", "left.bn.bias",
                                      "right.up.weight", "right.up.bias", "right.bn.weight", "right.bn.bias"}));
  names.clear();
  for (const nn::Module* module : root.modules()) names.push_back(module->path());
  EXPECT_EQ(names, (std::vector<std::string>{"", "left", "left.up", "left.bn", "right", "right.up", "right.bn"}));
  ASSERT_EQ(root.state_buffers().size(), 4u);
  EXPECT_EQ(root.state_buffers()[3]->name, "right.bn.running_var");
  EXPECT_EQ(root.right.bn.type(), "BatchNorm");
  EXPECT_EQ(root.right.parent(), &root);
}

TEST(Module, Finalize_NumbersEverythingAndIsIdempotent) {
  Outer root;
  EXPECT_EQ(root.left.index(), -1);
  for (int round = 0; round < 2; ++round) {
    root.finalize();
    const auto parameters = root.parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) EXPECT_EQ(parameters[i]->index, static_cast<int>(i));
    const auto buffers = root.state_buffers();
    for (std::size_t i = 0; i < buffers.size(); ++i) EXPECT_EQ(buffers[i]->index, static_cast<int>(i));
    const auto modules = root.modules();
    for (std::size_t i = 0; i < modules.size(); ++i) EXPECT_EQ(modules[i]->index(), static_cast<int>(i));
  }
}

TEST(Module, DuplicateNames_AreNamed) {
  TestRoot root;
  const Inner first(&root, "twin");
  const Inner second(&root, "twin");
  expect_error(ErrorCode::InvalidArgument, {"finalize", "'twin'"}, [&] { root.finalize(); });

  TestRoot other;
  other.add_parameter("w", {1}, {}, true);
  other.add_state_buffer("w", {1}, 0, 0.1f);
  expect_error(ErrorCode::InvalidArgument, {"finalize", "'w'", "state buffer"}, [&] { other.finalize(); });
}

TEST(Module, FinalizeOnAPart_IsRefused) {
  Outer root;
  expect_error(ErrorCode::InvalidArgument, {"finalize", "left", "root"}, [&] { root.left.finalize(); });
}

TEST(Module, BadNames_AreRefused) {
  TestRoot root;
  expect_error(ErrorCode::InvalidArgument, {"a.b"}, [&] { nn::Linear(&root, "a.b", 1, 1); });
  expect_error(ErrorCode::InvalidArgument, {"''"}, [&] { nn::Linear(&root, "", 1, 1); });
  expect_error(ErrorCode::InvalidArgument, {"w.x"}, [&] { root.add_parameter("w.x", {1}, {}, true); });
  EXPECT_TRUE(root.children().empty());
}

TEST(Module, Destroyed_LeavesItsParent) {
  TestRoot root;
  EXPECT_THROW(nn::Linear(&root, "bad", -1, 4), Error);
  const nn::Linear kept(&root, "kept", 1, 4);
  { const Inner gone(&root, "gone"); }
  EXPECT_EQ(root.children(), (std::vector<nn::Module*>{const_cast<nn::Linear*>(&kept)}));
  root.finalize();
  EXPECT_EQ(root.parameters().size(), 2u);
}

TEST(Module, MayOutliveItsParent) {
  auto root = std::make_unique<TestRoot>();
  const nn::Linear part(root.get(), "part", 1, 4);
  root.reset();
  EXPECT_EQ(part.parent(), nullptr);
}

TEST(Module, WithoutForward_SaysWhichModule) {
  Outer root;
  NnWorld world(DeviceKind::Sim);
  nn::DirectBinding binding(world.stream(), root, 1);
  nn::Context ctx = world.context(binding);
  expect_error(ErrorCode::Unsupported, {"'left'", "Inner", "forward"}, [&] { root.left.forward(ctx, nn::Variable()); });
}

}  // namespace
}  // namespace shoal::test
