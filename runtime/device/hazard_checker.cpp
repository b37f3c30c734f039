#include "shoal/runtime/device/hazard_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "shoal/runtime/base/error.h"

namespace shoal {
namespace {

std::uintptr_t first_address(const ByteRange& range) { return reinterpret_cast<std::uintptr_t>(range.begin); }
std::uintptr_t end_address(const ByteRange& range) {
  return first_address(range) + static_cast<std::uintptr_t>(range.bytes);
}

void join(HazardChecker::Clock& clock, const HazardChecker::Clock& other) {
  if (clock.size() < other.size()) clock.resize(other.size(), 0);
  for (std::size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

std::string scope_text(const char* scope) { return scope == nullptr ? "" : fmt::format(" ({})", scope); }

}  // namespace

int HazardChecker::add_stream(const std::string& name) {
  const auto free = std::find_if(streams_.begin(), streams_.end(), [](const StreamState& s) { return !s.is_live; });
  const auto stream = static_cast<std::size_t>(free - streams_.begin());
  if (free == streams_.end()) streams_.emplace_back();
  StreamState& state = streams_[stream];
  state.name = name;
  state.is_live = true;
  state.clock.resize(std::max(state.clock.size(), stream + 1), 0);
  join(state.clock, host_clock_);
  return static_cast<int>(stream);
}

void HazardChecker::retire_stream(int stream) {
  host_synchronize(stream);
  streams_[static_cast<std::size_t>(stream)].is_live = false;
}

void HazardChecker::run(int stream, const char* name, const char* scope, const ByteRanges& reads,
                        const ByteRanges& writes) {
  const auto s = static_cast<std::size_t>(stream);
  Access access{stream, streams_[s].clock[s] + 1, name, scope, {}};
  for (const ByteRange& range : reads) {
    access.range = range;
    check(access, false);
  }
  for (const ByteRange& range : writes) {
    access.range = range;
    check(access, true);
  }
  ++streams_[s].clock[s];
  for (const ByteRange& range : reads) {
    access.range = range;
    apply_read(access);
  }
  for (const ByteRange& range : writes) {
    access.range = range;
    apply_write(access);
  }
}

void HazardChecker::record(int stream, Clock& clock) const {
  const Clock& now = streams_[static_cast<std::size_t>(stream)].clock;
  clock.assign(now.begin(), now.end());
}

void HazardChecker::wait(int stream, const Clock& clock) {
  join(streams_[static_cast<std::size_t>(stream)].clock, clock);
}

void HazardChecker::host_synchronize(int stream) {
  join(host_clock_, streams_[static_cast<std::size_t>(stream)].clock);
  for (StreamState& state : streams_) join(state.clock, host_clock_);
}

void HazardChecker::forget(const void* begin, std::int64_t bytes) {
  if (bytes <= 0 || history_.empty()) return;
  const ByteRange range{begin, bytes};
  const auto first = split(first_address(range));
  const auto last = split(end_address(range));
  history_.erase(first, last);
}

bool HazardChecker::is_ordered(int stream, const Access& earlier) const {
  if (earlier.stream < 0) return true;
  const Clock& clock = streams_[static_cast<std::size_t>(stream)].clock;
  const auto t = static_cast<std::size_t>(earlier.stream);
  // Its own stream's operations always come before, the one being enqueued included.
  return earlier.stream == stream || (t < clock.size() && clock[t] >= earlier.sequence);
}

void HazardChecker::check(const Access& access, bool is_write) const {
  const std::uintptr_t begin = first_address(access.range);
  const std::uintptr_t end = end_address(access.range);
  auto at = history_.upper_bound(begin);
  if (at != history_.begin() && std::prev(at)->second.end > begin) --at;
  for (; at != history_.end() && at->first < end; ++at) {
    const History& history = at->second;
    if (!is_ordered(access.stream, history.writer)) report(access, is_write, history.writer, true);
    if (!is_write) continue;
    for (const Access& reader : history.readers) {
      if (!is_ordered(access.stream, reader)) report(access, true, reader, false);
    }
  }
}

void HazardChecker::apply_read(const Access& access) {
  const std::uintptr_t end = end_address(access.range);
  std::uintptr_t position = first_address(access.range);
  auto at = split(position);
  split(end);
  while (position < end) {
    if (at == history_.end() || at->first > position) {
      const std::uintptr_t gap_end = at == history_.end() ? end : std::min(end, at->first);
      at = history_.emplace_hint(at, position, History{gap_end, {}, {}});
    }
    auto& readers = at->second.readers;
    const auto same =
        std::find_if(readers.begin(), readers.end(), [&](const Access& r) { return r.stream == access.stream; });
    if (same != readers.end()) {
      *same = access;
    } else {
      readers.push_back(access);
    }
    position = at->second.end;
    ++at;
  }
}

void HazardChecker::apply_write(const Access& access) {
  const std::uintptr_t begin = first_address(access.range);
  const std::uintptr_t end = end_address(access.range);
  const auto same = history_.find(begin);
  if (same != history_.end() && same->second.end == end) {  // the usual case: a buffer used as a whole
    same->second.writer = access;
    same->second.readers.clear();
    return;
  }
  const auto first = split(begin);
  const auto last = split(end);
  history_.emplace_hint(history_.erase(first, last), begin, History{end, access, {}});
}

// Makes `at` a boundary; returns the first interval at or after it.
HazardChecker::Map::iterator HazardChecker::split(std::uintptr_t at) {
  auto next = history_.lower_bound(at);
  if (next == history_.begin()) return next;
  History& previous = std::prev(next)->second;
  if (previous.end <= at) return next;
  History rest = previous;
  previous.end = at;
  return history_.emplace_hint(next, at, std::move(rest));
}

void HazardChecker::report(const Access& later, bool later_writes, const Access& earlier, bool earlier_writes) const {
  auto describe = [&](const Access& access, bool writes) {
    return fmt::format("'{}'{} on stream '{}' {} [{}, +{})", access.name, scope_text(access.scope),
                       streams_[static_cast<std::size_t>(access.stream)].name, writes ? "writes" : "reads",
                       fmt::ptr(access.range.begin), access.range.bytes);
  };
  fail(ErrorCode::Internal,
       fmt::format("[hazard] {}, but {}, and nothing orders the two; record an event after the second and wait for it "
                   "before the first",
                   describe(later, later_writes), describe(earlier, earlier_writes)));
}

}  // namespace shoal
