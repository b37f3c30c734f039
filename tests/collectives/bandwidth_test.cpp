#include "shoal/collectives/bandwidth.h"

#include <gtest/gtest.h>

namespace shoal::collectives {
namespace {

TEST(Bandwidth, Factors_AreThoseOfAnOptimalRing) {
  EXPECT_DOUBLE_EQ(bus_bandwidth_factor(CollectiveKind::AllReduce, 2), 1.0);
  EXPECT_DOUBLE_EQ(bus_bandwidth_factor(CollectiveKind::AllReduce, 8), 1.75);
  for (const CollectiveKind kind : {CollectiveKind::AllGather, CollectiveKind::ReduceScatter, CollectiveKind::AllToAll,
                                    CollectiveKind::WindowGather}) {
    EXPECT_DOUBLE_EQ(bus_bandwidth_factor(kind, 1), 0.0);
    EXPECT_DOUBLE_EQ(bus_bandwidth_factor(kind, 4), 0.75);
  }
  EXPECT_DOUBLE_EQ(bus_bandwidth_factor(CollectiveKind::Broadcast, 5), 1.0);
  EXPECT_DOUBLE_EQ(bus_bandwidth_factor(CollectiveKind::SendRecv, 5), 1.0);
  EXPECT_DOUBLE_EQ(bus_bandwidth_factor(CollectiveKind::Barrier, 5), 0.0);
}

TEST(Bandwidth, BusBandwidth_IsAlgorithmBandwidthTimesTheFactor) {
  EXPECT_DOUBLE_EQ(algorithm_bandwidth(4'000'000'000, 2.0), 2.0);
  EXPECT_DOUBLE_EQ(bus_bandwidth(CollectiveKind::AllGather, 4, 4'000'000'000, 2.0), 1.5);
}

}  // namespace
}  // namespace shoal::collectives
