#include "shoal/runtime/base/error.h"

#include <gtest/gtest.h>

namespace shoal {
namespace {

TEST(Error, CodesHaveTheirNames) {
  EXPECT_EQ(error_code_name(ErrorCode::InvalidArgument), "InvalidArgument");
  EXPECT_EQ(error_code_name(ErrorCode::Unsupported), "Unsupported");
  EXPECT_EQ(error_code_name(ErrorCode::OutOfMemory), "OutOfMemory");
  EXPECT_EQ(error_code_name(ErrorCode::DeviceFailure), "DeviceFailure");
  EXPECT_EQ(error_code_name(ErrorCode::CommFailure), "CommFailure");
  EXPECT_EQ(error_code_name(ErrorCode::Timeout), "Timeout");
  EXPECT_EQ(error_code_name(ErrorCode::Aborted), "Aborted");
  EXPECT_EQ(error_code_name(ErrorCode::Corrupt), "Corrupt");
  EXPECT_EQ(error_code_name(ErrorCode::Internal), "Internal");
}

TEST(Error, Fail_ThrowsCodeTextAndOperation) {
  try {
    fail(ErrorCode::Corrupt, "[load] the file ends at byte 3");
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Corrupt);
    EXPECT_EQ(error.rank(), -1);
    EXPECT_STREQ(error.what(), "[load] the file ends at byte 3");
    EXPECT_EQ(error.operation(), "load");
  }
}

TEST(Error, Operation_WithoutBrackets_IsEmpty) {
  EXPECT_EQ(Error(ErrorCode::Internal, "").operation(), "");
  EXPECT_EQ(Error(ErrorCode::Internal, "no [brackets] in front").operation(), "");
  EXPECT_EQ(Error(ErrorCode::Internal, "[open end").operation(), "");
  EXPECT_EQ(Error(ErrorCode::Internal, "[]").operation(), "");
}

TEST(Error, KeepsItsRank) { EXPECT_EQ(Error(ErrorCode::Timeout, "[x] y", 3).rank(), 3); }

TEST(Error, WhatOnlyTellsOfAnotherRank_IsFartherFromTheCause) {
  EXPECT_EQ(distance_from_cause(ErrorCode::Corrupt), 0);
  EXPECT_EQ(distance_from_cause(ErrorCode::InvalidArgument), distance_from_cause(ErrorCode::Internal));
  EXPECT_LT(distance_from_cause(ErrorCode::Internal), distance_from_cause(ErrorCode::CommFailure));
  EXPECT_LT(distance_from_cause(ErrorCode::CommFailure), distance_from_cause(ErrorCode::Timeout));
  EXPECT_LT(distance_from_cause(ErrorCode::Timeout), distance_from_cause(ErrorCode::Aborted));
}

}  // namespace
}  // namespace shoal
