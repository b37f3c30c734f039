#include "shoal/runtime/train/launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>

#include "shoal/collectives/factory.h"
#include "shoal/runtime/base/error.h"
#include "shoal/runtime/base/nearest_name.h"

namespace shoal::train {
namespace {

// What the ranks' threads and the launching thread share; kept alive by whoever is the last.
struct SharedLaunch {
  Runtime runtime;
  LaunchOptions options;
  RankBody body;
  std::vector<std::unique_ptr<collectives::Communicator>> worlds;

  std::mutex mutex;
  std::condition_variable has_changed;
  int num_ended = 0;
  std::vector<char> has_ended;
  std::vector<Error> failures;  // in the order in which they happened
};

Error describe_exception(int rank) {
  try {
    throw;
  } catch (const Error& error) {
    return Error(error.code(), error.what(), error.rank() >= 0 ? error.rank() : rank);
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::OutOfMemory, "[rank_body] the host has no memory left", rank);
  } catch (const std::exception& error) {
    return Error(ErrorCode::Internal, fmt::format("[rank_body] {}", error.what()), rank);
  } catch (...) {
    return Error(ErrorCode::Internal, "[rank_body] something was thrown that is no std::exception", rank);
  }
}

void add_failure(SharedLaunch& shared, const Error& failure) {
  const std::lock_guard lock(shared.mutex);
  shared.failures.push_back(failure);
  shared.has_changed.notify_all();
}

// Keeps it, then lets the others know.
void report_failure(SharedLaunch& shared, int rank, const Error& failure) {
  add_failure(shared, failure);
  try {
    shared.worlds[static_cast<std::size_t>(rank)]->abort(fmt::format("rank {} failed: {}", rank, failure.what()));
  } catch (...) {
    add_failure(shared, describe_exception(rank));
  }
}

void run_body(SharedLaunch& shared, int rank) {
  collectives::Communicator& world = *shared.worlds[static_cast<std::size_t>(rank)];
  const std::unique_ptr<Device> device = shared.runtime.open_device(shared.options.device, rank);
  RankContext context{rank,           shared.options.num_ranks,
                      *device,        world,
                      shared.runtime, [&shared, rank] { report_failure(shared, rank, describe_exception(rank)); }};
  shared.body(context);
}

void end_rank(SharedLaunch& shared, int rank) {
  const std::lock_guard lock(shared.mutex);
  shared.has_ended[static_cast<std::size_t>(rank)] = 1;
  ++shared.num_ended;
  shared.has_changed.notify_all();
}

void run_rank(const std::shared_ptr<SharedLaunch>& shared, int rank) {
  std::optional<Error> failure;
  try {
    run_body(*shared, rank);
  } catch (...) {
    failure = describe_exception(rank);
  }
  if (failure.has_value()) report_failure(*shared, rank, *failure);
  end_rank(*shared, rank);
}

// The first of the failures that are nearest to the cause.
std::optional<Error> original_failure(const std::vector<Error>& failures) {
  if (failures.empty()) return std::nullopt;
  return *std::min_element(failures.begin(), failures.end(), [](const Error& a, const Error& b) {
    return distance_from_cause(a.code()) < distance_from_cause(b.code());
  });
}

// Where the system has no thread for a rank, that is this rank's failure, and the later ones don't start.
std::vector<std::thread> start_ranks(const std::shared_ptr<SharedLaunch>& shared) {
  const int num_ranks = shared->options.num_ranks;
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(num_ranks));
  try {
    for (int rank = 0; rank < num_ranks; ++rank) {
      threads.emplace_back([shared, rank] { run_rank(shared, rank); });
    }
  } catch (const std::system_error& error) {
    const int failed = static_cast<int>(threads.size());
    report_failure(
        *shared, failed,
        Error(ErrorCode::Unsupported,
              fmt::format("[launch_ranks] the thread of rank {} of {} could not be started ({}); fewer ranks, or a "
                          "higher limit on threads or memory, would work",
                          failed, num_ranks, error.what()),
              failed));
    for (int rank = failed; rank < num_ranks; ++rank) end_rank(*shared, rank);
  }
  return threads;
}

Error describe_stuck(const SharedLaunch& shared) {
  std::vector<int> stuck;
  for (int rank = 0; rank < shared.options.num_ranks; ++rank) {
    if (shared.has_ended[static_cast<std::size_t>(rank)] == 0) stuck.push_back(rank);
  }
  const std::optional<Error> failure = original_failure(shared.failures);
  const std::string why = failure.has_value() ? fmt::format("rank {} failed with: {}", failure->rank(), failure->what())
                                              : std::string("the first rank had ended");
  return Error(ErrorCode::Timeout,
               fmt::format("[launch_ranks] rank {} is stuck: it did not end within {} ms after {}",
                           fmt::join(stuck, ", "), shared.runtime.options().deadline.count(), why),
               stuck.front());
}

// Waits for the first rank that ends or fails without a limit of its own (each of its operations has one), from then on
// with one. Returns the Timeout where some rank is stuck.
std::optional<Error> wait_for_ranks(SharedLaunch& shared) {
  const auto num_ranks = shared.options.num_ranks;
  std::unique_lock lock(shared.mutex);
  shared.has_changed.wait(lock, [&] { return shared.num_ended > 0 || !shared.failures.empty(); });
  const bool all_ended = shared.has_changed.wait_for(lock, shared.runtime.options().deadline,
                                                     [&] { return shared.num_ended == num_ranks; });
  if (all_ended) return std::nullopt;
  return describe_stuck(shared);
}

}  // namespace

std::vector<std::unique_ptr<collectives::Communicator>> make_communicators(const std::string& backend, int num_ranks,
                                                                           std::chrono::milliseconds deadline) {
  if (num_ranks < 1) {
    fail(ErrorCode::InvalidArgument, fmt::format("[launch_ranks] {} ranks; at least 1 is needed", num_ranks));
  }
  collectives::CommOptions options;
  options.deadline = deadline;
  if (backend == "threads") return collectives::make_threads(num_ranks, options);
  if (backend != "single") {
    constexpr std::array<std::string_view, 2> kKnown = {"single", "threads"};
    fail(ErrorCode::InvalidArgument, fmt::format("[launch_ranks] backend {}", describe_unknown(backend, kKnown)));
  }
  if (num_ranks != 1) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[launch_ranks] backend single serves 1 rank, not {}; use threads", num_ranks));
  }
  std::vector<std::unique_ptr<collectives::Communicator>> worlds;
  worlds.push_back(collectives::make_single());
  return worlds;
}

void abort_after_exception(collectives::Communicator& world) {
  const Error failure = describe_exception(world.rank());
  try {
    world.abort(failure.what());
  } catch (const Error&) {
    // A peer is stuck; what failed first says more, and the peer's own deadline tells of it.
  }
}

void launch_ranks(const Runtime& runtime, const LaunchOptions& options, RankBody body) {
  auto worlds = make_communicators(options.backend, options.num_ranks, runtime.options().deadline);
  const auto shared = std::make_shared<SharedLaunch>(runtime, options, std::move(body), std::move(worlds));
  shared->has_ended.resize(static_cast<std::size_t>(options.num_ranks));

  std::vector<std::thread> threads = start_ranks(shared);
  const std::optional<Error> stuck = wait_for_ranks(*shared);
  for (std::size_t rank = 0; rank < threads.size(); ++rank) {
    const std::unique_lock lock(shared->mutex);
    if (shared->has_ended[rank] == 0) threads[rank].detach();
  }
  for (std::thread& thread : threads) {
    if (thread.joinable()) thread.join();
  }
  if (stuck.has_value()) throw Error(*stuck);
  const std::optional<Error> failure = original_failure(shared->failures);
  if (failure.has_value()) throw Error(*failure);
}

}  // namespace shoal::train
