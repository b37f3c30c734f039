#include "shoal/runtime/fsdp/plan.h"

#include <gtest/gtest.h>

#include <set>

namespace shoal::test {
namespace {

using fsdp::OpKind;

TEST(OpKind, EveryKindHasANameOfItsOwn_AndOnlyPlacesInThePassAreMarks) {
  std::set<std::string_view> names;
  int num_marks = 0;
  for (int i = 0; i <= static_cast<int>(OpKind::Publish); ++i) {
    const auto kind = static_cast<OpKind>(i);
    EXPECT_FALSE(fsdp::op_kind_name(kind).empty());
    names.insert(fsdp::op_kind_name(kind));
    num_marks += fsdp::is_mark(kind) ? 1 : 0;
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(OpKind::Publish) + 1);
  EXPECT_EQ(num_marks, 7);
  EXPECT_EQ(fsdp::op_kind_name(OpKind::Gather), "gather");
  EXPECT_EQ(fsdp::op_kind_name(OpKind::EnterForward), "enter_forward");
  EXPECT_EQ(fsdp::op_kind_name(OpKind::AwaitReaders), "await_readers");
  EXPECT_EQ(fsdp::op_kind_name(OpKind::Publish), "publish");
}

TEST(Plan, IsSharded_OnlyUnderFullOverSeveralRanks) {
  fsdp::Plan plan;
  plan.strategy = fsdp::Strategy::Full;
  plan.world_size = 2;
  EXPECT_TRUE(plan.is_sharded());
  plan.world_size = 1;
  EXPECT_FALSE(plan.is_sharded());
  plan.world_size = 2;
  plan.strategy = fsdp::Strategy::None;
  EXPECT_FALSE(plan.is_sharded());
}

}  // namespace
}  // namespace shoal::test
