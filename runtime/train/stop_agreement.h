#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <stop_token>

namespace shoal::train {

/// Ends a loop that all ranks of this process run in step at the same iteration of every rank, without a collective.
///
/// Rank 0 looks at the stop token and decides for all; the others read its decision. They may be up to `max_lead`
/// iterations ahead of it (as far as a collective in each iteration lets them), so rank 0 lets that many more run: by
/// the time any rank asks about a later one, rank 0 has published what it decided.
class StopAgreement {
 public:
  StopAgreement(std::stop_token stop, int max_lead) : stop_(std::move(stop)), max_lead_(max_lead) {}

  /// Whether `rank` may run iteration `number` (0, 1, ... without gaps, the same on every rank).
  bool may_run(int rank, std::int64_t number) {
    if (rank == 0 && !is_decided_ && stop_.stop_requested()) {
      is_decided_ = true;
      end_.store(number + max_lead_ + 1, std::memory_order_release);
    }
    return number < end_.load(std::memory_order_acquire);
  }

 private:
  std::stop_token stop_;
  int max_lead_;
  bool is_decided_ = false;  // rank 0's
  std::atomic<std::int64_t> end_{std::numeric_limits<std::int64_t>::max()};
};

}  // namespace shoal::train
