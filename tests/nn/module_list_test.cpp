#include "shoal/nn/module_list.h"

#include <gtest/gtest.h>

#include "shoal/nn/linear.h"
#include "shoal/tests/support/nn_world.h"

namespace shoal::test {
namespace {

TEST(ModuleList, NamesItsModulesByPosition) {
  TestRoot root;
  nn::ModuleList<nn::Linear> layers(&root, "layers");
  layers.add(2, 3);
  layers.add(3, 4, false).mark_unit();
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[1].weight().name, "layers.1.weight");
  EXPECT_TRUE(layers[1].is_unit());
  EXPECT_EQ(root.parameters().size(), 3u);
}

}  // namespace
}  // namespace shoal::test
