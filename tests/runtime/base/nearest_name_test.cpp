#include "shoal/runtime/base/nearest_name.h"

#include <gtest/gtest.h>

#include <array>

namespace shoal {
namespace {

constexpr std::array<std::string_view, 4> kKnown = {"adamw", "adam", "sgd", "strategy"};

TEST(NearestName, OneEditAway_IsFound) {
  EXPECT_EQ(nearest_name("adamv", kKnown), "adamw");        // replaced
  EXPECT_EQ(nearest_name("sg", kKnown), "sgd");             // left out
  EXPECT_EQ(nearest_name("sggd", kKnown), "sgd");           // one too many
  EXPECT_EQ(nearest_name("strateyg", kKnown), "strategy");  // swapped
}

TEST(NearestName, ASwapOfNeighboursIsOneEdit) {
  constexpr std::array<std::string_view, 2> kPair = {"axcy", "acb"};
  EXPECT_EQ(nearest_name("abc", kPair), "acb");
}

TEST(NearestName, EqualDistances_TheEarlierWins) {
  constexpr std::array<std::string_view, 2> kPair = {"cat", "bat"};
  EXPECT_EQ(nearest_name("rat", kPair), "cat");
}

TEST(NearestName, NothingNear_IsEmpty) {
  EXPECT_EQ(nearest_name("xyzzy", kKnown), "");
  EXPECT_EQ(nearest_name("q", kKnown), "");
  EXPECT_EQ(nearest_name("", kKnown), "");
  EXPECT_EQ(nearest_name("adam", {}), "");
}

TEST(NearestName, AKnownName_IsItself) {
  for (const std::string_view name : kKnown) EXPECT_EQ(nearest_name(name, kKnown), name);
}

TEST(DescribeUnknown, NamesTheNearestAndAll) {
  EXPECT_EQ(describe_unknown("adamv", kKnown),
            "'adamv' is unknown; did you mean 'adamw'? Known: adamw, adam, sgd, strategy");
  EXPECT_EQ(describe_unknown("xyzzy", kKnown), "'xyzzy' is unknown. Known: adamw, adam, sgd, strategy");
}

}  // namespace
}  // namespace shoal
