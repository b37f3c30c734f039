#include "shoal/tests/collectives/collective_rig.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "shoal/runtime/base/counter_rng.h"
#include "shoal/tests/support/rank_threads.h"

namespace shoal::test {
namespace {

constexpr std::int64_t kGuardBytes = 64;
constexpr std::uint8_t kGuard = 0xa5;
constexpr std::uint8_t kPoison = 0xff;

std::uint32_t mix(std::uint64_t seed, int rank, std::int64_t index) {
  return philox4x32(seed, static_cast<std::uint64_t>(index), static_cast<std::uint64_t>(rank))[0];
}

}  // namespace

void run_collective(const BackendWorld& world, const RigOptions& options, const std::function<void(Rank&)>& body) {
  auto communicators = world.backend->make(world.world_size, options.comm);
  run_ranks(world.world_size, options.runtime, [&](int rank, Device& device) {
    const auto comm = std::move(communicators[static_cast<std::size_t>(rank)]);
    const auto stream = device.make_stream(StreamRole::Reduce, "collectives");
    Rank context{rank, world.world_size, device, *comm, *stream};
    body(context);
    stream->synchronize();
  });
}

std::vector<RankError> collect_errors(const BackendWorld& world, const RigOptions& options,
                                      const std::function<void(Rank&)>& body) {
  auto communicators = world.backend->make(world.world_size, options.comm);
  std::vector<RankError> errors(communicators.size());
  run_ranks(world.world_size, options.runtime, [&](int rank, Device& device) {
    const auto stream = device.make_stream(StreamRole::Reduce, "collectives");
    Rank context{rank, world.world_size, device, *communicators[static_cast<std::size_t>(rank)], *stream};
    try {
      body(context);
      stream->synchronize();
    } catch (const Error& error) {
      errors[static_cast<std::size_t>(rank)] = {error.code(), error.what()};
    }
  });
  return errors;
}

DeviceArray::DeviceArray(Device& device, std::int64_t numel, DType dtype)
    : buffer_(device.allocate(numel * dtype_bytes(dtype) + 2 * kGuardBytes, MemoryTag::Workspace)),
      tensor_(static_cast<std::byte*>(buffer_.data()) + kGuardBytes, Shape{numel}, dtype) {
  auto* bytes = static_cast<std::uint8_t*>(buffer_.data());
  std::memset(bytes, kGuard, static_cast<std::size_t>(buffer_.bytes()));
  std::memset(bytes + kGuardBytes, kPoison, static_cast<std::size_t>(tensor_.num_bytes()));
}

void DeviceArray::set_bytes(const std::function<std::uint8_t(std::int64_t)>& value) {
  for (std::int64_t i = 0; i < tensor_.num_bytes(); ++i) as<std::uint8_t>()[i] = value(i);
}

bool DeviceArray::guards_are_intact() const {
  const auto* bytes = static_cast<const std::uint8_t*>(buffer_.data());
  for (std::int64_t i = 0; i < kGuardBytes; ++i) {
    if (bytes[i] != kGuard || bytes[buffer_.bytes() - 1 - i] != kGuard) return false;
  }
  return true;
}

std::int64_t count_wrong_bytes(const Tensor& tensor, const std::function<std::uint8_t(std::int64_t)>& value) {
  const std::int64_t width = dtype_bytes(tensor.dtype());
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    bool is_equal = true;
    for (std::int64_t b = i * width; b < (i + 1) * width; ++b) is_equal &= tensor.as<std::uint8_t>()[b] == value(b);
    wrong += is_equal ? 0 : 1;
  }
  return wrong;
}

std::uint8_t pattern_byte(std::uint64_t seed, int rank, std::int64_t index) {
  return static_cast<std::uint8_t>(mix(seed, rank, index));
}

int pattern_integer(std::uint64_t seed, int rank, std::int64_t index) {
  return static_cast<int>(mix(seed, rank, index) % 17) - 8;
}

std::function<std::chrono::steady_clock::time_point()> ManualClock::reader() {
  return [this] {
    const std::lock_guard lock(mutex_);
    ++reads_[std::this_thread::get_id()];
    return std::chrono::steady_clock::time_point(std::chrono::milliseconds(offset_ms_.load()));
  };
}

void ManualClock::forget_readers() {
  const std::lock_guard lock(mutex_);
  reads_.clear();
}

void ManualClock::wait_for_readers(int num_threads) {
  EXPECT_TRUE(wait_until([&] {
    const std::lock_guard lock(mutex_);
    return std::count_if(reads_.begin(), reads_.end(), [](const auto& reads) { return reads.second >= 2; }) >=
           num_threads;
  }));
}

void ManualClock::run_out(std::chrono::milliseconds deadline, int num_threads, const std::atomic<int>& num_failed) {
  forget_readers();
  wait_for_readers(num_threads);
  EXPECT_TRUE(wait_until([&] {
    advance(deadline);
    return num_failed.load() == num_threads;
  }));
}

bool wait_until(const std::function<bool()>& condition) {
  const auto give_up_at = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > give_up_at) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace shoal::test
