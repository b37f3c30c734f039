#include "shoal/runtime/base/inline_function.h"

#include <gtest/gtest.h>

#include <memory>

namespace shoal {
namespace {

using Function = InlineFunction<int(int), 64>;

TEST(InlineFunction, CallsWhatItHolds) {
  int base = 40;
  Function add = [&base](int x) { return base + x; };
  EXPECT_TRUE(static_cast<bool>(add));
  EXPECT_EQ(add(2), 42);
  EXPECT_FALSE(static_cast<bool>(Function()));
}

TEST(InlineFunction, Move_LeavesTheSourceEmptyAndTheStateOnce) {
  auto state = std::make_shared<int>(5);
  const std::weak_ptr<int> watch = state;
  Function first = [state = std::move(state)](int x) { return *state * x; };
  Function second = std::move(first);
  EXPECT_FALSE(static_cast<bool>(first));  // NOLINT(bugprone-use-after-move): the moved-from state is the subject
  EXPECT_EQ(second(3), 15);
  Function third;
  third = std::move(second);
  EXPECT_EQ(third(2), 10);
  EXPECT_EQ(watch.use_count(), 1);
}

TEST(InlineFunction, Reset_DestroysTheState) {
  auto state = std::make_shared<int>(5);
  const std::weak_ptr<int> watch = state;
  Function function = [state = std::move(state)](int) { return *state; };
  EXPECT_FALSE(watch.expired());
  function.reset();
  EXPECT_TRUE(watch.expired());
  EXPECT_FALSE(static_cast<bool>(function));
}

TEST(InlineFunction, Assignment_DestroysWhatWasHeld) {
  auto state = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = state;
  Function function = [state = std::move(state)](int) { return *state; };
  function = Function([](int x) { return x; });
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(function(9), 9);
}

TEST(InlineFunction, HoldsMoveOnlyState) {
  Function function = [state = std::make_unique<int>(6)](int x) { return *state + x; };
  EXPECT_EQ(function(1), 7);
}

}  // namespace
}  // namespace shoal
