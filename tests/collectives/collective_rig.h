#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/device/runtime.h"
#include "shoal/tests/collectives/backends.h"

namespace shoal::test {

/// What a test's body has on each rank.
struct Rank {
  int rank;
  int world_size;
  Device& device;
  collectives::Communicator& comm;
  Stream& stream;
};

struct RigOptions {
  RuntimeOptions runtime{};
  collectives::CommOptions comm{};
};

/// Runs body on every rank of `world`, on a thread, a device, a communicator and a stream of its own; the stream is
/// synchronised after it. An error of the body leaves by destroying these, as in a program; the most original one is
/// rethrown.
void run_collective(const BackendWorld& world, const RigOptions& options, const std::function<void(Rank&)>& body);

/// Like run_collective, but returns each rank's error (empty text: none) and destroys no communicator before all bodies
/// have ended.
struct RankError {
  std::optional<ErrorCode> code;
  std::string text;
};
std::vector<RankError> collect_errors(const BackendWorld& world, const RigOptions& options,
                                      const std::function<void(Rank&)>& body);

/// Device memory with a tensor in it, poisoned, between two guard bands.
class DeviceArray {
 public:
  DeviceArray(Device& device, std::int64_t numel, DType dtype);

  const Tensor& tensor() const { return tensor_; }
  template <typename T>
  T* as() const {
    return tensor_.as<T>();
  }
  void set_bytes(const std::function<std::uint8_t(std::int64_t)>& value);
  template <typename T>
  void set(const std::function<T(std::int64_t)>& value) {
    for (std::int64_t i = 0; i < tensor_.numel(); ++i) as<T>()[i] = value(i);
  }
  bool guards_are_intact() const;

 private:
  Buffer buffer_;
  Tensor tensor_;
};

/// Elements that are not value(i), bit for bit.
template <typename T>
std::int64_t count_wrong(const Tensor& tensor, const std::function<T(std::int64_t)>& value) {
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) wrong += tensor.as<T>()[i] == value(i) ? 0 : 1;
  return wrong;
}
std::int64_t count_wrong_bytes(const Tensor& tensor, const std::function<std::uint8_t(std::int64_t)>& value);

/// A byte that depends on all arguments.
std::uint8_t pattern_byte(std::uint64_t seed, int rank, std::int64_t index);
/// A small integer in [-8, 8] that depends on all arguments: sums of these, also times a power of two, are exact.
int pattern_integer(std::uint64_t seed, int rank, std::int64_t index);

/// A clock that stands still until advanced, and counts the reads of each thread. An operation reads it whenever it has
/// found that it must wait. A thread whose earlier operation has just ended may still read it once, so two reads after
/// forget_readers() show that it waits in its next operation.
class ManualClock {
 public:
  std::function<std::chrono::steady_clock::time_point()> reader();
  void advance(std::chrono::milliseconds by) { offset_ms_ += by.count(); }
  void forget_readers();
  /// Blocks until that many threads have read it twice, at most a minute.
  void wait_for_readers(int num_threads);
  /// Lets `num_threads` others wait, then advances by `deadline` until `num_failed` of them have told that they failed:
  /// again and again, since what they still find to do counts as progress.
  void run_out(std::chrono::milliseconds deadline, int num_threads, const std::atomic<int>& num_failed);

 private:
  std::atomic<std::int64_t> offset_ms_{0};
  std::mutex mutex_;
  std::map<std::thread::id, int> reads_;
};

/// Blocks until `condition`, at most a minute; false when it did not come.
bool wait_until(const std::function<bool()>& condition);

class CollectiveTest : public ::testing::TestWithParam<BackendWorld> {};

inline std::string name_world(const ::testing::TestParamInfo<BackendWorld>& info) { return describe(info.param); }

}  // namespace shoal::test
