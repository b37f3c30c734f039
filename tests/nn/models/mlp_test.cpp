#include "shoal/nn/models/mlp.h"

#include <gtest/gtest.h>

#include "shoal/nn/direct_binding.h"
#include "shoal/tests/support/model_check.h"
#include "shoal/tests/support/nn_world.h"
#include "shoal/tests/support/op_harness.h"

namespace shoal::test {
namespace {

TEST(Mlp, Learns) {
  nn::Mlp model({.features = 12, .hidden = 8, .hidden_layers = 2, .classes = 3});
  check_model(model, {.batch = {.inputs = {5, 2, 3, 2}, .targets = {5}}, .id_bound = 3, .lr = 0.3});
}

TEST(Mlp, WithoutHiddenLayers_IsALinearClassifier) {
  nn::Mlp model({.features = 12, .hidden_layers = 0, .classes = 3});
  EXPECT_EQ(num_parameters(model), 12 * 3 + 3);
  check_model(model, {.batch = {.inputs = {5, 12}, .targets = {5}}, .id_bound = 3});
}

TEST(Mlp, InputsOfAnotherSize_AreRefused) {
  nn::Mlp model({.features = 12});
  NnWorld world(DeviceKind::Sim);
  nn::DirectBinding binding(world.stream(), model, 1);
  nn::Context ctx = world.context(binding);
  expect_error(ErrorCode::InvalidArgument, {"nn::Mlp", "(2, 13)", "12"}, [&] {
    model.predict(ctx, world.make({2, 13}, DType::F32));
  });
}

}  // namespace
}  // namespace shoal::test
