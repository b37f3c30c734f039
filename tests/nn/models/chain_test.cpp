#include "shoal/nn/models/chain.h"

#include <gtest/gtest.h>

#include "shoal/tests/support/model_check.h"

namespace shoal::test {
namespace {

TEST(Chain, Learns) {
  nn::Chain model({.layers = 3, .width = 8});
  EXPECT_EQ(num_parameters(model), 3 * (8 * 8 + 8));
  check_model(model, {.batch = {.inputs = {4, 8}, .targets = {4, 8}, .targets_dtype = DType::F32}, .lr = 0.5});
}

TEST(Chain, EveryLayer_IsAUnit) {
  nn::Chain model({.layers = 3, .width = 8});
  int num_units = 0;
  for (const nn::Module* module : model.modules()) num_units += module->is_unit() ? 1 : 0;
  EXPECT_EQ(num_units, 3);
  EXPECT_EQ(model.parameters()[2]->name, "layers.1.weight");
}

}  // namespace
}  // namespace shoal::test
