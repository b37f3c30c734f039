#include "shoal/collectives/threads/operation.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "shoal/collectives/threads/host_wait.h"
#include "shoal/runtime/device/drop_reason.h"

namespace shoal::threads {
namespace {

constexpr std::uint64_t kUnnumbered = std::numeric_limits<std::uint64_t>::max();

/// ": " and the error for which a stream drops operations; nothing where it does not, or has none.
std::string drop_reason_text() {
  const std::exception_ptr reason = DropReason::current();
  if (reason == nullptr) return {};
  try {
    std::rethrow_exception(reason);
  } catch (const std::exception& error) {
    return fmt::format(": {}", error.what());
  } catch (...) {
    return ": an exception of unknown type";
  }
}

}  // namespace

Operation::Operation(std::shared_ptr<Member> member, const Post& post)
    : member_(std::move(member)), name_(collectives::collective_name(post.fingerprint.kind)), post_(post) {}

Operation::Operation(std::shared_ptr<Member> member, const char* name) : member_(std::move(member)), name_(name) {
  post_.sequence = kUnnumbered;
}

Operation::~Operation() {
  if (member_ == nullptr || is_finished_) return;
  if (!has_failed()) {
    group().fail(ErrorCode::CommFailure,
                 fmt::format("rank {} of '{}' dropped {}: it was refused, or its stream had failed before{}", rank(),
                             group().name(), describe(), drop_reason_text()),
                 rank());
  }
  // Whoever drops it may give back the buffers that it had offered to its peers.
  const bool is_posted = post_.sequence != kUnnumbered && entry(rank()).posted.load() == post_.sequence + 1;
  if (is_posted) await_quiet_on_host(group());
}

bool Operation::try_post() {
  const std::uint64_t sequence = post_.sequence;
  if (!await({Awaited::Turn, sequence, nullptr, rank()})) return false;
  if (sequence >= kRingEntries && !await({Awaited::Room, sequence - kRingEntries})) return false;
  RingEntry& entry = group().entry(rank(), sequence);
  entry.send = post_.send;
  entry.recv = post_.recv;
  entry.fingerprint = post_.fingerprint;
  entry.receives_from = post_.receives_from;
  entry.posted.store(sequence + 1);
  // Store, then load, both sequentially consistent: of two ranks that post, at least one sees the other. The next
  // operation is posted only after this comparison, so that the first difference is the one that is found.
  for (int peer = 0; peer < size(); ++peer) has_post(peer);
  if (has_failed()) return false;
  member_->state().num_posted.store(sequence + 1, std::memory_order_release);
  member_->advance();
  return true;
}

bool Operation::has_post(int peer) {
  const RingEntry& entry = group().entry(peer, post_.sequence);
  if (entry.posted.load() != post_.sequence + 1) return false;
  if (collectives::is_same_operation(entry.fingerprint, post_.fingerprint)) return true;
  fail_mismatch(peer);
  return false;
}

bool Operation::has_all_posts() {
  wait_ = {Awaited::Post, post_.sequence};
  while (next_peer_ < size() && has_post(next_peer_)) ++next_peer_;
  if (next_peer_ < size()) return false;
  next_peer_ = 0;
  return true;
}

bool Operation::await(const Wait& wait) {
  wait_ = wait;
  if (wait.only >= 0) return group().has(wait, wait.only);
  while (next_peer_ < size() && group().has(wait, next_peer_)) ++next_peer_;
  if (next_peer_ < size()) return false;
  next_peer_ = 0;
  return true;
}

void Operation::mark_reduced() {
  group().entry(rank(), post_.sequence).reduced.store(post_.sequence + 1, std::memory_order_release);
  member_->advance();
}

void Operation::mark_done() {
  group().entry(rank(), post_.sequence).done.store(post_.sequence + 1, std::memory_order_release);
  member_->advance();
}

void Operation::fail(ErrorCode code, const std::string& what) {
  group().fail(code, fmt::format("rank {} of '{}' {}", rank(), group().name(), what), rank());
}

void Operation::fail_mismatch(int peer) {
  const int low = std::min(rank(), peer);
  const int high = std::max(rank(), peer);
  group().fail(
      ErrorCode::CommFailure,
      fmt::format("ranks of '{}' issued different operations, first in operation {}: rank {} issued {}, rank {} "
                  "issued {}; all ranks must issue the same operations in the same order",
                  group().name(), post_.sequence, low, collectives::describe(entry(low).fingerprint), high,
                  collectives::describe(entry(high).fingerprint)),
      rank());
}

Progress Operation::raise_when_quiet() {
  if (!group().is_quiet()) return Progress::Pending;
  is_finished_ = true;
  group().failure().raise(name_);
}

void Operation::check_stall(Workers& workers) {
  for (int peer = 0; peer < size(); ++peer) {
    if ((wait_.only >= 0 && wait_.only != peer) || !group().has_given_up(wait_, peer)) continue;
    fail(ErrorCode::CommFailure,
         fmt::format("cannot finish {}: rank {} has left (its communicator is destroyed)", describe(), peer));
    return;
  }
  const std::uint64_t progress = group().progress();
  const auto now = group().now();
  if (!is_watched_ || progress != seen_progress_) {
    is_watched_ = true;
    seen_progress_ = progress;
    moved_at_ = now;
    workers.note_progress();
    return;
  }
  if (now - moved_at_ < group().options().deadline) return;
  fail(ErrorCode::Timeout, fmt::format("timed out in {} after {} ms without progress: {}", describe(),
                                       group().options().deadline.count(), group().describe_missing(wait_)));
}

std::string Operation::describe() const {
  if (post_.sequence == kUnnumbered) return name_;
  return fmt::format("operation {}, {}", post_.sequence, collectives::describe(post_.fingerprint));
}

}  // namespace shoal::threads
