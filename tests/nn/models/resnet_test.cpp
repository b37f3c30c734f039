#include "shoal/nn/models/resnet.h"

#include <gtest/gtest.h>

#include "shoal/nn/activation.h"
#include "shoal/nn/direct_binding.h"
#include "shoal/tests/support/layer_check.h"
#include "shoal/tests/support/model_check.h"
#include "shoal/tests/support/nn_world.h"

namespace shoal::test {
namespace {

using nn::Variable;

TEST(ResNet9, Learns) {
  nn::ResNet9 model({.channels = 1, .classes = 4}, 4);
  check_model(model, {.batch = {.inputs = {6, 9, 8, 1}, .targets = {6}}, .id_bound = 4, .lr = 0.05});
}

TEST(ResNet9, TakesImagesOfBothDataSets) {
  for (const Shape& images : {Shape{2, 28, 28, 1}, Shape{2, 32, 32, 3}}) {
    nn::ResNet9 model({.channels = images[3]}, 16);
    NnWorld world(DeviceKind::Sim);
    nn::DirectBinding binding(world.stream(), model, 1);
    nn::Context ctx = world.context(binding, false);
    EXPECT_EQ(model.predict(ctx, world.make(images, DType::F32)).shape(), (Shape{2, 10}));
  }
}

/// With a last batch norm that gives zero, only the shortcut is left: max(0, x).
TEST(Residual, WithoutItsBranch_IsTheShortcut) {
  TestRoot root;
  nn::Residual block(&root, "block", 3, 3);
  NnWorld world;
  nn::DirectBinding binding(world.stream(), root, 1);
  const auto parameters = root.parameters();
  ASSERT_EQ(parameters[4]->name, "block.bn2.weight");
  world.overwrite(binding.value(*parameters[4]), std::vector<float>(3, 0.0f));
  nn::Context ctx = world.context(binding, false);
  std::vector<float> values = normal_values(2 * 4 * 4 * 3, 1);
  const Variable y = block(ctx, nn::constant(world.upload({2, 4, 4, 3}, values)));
  for (float& v : values) v = v > 0 ? v : 0;
  EXPECT_EQ(world.download(y.value()), values);
}

TEST(Residual, WithAStride_HasAProjectedShortcut) {
  TestRoot root;
  nn::Residual block(&root, "block", 3, 4, 2);
  NnWorld world;
  nn::DirectBinding binding(world.stream(), root, 1);
  const auto parameters = root.parameters();
  ASSERT_EQ(parameters[4]->name, "block.bn2.weight");
  ASSERT_EQ(parameters[6]->name, "block.shortcut.conv.weight");
  ASSERT_EQ(parameters[6]->shape, (Shape{4, 3, 1, 1}));
  world.overwrite(binding.value(*parameters[4]), std::vector<float>(4, 0.0f));
  nn::Context ctx = world.context(binding, false);
  const Variable x = nn::constant(world.upload({2, 4, 4, 3}, normal_values(2 * 4 * 4 * 3, 1)));
  const Variable y = block(ctx, x);
  EXPECT_EQ(y.shape(), (Shape{2, 2, 2, 4}));
  auto* shortcut = dynamic_cast<nn::ConvBlock*>(block.children().back());
  ASSERT_NE(shortcut, nullptr);
  EXPECT_EQ(world.download(y.value()), world.download(nn::relu(ctx, (*shortcut)(ctx, x)).value()));
}

TEST(ResNet18, Learns) {
  nn::ResNet18 model({.channels = 2, .classes = 3});
  check_model(model, {.batch = {.inputs = {3, 4, 4, 2}, .targets = {3}}, .id_bound = 3, .lr = 0.01, .steps = 2});
}

/// The count of the same network in PyTorch.
TEST(ResNet18, HasTheKnownNumberOfParameters) {
  nn::ResNet18 model({.channels = 3, .classes = 10});
  EXPECT_EQ(num_parameters(model), 11'173'962);
}

TEST(ResNet18, EveryBlock_IsAUnitAndNothingIsLeftToTheRoot) {
  nn::ResNet18 model({.channels = 3, .classes = 10});
  int num_units = 0;
  for (nn::Module* module : model.modules()) num_units += module->is_unit() ? 1 : 0;
  EXPECT_EQ(num_units, 1 + 8 + 1);
  for (const nn::Parameter* parameter : model.parameters())
    EXPECT_EQ(parameter->decays, parameter->shape.num_dims() > 1);
}

}  // namespace
}  // namespace shoal::test
