#include "shoal/nn/models/gpt.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "shoal/nn/activation.h"
#include "shoal/nn/add.h"
#include "shoal/nn/attention.h"
#include "shoal/nn/direct_binding.h"
#include "shoal/tests/support/layer_check.h"
#include "shoal/tests/support/model_check.h"
#include "shoal/tests/support/nn_world.h"
#include "shoal/tests/support/op_harness.h"

namespace shoal::test {
namespace {

using nn::GptConfig;
using nn::Variable;

constexpr GptConfig kTiny{.layers = 2, .width = 8, .heads = 2, .context = 6, .vocabulary = 11};

TEST(Gpt, Learns) {
  nn::Gpt model(kTiny);
  check_model(model,
              {.batch = {.inputs = {3, 5}, .inputs_dtype = DType::I32, .targets = {3, 5}}, .id_bound = 11, .lr = 0.3});
}

/// The whole of it, tied table included: positions, attention, both residual additions and the fused GELU are smooth,
/// so one check of every parameter at once finds a branch that is wired wrongly.
TEST(Gpt, GradientsMatchDifferences) {
  nn::Gpt model(kTiny);
  NnWorld world;
  // The ids are read by every device that check_layer makes; sim never looks.
  const Tensor ids = world.upload({2, 6}, index_values(12, 3, 11));
  check_layer(model, {.inputs = {},
                      .forward = [&](nn::Context& ctx, std::span<const Variable>) { return model.predict(ctx, ids); }});
}

/// Two blocks by hand, from the operations: a wrong branch is a wrong bit.
TEST(Gpt, Predictions_AreThoseOfTheFormula) {
  nn::Gpt model(kTiny);
  NnWorld world;
  nn::DirectBinding binding(world.stream(), model, 1);
  std::map<std::string, const nn::Parameter*> p;
  for (const nn::Parameter* parameter : model.parameters()) {
    p[parameter->name] = parameter;
    world.overwrite(binding.value(*parameter), normal_values(parameter->shape.numel(), p.size(), 0.2, 0.5));
  }
  nn::Context ctx = world.context(binding, false);
  const Tensor ids = world.upload({2, 6}, index_values(12, 3, 11));
  Variable x = nn::embedding(ctx, ids, *p["tok.weight"], p["pos.weight"]);
  for (const std::string block : {"blocks.0.", "blocks.1."}) {
    const auto norm = [&](const Variable& v, const std::string& name) {
      return nn::layer_norm(ctx, v, *p[block + name + ".weight"], *p[block + name + ".bias"]);
    };
    const auto dense = [&](const Variable& v, const std::string& name) {
      return nn::linear(ctx, v, *p[block + name + ".weight"], p[block + name + ".bias"]);
    };
    const Variable attended = nn::causal_attention(ctx, dense(norm(x, "norm1"), "qkv"), kTiny.heads);
    x = nn::add(ctx, x, dense(attended, "out"));
    x = nn::add(ctx, x, dense(nn::gelu(ctx, dense(norm(x, "norm2"), "up")), "down"));
  }
  x = nn::layer_norm(ctx, x, *p["norm.weight"], *p["norm.bias"]);
  const Variable logits = nn::linear(ctx, x, *p["tok.weight"]);
  EXPECT_EQ(world.download(model.predict(ctx, ids).value()), world.download(logits.value()));
}

TEST(Gpt, LaterTokens_DoNotReachEarlierPredictions) {
  nn::Gpt model(kTiny);
  NnWorld world;
  nn::DirectBinding binding(world.stream(), model, 1);
  nn::Context ctx = world.context(binding, false);
  const auto logits = [&](std::int32_t last) {
    return world.download(model.predict(ctx, world.upload({1, 3}, std::vector<std::int32_t>{4, 7, last})).value());
  };
  const auto a = logits(1);
  const auto b = logits(2);
  EXPECT_EQ(std::vector<float>(a.begin(), a.begin() + 22), std::vector<float>(b.begin(), b.begin() + 22));
  EXPECT_NE(a, b);
}

/// n layers of width d: 12 d^2 + 13 d each, tables of (vocabulary + context) d, a last norm of 2 d.
std::int64_t expected_parameters(const GptConfig& c) {
  return c.layers * (12 * c.width * c.width + 13 * c.width) + (c.vocabulary + c.context) * c.width + 2 * c.width;
}

TEST(Gpt, HasTheKnownNumbersOfParameters) {
  const GptConfig small{.layers = 12, .width = 768, .heads = 12, .context = 1024, .vocabulary = 50304};
  nn::Gpt gpt2(small);
  EXPECT_EQ(num_parameters(gpt2), 124'475'904);  // 124,439,808 for the vocabulary of 50,257
  const GptConfig middle{.layers = 6, .width = 384, .heads = 6, .context = 256, .vocabulary = 512};
  nn::Gpt gpt(middle);
  EXPECT_EQ(num_parameters(gpt), expected_parameters(middle));
}

TEST(Gpt, InitialValues_FollowGpt2) {
  nn::Gpt model(kTiny);
  for (const nn::Parameter* p : model.parameters()) {
    const bool writes_stream = p->name.ends_with("out.weight") || p->name.ends_with("down.weight");
    if (p->shape.num_dims() == 2) {
      EXPECT_EQ(p->init.kind, nn::Init::Kind::Normal) << p->name;
      EXPECT_FLOAT_EQ(p->init.scale, writes_stream ? 0.01f : 0.02f) << p->name;  // 0.02 / sqrt(2 * 2)
    } else {
      EXPECT_EQ(p->init.kind, nn::Init::Kind::Constant) << p->name;
      EXPECT_EQ(p->init.scale, p->name.ends_with("weight") ? 1 : 0) << p->name;
    }
    EXPECT_EQ(p->decays, p->shape.num_dims() == 2) << p->name;
  }
}

TEST(Gpt, NumbersThatCannotWork_AreRefused) {
  expect_error(ErrorCode::InvalidArgument, {"3 heads", "width 8"},
               [] { nn::Gpt({.layers = 1, .width = 8, .heads = 3}); });
  expect_error(ErrorCode::InvalidArgument, {"positive"}, [] { nn::Gpt({.layers = 0}); });
  nn::Gpt model(kTiny);
  NnWorld world(DeviceKind::Sim);
  nn::DirectBinding binding(world.stream(), model, 1);
  nn::Context ctx = world.context(binding);
  expect_error(ErrorCode::InvalidArgument, {"sequence of 7", "pos.weight"}, [&] {
    model.predict(ctx, world.make({1, 7}, DType::I32));
  });
}

}  // namespace
}  // namespace shoal::test
