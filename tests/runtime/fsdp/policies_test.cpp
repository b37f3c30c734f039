#include "shoal/runtime/fsdp/policies.h"

#include <gtest/gtest.h>

#include "shoal/runtime/base/error.h"

namespace shoal::test {
namespace {

using fsdp::Strategy;

TEST(Strategy, NamesAndParsing_AreInverse) {
  for (const Strategy strategy :
       {Strategy::None, Strategy::Optimizer, Strategy::Gradients, Strategy::Full, Strategy::Hybrid}) {
    EXPECT_EQ(fsdp::parse_strategy(fsdp::strategy_name(strategy)), strategy);
  }
  EXPECT_EQ(fsdp::strategy_name(Strategy::Full), "full");
}

TEST(Strategy, UnknownName_IsRefusedNamingTheKnownOnes) {
  try {
    fsdp::parse_strategy("zero3");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    const std::string text = error.what();
    EXPECT_NE(text.find("'zero3'"), std::string::npos) << text;
    EXPECT_NE(text.find("none, optimizer, gradients, full, hybrid"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace shoal::test
