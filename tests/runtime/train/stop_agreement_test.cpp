#include "shoal/runtime/train/stop_agreement.h"

#include <gtest/gtest.h>

namespace shoal::train {
namespace {

TEST(StopAgreement, WithoutARequest_EverythingMayRun) {
  std::stop_source source;
  StopAgreement agreement(source.get_token(), 1);
  for (std::int64_t i = 0; i < 10; ++i) {
    EXPECT_TRUE(agreement.may_run(0, i));
    EXPECT_TRUE(agreement.may_run(1, i));
  }
}

TEST(StopAgreement, Request_EndsAllRanksAtTheSameIteration) {
  std::stop_source source;
  StopAgreement agreement(source.get_token(), 1);
  EXPECT_TRUE(agreement.may_run(0, 0));
  // Rank 1 is as far ahead as it can be when the request comes.
  EXPECT_TRUE(agreement.may_run(1, 0));
  EXPECT_TRUE(agreement.may_run(1, 1));
  EXPECT_TRUE(agreement.may_run(1, 2));
  source.request_stop();
  EXPECT_TRUE(agreement.may_run(0, 1)) << "rank 1 is in iteration 2 already and needs rank 0 there";
  EXPECT_TRUE(agreement.may_run(0, 2));
  EXPECT_FALSE(agreement.may_run(0, 3));
  EXPECT_FALSE(agreement.may_run(1, 3));
}

TEST(StopAgreement, RankZeroDecides_OthersOnlyFollow) {
  std::stop_source source;
  source.request_stop();
  StopAgreement agreement(source.get_token(), 1);
  EXPECT_TRUE(agreement.may_run(1, 0));
  EXPECT_TRUE(agreement.may_run(0, 0));
  EXPECT_TRUE(agreement.may_run(1, 1));
  EXPECT_FALSE(agreement.may_run(1, 2));
  EXPECT_TRUE(agreement.may_run(0, 1));
  EXPECT_FALSE(agreement.may_run(0, 2));
}

}  // namespace
}  // namespace shoal::train
