#include "shoal/runtime/tools/product_timer.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>

#include "shoal/kernels/fill.h"
#include "shoal/kernels/linear.h"

namespace shoal::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRounds = 3;
constexpr double kRoundSeconds = 0.02;
constexpr std::int64_t kMaxCalls = 10000;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

}  // namespace

double time_product(train::RankContext& rank, const Product& product) {
  const auto make = [&](std::int64_t rows, std::int64_t columns) {
    return rank.device.allocate(rows * columns * dtype_bytes(DType::F32), MemoryTag::Workspace);
  };
  const Buffer x_memory = make(product.rows, product.inner);
  const Buffer w_memory = make(product.columns, product.inner);
  const Buffer y_memory = make(product.rows, product.columns);
  const Tensor x(x_memory.data(), {product.rows, product.inner}, DType::F32);
  const Tensor w(w_memory.data(), {product.columns, product.inner}, DType::F32);
  const Tensor y(y_memory.data(), {product.rows, product.columns}, DType::F32);
  const std::unique_ptr<Stream> stream = rank.device.make_stream(StreamRole::Compute, "products");
  // Ordinary numbers: denormal or infinite ones would cost what no training costs.
  kernels::fill(*stream, x, 0.5f);
  kernels::fill(*stream, w, 0.25f);
  kernels::linear_forward(*stream, x, w, {}, y);
  stream->synchronize();
  const Clock::time_point probe = Clock::now();
  kernels::linear_forward(*stream, x, w, {}, y);
  stream->synchronize();
  const auto wanted_calls = static_cast<std::int64_t>(kRoundSeconds / std::max(1e-9, seconds_since(probe)));
  const std::int64_t num_calls = std::clamp<std::int64_t>(wanted_calls, 1, kMaxCalls);

  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    rank.world.barrier(*stream);
    stream->synchronize();
    const Clock::time_point begin = Clock::now();
    for (std::int64_t call = 0; call < num_calls; ++call) kernels::linear_forward(*stream, x, w, {}, y);
    stream->synchronize();
    best = std::min(best, seconds_since(begin) / static_cast<double>(num_calls));
  }
  return best;
}

}  // namespace shoal::tools
