#include "shoal/runtime/device/host/live_threads.h"

#include <atomic>
#include <thread>

namespace shoal::host {
namespace {

std::atomic<int>& live_count() {
  static std::atomic<int> count{0};
  return count;
}

}  // namespace

LiveThreads::LiveThreads(int count) : count_(count) { live_count().fetch_add(count); }
LiveThreads::~LiveThreads() { live_count().fetch_sub(count_); }

bool LiveThreads::fit_the_cores() {
  static const int num_cores = static_cast<int>(std::thread::hardware_concurrency());
  return live_count().load(std::memory_order_relaxed) <= num_cores;
}

}  // namespace shoal::host
