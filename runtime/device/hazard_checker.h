#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "shoal/runtime/device/byte_range.h"

namespace shoal {

/// Finds two operations of one device that touch the same bytes, at least one of them writing, without a happens-before
/// edge. Vector clocks advance when operations are enqueued, so a missing wait is found whether or not the timing shows
/// it. Plain bookkeeping, used from the rank's thread in enqueue order. (Lamport 1978; epochs as in FastTrack, PLDI
/// 2009.)
class HazardChecker {
 public:
  /// Component t counts the operations of stream t that are known to come before.
  using Clock = std::vector<std::uint64_t>;

  /// The id of a new stream. A retired id may come back: everything of its earlier life happened before.
  int add_stream(const std::string& name);
  /// The stream is drained and gone: the host, hence everything enqueued later, comes after it.
  void retire_stream(int stream);

  /// Enqueues an operation. Throws Internal, naming both operations, streams, scopes and ranges, where it conflicts
  /// with an earlier one that is not ordered before it; the operation then leaves no mark. `name` and `scope` are kept.
  void run(int stream, const char* name, const char* scope, const ByteRanges& reads, const ByteRanges& writes);

  /// What happened before this point of the stream, for an event.
  void record(int stream, Clock& clock) const;
  /// Later operations of the stream come after `clock`.
  void wait(int stream, const Clock& clock);
  /// The host has seen the end of the stream: later operations of every stream come after it.
  void host_synchronize(int stream);

  /// The bytes are given back or handed out anew: what was done with them before says nothing about their next use.
  void forget(const void* begin, std::int64_t bytes);

  /// Ranges with a history, for tests.
  std::size_t num_intervals() const { return history_.size(); }

 private:
  struct Access {
    int stream = -1;  // -1: none
    std::uint64_t sequence = 0;
    const char* name = nullptr;
    const char* scope = nullptr;
    ByteRange range;
  };
  struct History {
    std::uintptr_t end = 0;
    Access writer;
    std::vector<Access> readers;  // since that write, the latest of each stream
  };
  struct StreamState {
    std::string name;
    Clock clock;
    bool is_live = true;
  };
  using Map = std::map<std::uintptr_t, History>;  // by first address, never overlapping

  bool is_ordered(int stream, const Access& earlier) const;
  void check(const Access& access, bool is_write) const;
  void apply_read(const Access& access);
  void apply_write(const Access& access);
  Map::iterator split(std::uintptr_t at);
  [[noreturn]] void report(const Access& later, bool later_writes, const Access& earlier, bool earlier_writes) const;

  std::vector<StreamState> streams_;
  Clock host_clock_;
  Map history_;
};

}  // namespace shoal
