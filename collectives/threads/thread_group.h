#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "shoal/collectives/factory.h"
#include "shoal/collectives/failure_latch.h"
#include "shoal/collectives/fingerprint.h"
#include "shoal/collectives/threads/busy_count.h"
#include "shoal/collectives/threads/meetings.h"
#include "shoal/runtime/device/process_mark.h"

namespace shoal::threads {

/// Posts that are remembered, a power of two; no rank gets further ahead of the slowest.
inline constexpr std::uint64_t kRingEntries = 1024;

/// What a rank tells its peers about one operation. The three counters hold 1 + the sequence number of the latest
/// operation that got there, so they only grow; the other fields are written before `posted` and belong to the
/// operation it names.
struct alignas(64) RingEntry {
  std::atomic<std::uint64_t> posted{0};  // the stream has come to the operation: peers may use its buffers
  std::atomic<std::uint64_t> reduced{
      0};                              // all_reduce: this rank's slice is summed in `recv`, and it has read the inputs
  std::atomic<std::uint64_t> done{0};  // this rank touches no peer's buffer any more
  const std::byte* send = nullptr;
  const std::byte* recv = nullptr;
  collectives::Fingerprint fingerprint;
  std::int32_t receives_from = -1;  // send_recv
};

/// Written by its rank's threads only, read by everyone.
struct alignas(64) RankState {
  std::atomic<std::uint64_t> num_posted{0};        // operations are posted in the order of the calls
  std::atomic<std::uint64_t> num_gathers_done{0};  // window gathers end in the order of the calls
  std::atomic<std::uint64_t> progress{0};          // grows with everything that counts as progress
  BusyCount busy;                                  // threads inside a loop over peers' memory
  std::atomic<bool> has_left{false};               // the communicator is destroyed; the two counts below hold
  std::uint64_t num_issued = 0;
  std::uint64_t num_gathers_issued = 0;
  std::unique_ptr<RingEntry[]> ring;
};

/// What a rank's operation waits for, in terms of peers' counters.
enum class Awaited : std::uint8_t {
  Turn,        // this rank's operations before `count` are posted
  Room,        // peers are done with operation `count`
  Post,        // peers have posted operation `count`
  Reduced,     // peers have summed their slice of operation `count`
  Done,        // peers are done with operation `count`
  Version,     // peers have published version `count` of `window`
  GatherTurn,  // this rank's window gathers before `count` have ended
  Readers,     // peers have ended `count` window gathers
};

struct Wait {
  Awaited what = Awaited::Turn;
  std::uint64_t count = 0;
  const WindowRecord* window = nullptr;
  int only = -1;  // one rank, or -1 for all
};

/// What the members of one communicator share. All of it is reached through atomics; memory is published by `posted`,
/// `reduced`, `done`, versions and `num_gathers_done` (store-release by the owner, load-acquire by peers).
class ThreadGroup {
 public:
  ThreadGroup(int size, collectives::CommOptions options, std::string name);

  int size() const { return static_cast<int>(ranks_.size()); }
  const std::string& name() const { return name_; }
  const collectives::CommOptions& options() const { return options_; }
  std::chrono::steady_clock::time_point now() const;

  RankState& rank(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const RankState& rank(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  RingEntry& entry(int of_rank, std::uint64_t sequence) const {
    return rank(of_rank).ring[static_cast<std::ptrdiff_t>(sequence % kRingEntries)];
  }
  Meetings& meetings() { return meetings_; }
  /// In a forked child nobody is there to be waited for.
  bool is_forked_copy() const { return mark_.is_forked_copy(); }

  /// Whether rank `peer` has got as far as `wait` says.
  bool has(const Wait& wait, int peer) const;
  /// Whether rank `peer` has left and will never get there.
  bool has_given_up(const Wait& wait, int peer) const;
  /// The ranks concerned that have not got there.
  std::vector<int> find_missing(const Wait& wait) const;
  /// "ranks 1 and 3 have not reached it".
  std::string describe_missing(const Wait& wait) const;

  const collectives::FailureLatch& failure() const { return failure_; }
  /// Makes every pending and later operation of every member fail, and wakes them. The first failure stays.
  void fail(ErrorCode code, std::string text, int rank);
  /// fail with Aborted, for this group and everything that has been or will be split off it.
  void abort(const std::string& text, int rank);
  /// Whether no thread of any member is in a loop over peers' memory. After a failure none enters one.
  bool is_quiet() const;

  /// Grows whenever a member gets further.
  std::uint64_t progress() const;

 private:
  collectives::CommOptions options_;
  std::string name_;
  std::vector<RankState> ranks_;
  ProcessMark mark_;
  collectives::FailureLatch failure_;
  Meetings meetings_;
};

}  // namespace shoal::threads
