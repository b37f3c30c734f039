#include "shoal/tests/support/rank_threads.h"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "shoal/runtime/base/error.h"

namespace shoal::test {
namespace {

struct Outcome {
  bool has_ended = false;
  std::exception_ptr error;
};

int distance_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& e) {
    return distance_from_cause(e.code());
  } catch (...) {
    return 0;
  }
}

[[noreturn]] void end_program(const std::vector<Outcome>& outcomes, std::chrono::seconds watchdog) {
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    if (!outcomes[rank].has_ended) {
      std::fprintf(stderr, "run_ranks: rank %zu has not ended after %lld s\n", rank,
                   static_cast<long long>(watchdog.count()));
    }
  }
  std::abort();
}

}  // namespace

void run_ranks(int world_size, const RuntimeOptions& options, const std::function<void(int rank, Device& device)>& body,
               std::chrono::seconds watchdog) {
  const Runtime runtime(options);
  std::vector<Outcome> outcomes(static_cast<std::size_t>(world_size));
  std::vector<std::exception_ptr> in_order;
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t num_ended = 0;

  const auto run_rank = [&](int rank) {
    std::exception_ptr error;
    try {
      const std::unique_ptr<Device> device = runtime.open_device(DeviceKind::Host, rank);
      body(rank, *device);
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    outcomes[static_cast<std::size_t>(rank)] = {true, error};
    if (error) in_order.push_back(error);
    ++num_ended;
    changed.notify_all();
  };

  std::vector<std::thread> threads;
  for (int rank = 0; rank < world_size; ++rank) threads.emplace_back(run_rank, rank);
  {
    std::unique_lock lock(mutex);
    if (!changed.wait_for(lock, watchdog, [&] { return num_ended == outcomes.size(); })) {
      end_program(outcomes, watchdog);
    }
  }
  for (std::thread& thread : threads) thread.join();

  std::exception_ptr first;
  for (const std::exception_ptr& error : in_order) {
    if (!first || distance_of(error) < distance_of(first)) first = error;
  }
  if (first) std::rethrow_exception(first);
}

void run_ranks(int world_size, const std::function<void(int rank, Device& device)>& body) {
  run_ranks(world_size, RuntimeOptions{}, body);
}

}  // namespace shoal::test
