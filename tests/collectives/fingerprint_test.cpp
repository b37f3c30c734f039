#include "shoal/collectives/fingerprint.h"

#include <gtest/gtest.h>

namespace shoal::collectives {
namespace {

TEST(Fingerprint, Describe_NamesKindBytesDTypeAndDetail) {
  EXPECT_EQ(describe({4096, 0, CollectiveKind::AllGather, DType::BF16}), "all_gather (4096 bytes, bf16)");
  EXPECT_EQ(describe({8, 2, CollectiveKind::Broadcast, DType::I64}), "broadcast (8 bytes, i64, from rank 2)");
  EXPECT_EQ(describe({8, 3, CollectiveKind::WindowGather, DType::F32}), "gather (8 bytes, fp32, window 3)");
  EXPECT_EQ(describe({8, 1, CollectiveKind::ReduceScatter, DType::F32}), "reduce_scatter (8 bytes, fp32, folded)");
  EXPECT_EQ(describe({8, 0, CollectiveKind::AllReduce, DType::F32}), "all_reduce (8 bytes, fp32)");
  EXPECT_EQ(describe({8, 4, CollectiveKind::SendRecv, DType::F32}), "send_recv (8 bytes, fp32, to rank 4)");
  EXPECT_EQ(describe({0, -1, CollectiveKind::SendRecv, DType::F32}), "send_recv (0 bytes, fp32, no receiver)");
  EXPECT_EQ(describe({0, 0, CollectiveKind::Barrier, DType::U8}), "barrier");
}

TEST(Fingerprint, SameOperation_ComparesEverythingButWhatASendRecvMoves) {
  const Fingerprint gather{64, 0, CollectiveKind::AllGather, DType::F32};
  EXPECT_TRUE(is_same_operation(gather, gather));
  EXPECT_FALSE(is_same_operation(gather, {65, 0, CollectiveKind::AllGather, DType::F32}));
  EXPECT_FALSE(is_same_operation(gather, {64, 1, CollectiveKind::AllGather, DType::F32}));
  EXPECT_FALSE(is_same_operation(gather, {64, 0, CollectiveKind::AllToAll, DType::F32}));
  EXPECT_FALSE(is_same_operation(gather, {64, 0, CollectiveKind::AllGather, DType::I32}));
  const Fingerprint send{64, 1, CollectiveKind::SendRecv, DType::F32};
  EXPECT_TRUE(is_same_operation(send, {8, -1, CollectiveKind::SendRecv, DType::I32}));
  EXPECT_FALSE(is_same_operation(send, gather));
}

TEST(Fingerprint, DescribeRanks_ReadsAsAList) {
  EXPECT_EQ(describe_ranks({}), "no rank");
  EXPECT_EQ(describe_ranks({3}), "rank 3");
  EXPECT_EQ(describe_ranks({1, 3}), "ranks 1 and 3");
  EXPECT_EQ(describe_ranks({0, 1, 3}), "ranks 0, 1 and 3");
}

}  // namespace
}  // namespace shoal::collectives
