#include "shoal/kernels/workspace.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <vector>

#include "shoal/tests/support/op_harness.h"

namespace shoal::kernels {
namespace {

TEST(Workspace, BytesForNothing_AreNone) { EXPECT_EQ(workspace_bytes_for(0), 0); }

TEST(Workspace, FloatsFitAtEveryAddress) {
  constexpr std::int64_t kNumel = 10;
  const std::int64_t bytes = workspace_bytes_for(kNumel);
  std::vector<std::uint8_t> memory(static_cast<std::size_t>(bytes) + 64);
  for (std::int64_t offset = 0; offset < 64; ++offset) {
    const Tensor workspace(memory.data() + offset, {bytes}, DType::U8);
    const auto begin = std::bit_cast<std::uintptr_t>(workspace_floats(workspace));
    EXPECT_EQ(begin % 64, 0U);
    EXPECT_GE(begin, std::bit_cast<std::uintptr_t>(workspace.data()));
    EXPECT_LE(begin + kNumel * sizeof(float),
              std::bit_cast<std::uintptr_t>(workspace.data()) + static_cast<std::size_t>(bytes));
  }
}

TEST(Workspace, TooFewBytesOrAnotherType_AreRefusedByName) {
  std::vector<float> memory(100);
  const auto refused = [](const std::vector<std::string>& texts, const Tensor& workspace) {
    test::expect_error(ErrorCode::InvalidArgument, texts, [&] { check_workspace("some_op", workspace, 100); });
  };
  refused({"[some_op]", "99 bytes", "at least 100"}, Tensor(memory.data(), {99}, DType::U8));
  refused({"fp32"}, Tensor(memory.data(), {100}, DType::F32));
  refused({"nothing"}, {});
  check_workspace("some_op", Tensor(memory.data(), {100}, DType::U8), 100);
  check_workspace("some_op", {}, 0);
}

TEST(Workspace, MoreBytesThanAnIndexHolds_AreRefused) {
  test::expect_error(ErrorCode::InvalidArgument, {},
                     [] { workspace_bytes_for(std::numeric_limits<std::int64_t>::max() / 2); });
}

}  // namespace
}  // namespace shoal::kernels
