#include "shoal/runtime/train/prefetcher.h"

#include <fmt/format.h>

#include <algorithm>

#include "shoal/runtime/base/error.h"

namespace shoal::train {
namespace {

constexpr std::chrono::milliseconds kNap{100};  // a wait looks again this often, whatever it is told

}  // namespace

Prefetcher::Prefetcher(int num_slots, std::int64_t num_items, Fill fill)
    : num_slots_(num_slots), num_items_(num_items), fill_(std::move(fill)) {
  if (num_slots < 1) {
    fail(ErrorCode::InvalidArgument, fmt::format("[prefetch] {} slots; at least 1 is needed", num_slots));
  }
  thread_ = std::thread([this] { run(); });
}

Prefetcher::~Prefetcher() {
  stops_.store(true, std::memory_order_release);
  gate_.notify();
  thread_.join();
}

void Prefetcher::run() {
  try {
    for (std::int64_t item = 0; item < num_items_; ++item) {
      while (item - num_returned_.load(std::memory_order_acquire) >= num_slots_) {
        const std::uint32_t ticket = gate_.ticket();
        if (stops_.load(std::memory_order_acquire)) return;
        if (item - num_returned_.load(std::memory_order_acquire) >= num_slots_) gate_.wait(ticket, kNap);
      }
      if (stops_.load(std::memory_order_acquire)) return;
      fill_(item, static_cast<int>(item % num_slots_));
      num_filled_.store(item + 1, std::memory_order_release);
      gate_.notify();
    }
  } catch (...) {
    error_ = std::current_exception();
    has_failed_.store(true, std::memory_order_release);
    gate_.notify();
  }
}

int Prefetcher::take(std::chrono::milliseconds deadline) {
  if (num_taken_ >= num_items_) {
    fail(ErrorCode::InvalidArgument, fmt::format("[prefetch] there are {} items, and all were taken", num_items_));
  }
  if (num_taken_ - num_returned_.load(std::memory_order_relaxed) >= num_slots_) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[prefetch] all {} slots are held; give one back before taking the next", num_slots_));
  }
  const auto end = std::chrono::steady_clock::now() + deadline;
  while (true) {
    const std::uint32_t ticket = gate_.ticket();
    if (num_filled_.load(std::memory_order_acquire) > num_taken_) break;
    if (has_failed_.load(std::memory_order_acquire)) std::rethrow_exception(error_);
    const auto now = std::chrono::steady_clock::now();
    if (now >= end) {
      fail(ErrorCode::Timeout,
           fmt::format("[prefetch] item {} was not ready after {} ms", num_taken_, deadline.count()));
    }
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(end - now);
    gate_.wait(ticket, std::min<std::chrono::microseconds>(left, kNap));
  }
  return static_cast<int>(num_taken_++ % num_slots_);
}

void Prefetcher::give_back() {
  const std::int64_t returned = num_returned_.load(std::memory_order_relaxed);
  if (returned >= num_taken_) fail(ErrorCode::InvalidArgument, "[prefetch] no slot is held");
  num_returned_.store(returned + 1, std::memory_order_release);
  gate_.notify();
}

}  // namespace shoal::train
