#include "shoal/runtime/device/process_mark.h"

#include <gtest/gtest.h>

#include "shoal/tests/support/forked_child.h"

namespace shoal {
namespace {

using test::status_of_child;
using test::zero_if_refused;

TEST(ProcessMark, ForkedCopy_IsToldFromTheOriginal) {
  const ProcessMark mark;
  EXPECT_FALSE(mark.is_forked_copy());
  EXPECT_EQ(status_of_child([&] { return mark.is_forked_copy() ? 0 : 1; }), 0);
  EXPECT_EQ(
      status_of_child([&] { return zero_if_refused([&] { mark.check("run", "device", "x"); }, "[run] device 'x'"); }),
      0);
  EXPECT_FALSE(mark.is_forked_copy());
  mark.check("run", "device", "x");
}

TEST(ProcessMark, MadeInTheChild_HoldsThereAndIsACopyInTheGrandchild) {
  EXPECT_EQ(status_of_child([] {
              const ProcessMark mark;
              if (mark.is_forked_copy()) return 1;
              return status_of_child([&] { return mark.is_forked_copy() ? 0 : 1; });
            }),
            0);
}

}  // namespace
}  // namespace shoal
