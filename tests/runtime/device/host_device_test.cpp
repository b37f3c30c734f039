#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/device/progress_gate.h"
#include "shoal/tests/runtime/device/device_factories.h"
#include "shoal/tests/support/thread_limit.h"

// What the host device does beyond the conformance suite: deadlines, full queues, priorities, threads.

namespace shoal {
namespace {

using std::chrono::milliseconds;
using test::DeviceFactory;

class HostDevice : public ::testing::TestWithParam<DeviceFactory> {
 protected:
  static std::string timeout_of(Stream& stream, milliseconds deadline) {
    try {
      stream.synchronize(deadline);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Timeout);
      return error.what();
    }
    return "";
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, HostDevice, ::testing::ValuesIn(test::device_factories()),
                         [](const auto& info) { return info.param.name; });

void expect_contains(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* word : words) EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
}

TEST_P(HostDevice, Synchronize_WhenNothingMoves_NamesStreamOperationAndScope) {
  const auto device = GetParam().open({}, 3);
  const auto gather = device->make_stream(StreamRole::Gather, "gather_stream");
  const auto compute = device->make_stream(StreamRole::Compute, "compute_stream");
  const auto event = device->make_event("gathered");
  std::atomic<bool> gate{false};
  device->set_scope("block.3");
  gather->run_polled("all_gather", {}, {}, [&](Workers&) { return gate ? Progress::Done : Progress::Pending; });
  device->set_scope(nullptr);
  gather->record(*event);
  compute->wait(*event);
  compute->run("linear", {}, {}, [](Workers&) {});
  expect_contains(timeout_of(*gather, milliseconds(30)), {"gather_stream", "all_gather", "block.3", "host:3", "30 ms"});
  expect_contains(timeout_of(*compute, milliseconds(30)), {"compute_stream", "gather_stream", "all_gather", "block.3"});
  gate = true;
  compute->synchronize();
}

TEST_P(HostDevice, Enqueue_BeyondTheQueuesRoom_WaitsAndKeepsTheOrder) {
  constexpr int kTasks = 1500;
  const auto device = GetParam().open({}, 0);
  const auto gather = device->make_stream(StreamRole::Gather, "gather");
  const auto compute = device->make_stream(StreamRole::Compute, "compute");
  const auto event = device->make_event("event");
  std::vector<int> order;
  // Opens after more tries than there are operations before the queue is full.
  gather->run_polled("slow", {}, {},
                     [tries = 0](Workers&) mutable { return ++tries < 400 ? Progress::Pending : Progress::Done; });
  gather->record(*event);
  compute->wait(*event);
  for (int i = 0; i < kTasks; ++i) compute->run("append", {}, {}, [&order, i](Workers&) { order.push_back(i); });
  compute->synchronize();
  std::vector<int> expected(kTasks);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST_P(HostDevice, Enqueue_OnAFullQueueThatNeverMoves_TimesOut) {
  RuntimeOptions options;
  options.deadline = milliseconds(50);
  const auto device = GetParam().open(options, 0);
  const auto stream = device->make_stream(StreamRole::Gather, "stuck");
  std::atomic<bool> gate{false};
  stream->run_polled("never", {}, {}, [&](Workers&) { return gate ? Progress::Done : Progress::Pending; });
  std::string text;
  int num_ran = 0;
  int num_enqueued = 0;
  try {
    for (; num_enqueued < 100'000; ++num_enqueued) stream->run("next", {}, {}, [&](Workers&) { ++num_ran; });
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Timeout);
    text = error.what();
  }
  expect_contains(text, {"[next]", "stuck", "never"});
  gate = true;
  stream->synchronize();
  EXPECT_EQ(num_ran, num_enqueued);
}

TEST_P(HostDevice, Destructor_OfAStuckStream_DropsAndTellsWhoWaits) {
  RuntimeOptions options;
  options.deadline = milliseconds(50);
  const auto device = GetParam().open(options, 0);
  const auto waiter = device->make_stream(StreamRole::Compute, "waiter");
  const auto event = device->make_event("event");
  auto state = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = state;
  {
    const auto stuck = device->make_stream(StreamRole::Gather, "stuck");
    stuck->run_polled("never", {}, {}, [state = std::move(state)](Workers&) { return Progress::Pending; });
    stuck->record(*event);
    waiter->wait(*event);
  }
  EXPECT_TRUE(watch.expired());
  try {
    waiter->synchronize();
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Aborted);
    expect_contains(error.what(), {"stuck", "never"});
  }
}

TEST_P(HostDevice, EventOfADestroyedStream_IsComplete) {
  const auto device = GetParam().open({}, 0);
  const auto waiter = device->make_stream(StreamRole::Compute, "waiter");
  const auto event = device->make_event("event");
  int value = 0;
  for (int round = 1; round < 6; ++round) {
    {
      const auto brief = device->make_stream(StreamRole::Copy, "brief");
      brief->run("set", {}, {}, [&](Workers&) { value = round; });
      brief->record(*event);
    }
    EXPECT_TRUE(event->is_complete());
    waiter->wait(*event);
    int seen = 0;
    waiter->run("look", {}, {}, [&](Workers&) { seen = value; });
    waiter->synchronize();
    EXPECT_EQ(seen, round);
  }
}

TEST(HostDeviceInline, EveryEnqueue_GivesCommunicationATry) {
  const auto device = test::host_workers(1).open({}, 0);
  const auto gather = device->make_stream(StreamRole::Gather, "gather");
  const auto reduce = device->make_stream(StreamRole::Reduce, "reduce");
  const auto compute = device->make_stream(StreamRole::Compute, "compute");
  int gather_tries = 0;
  int reduce_tries = 0;
  gather->run_polled("gather", {}, {},
                     [&](Workers&) { return ++gather_tries < 30 ? Progress::Pending : Progress::Done; });
  reduce->run_polled("reduce", {}, {},
                     [&](Workers&) { return ++reduce_tries < 30 ? Progress::Pending : Progress::Done; });
  for (int i = 0; i < 29; ++i) compute->run("work", {}, {}, [](Workers&) {});
  EXPECT_EQ(gather_tries, 30);
  EXPECT_EQ(reduce_tries, 30);
}

TEST(HostDeviceInline, ReadyOperation_RunsOnTheRanksThreadAtOnce) {
  const auto device = test::host_workers(1).open({}, 0);
  const auto stream = device->make_stream(StreamRole::Compute, "compute");
  std::thread::id ran_on;
  stream->run("where", {}, {}, [&](Workers& workers) {
    ran_on = std::this_thread::get_id();
    EXPECT_EQ(workers.count(), 1);
  });
  EXPECT_EQ(ran_on, std::this_thread::get_id());
}

TEST(HostDeviceInline, Synchronize_CountsTheDeadlineFromTheLastProgress) {
  const auto device = test::host_workers(1).open({}, 0);
  const auto gather = device->make_stream(StreamRole::Gather, "gather");
  const auto start = std::chrono::steady_clock::now();
  // Each operation takes a tenth of the deadline, all of them together more than it.
  for (int i = 0; i < 12; ++i) {
    gather->run_polled("slow", {}, {}, [until = std::chrono::steady_clock::time_point()](Workers&) mutable {
      const auto now = std::chrono::steady_clock::now();
      if (until == std::chrono::steady_clock::time_point()) until = now + milliseconds(50);
      return now < until ? Progress::Pending : Progress::Done;
    });
  }
  gather->synchronize(milliseconds(500));
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(600));
}

// Each try takes longer than the deadline, but gets further and says so.
TEST(HostDeviceInline, Synchronize_CountsTheDeadlineFromProgressInsideAnOperation) {
  const auto device = test::host_workers(1).open({}, 0);
  const auto gather = device->make_stream(StreamRole::Gather, "gather");
  gather->run_polled("long", {}, {}, [tries = 0](Workers& workers) mutable {
    const auto until = std::chrono::steady_clock::now() + milliseconds(12);
    while (std::chrono::steady_clock::now() < until) {
    }
    workers.note_progress();
    return ++tries < 5 ? Progress::Pending : Progress::Done;
  });
  gather->synchronize(milliseconds(10));
}

TEST_P(HostDevice, Synchronize_WithTheLongestDeadlineThereIs_Waits) {
  const auto device = GetParam().open({}, 0);
  const auto gather = device->make_stream(StreamRole::Gather, "gather");
  gather->run_polled("slow", {}, {},
                     [tries = 0](Workers&) mutable { return ++tries < 20 ? Progress::Pending : Progress::Done; });
  gather->synchronize(milliseconds::max());
}

// The worker comes to the long part while it looks around before it sleeps: after a first try, in vain. It is busy then
// like anywhere else, and the rank's thread must not leave communication to it.
TEST(HostDeviceThreads, WorkerInATask_IsNotLeftTheCommunication) {
  for (int round = 0; round < 5; ++round) {
    const auto device = test::host_workers(2).open({}, 0);
    const auto gather = device->make_stream(StreamRole::Gather, "gather");
    const auto reduce = device->make_stream(StreamRole::Reduce, "reduce");
    const auto compute = device->make_stream(StreamRole::Compute, "compute");
    std::atomic<bool> has_started{false};
    std::atomic<bool> may_end{false};
    std::atomic<int> num_tries{0};
    gather->run_polled("long", {}, {}, [&, ranks = std::this_thread::get_id(), tries = 0](Workers&) mutable {
      if (std::this_thread::get_id() == ranks || ++tries < 2) return Progress::Pending;
      has_started = true;
      test::eventually([&] { return may_end.load(); });
      return Progress::Done;
    });
    EXPECT_TRUE(test::eventually([&] { return has_started.load(); }));
    reduce->run_polled("reduce", {}, {},
                       [&](Workers&) { return ++num_tries < 3 ? Progress::Pending : Progress::Done; });
    for (int i = 0; i < 3; ++i) compute->run("work", {}, {}, [](Workers&) {});
    EXPECT_GE(num_tries, 3);
    may_end = true;
    reduce->synchronize();
    gather->synchronize();
  }
}

// Two tasks that block until both run: only threads of their own can do that.
TEST(HostDeviceThreads, BlockingTasksOfTwoStreams_Overlap) {
  for (const DeviceFactory& factory : {test::host_workers(2), test::host_workers(3), test::host_thread_per_stream()}) {
    const auto device = factory.open({}, 0);
    const auto gather = device->make_stream(StreamRole::Gather, "gather");
    const auto compute = device->make_stream(StreamRole::Compute, "compute");
    std::atomic<int> num_arrived{0};
    std::atomic<bool> gate{false};
    std::atomic<int> num_met{0};
    auto meet = [&](Workers&) {
      ++num_arrived;
      if (test::eventually([&] { return num_arrived == 2; })) ++num_met;
    };
    // Both queues are held first, so that neither task is run while it is being enqueued.
    for (Stream* stream : {gather.get(), compute.get()}) {
      stream->run_polled("gate", {}, {}, [&](Workers&) { return gate ? Progress::Done : Progress::Pending; });
      stream->run("meet", {}, {}, meet);
    }
    gate = true;
    gather->synchronize();
    compute->synchronize();
    EXPECT_EQ(num_met, 2) << factory.name;
  }
}

TEST(HostDeviceThreads, ThreadPerStream_RunsNothingOnTheRanksThread) {
  const auto device = test::host_thread_per_stream().open({}, 0);
  const auto a = device->make_stream(StreamRole::Compute, "a");
  const auto b = device->make_stream(StreamRole::Compute, "b");
  std::thread::id ran_a;
  std::thread::id ran_b;
  a->run("where", {}, {}, [&](Workers&) { ran_a = std::this_thread::get_id(); });
  b->run("where", {}, {}, [&](Workers&) { ran_b = std::this_thread::get_id(); });
  a->synchronize();
  b->synchronize();
  EXPECT_NE(ran_a, std::this_thread::get_id());
  EXPECT_NE(ran_b, std::this_thread::get_id());
  EXPECT_NE(ran_a, ran_b);
}

// A task stuck in user code: everything that waits ends within the deadline, and memory stays for the thread to come
// back to.
TEST(HostDeviceThreads, TaskThatNeverReturns_IsLeftToItself) {
  static void* memory = nullptr;  // not given back by design; kept reachable for the leak checker
  std::atomic<bool> release{false};
  std::atomic<bool> has_ended{false};
  {
    RuntimeOptions options;
    options.deadline = milliseconds(40);
    const auto device = test::host_thread_per_stream().open(options, 0);
    Buffer buffer = device->allocate(64, MemoryTag::Inputs);
    memory = buffer.data();
    auto stream = device->make_stream(StreamRole::Compute, "compute");
    stream->run("user_code", {}, {}, [&release, &has_ended, data = buffer.data()](Workers&) {
      test::eventually([&] { return release.load(); });
      std::memset(data, 5, 64);
      has_ended = true;
    });
    EXPECT_THROW(stream->synchronize(), Error);
    stream.reset();
    buffer = Buffer();
  }
  EXPECT_FALSE(has_ended);
  release = true;
  EXPECT_TRUE(test::eventually([&] { return has_ended.load(); }));
  EXPECT_EQ(static_cast<unsigned char*>(memory)[63], 5);
}

std::ptrdiff_t num_threads() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return std::distance(begin(threads), end(threads));
}

TEST(HostDeviceThreads, OpeningAndClosing_LeavesNoThreadBehind) {
  const std::ptrdiff_t num_before = num_threads();
  for (int round = 0; round < 20; ++round) {
    for (const DeviceFactory& factory : test::device_factories()) {
      const auto device = factory.open({}, 0);
      const auto stream = device->make_stream(StreamRole::Gather, "stream");
      int value = 0;
      stream->run("set", {}, {}, [&](Workers&) { value = 1; });
      stream->synchronize();
      EXPECT_EQ(value, 1);
    }
  }
  // The system may list a thread for a moment after it was joined.
  EXPECT_TRUE(test::eventually([&] { return num_threads() == num_before; })) << num_threads();
}

// The limit on address space leaves room for one more stack, not for two.
TEST(HostDeviceThreads, ThreadThatCannotBeStarted_IsUnsupportedAndLeavesNoneBehind) {
  const std::ptrdiff_t num_before = num_threads();
  const auto expect_unsupported = [](const char* word, const std::function<void()>& call) {
    try {
      call();
      ADD_FAILURE() << "did not throw";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Unsupported);
      expect_contains(error.what(), {word});
    }
  };
  {
    const test::RoomForOneThread only_one_thread_fits;
    expect_unsupported("of 3 threads only 1 could be started", [] { test::host_workers(4).open({}, 0); });
  }
  EXPECT_TRUE(test::eventually([&] { return num_threads() == num_before; })) << num_threads();
  {
    const auto device = test::host_thread_per_stream().open({}, 0);
    const test::RoomForOneThread only_one_thread_fits;
    const auto first = device->make_stream(StreamRole::Compute, "first");
    expect_unsupported("'second'", [&] { device->make_stream(StreamRole::Compute, "second"); });
    int value = 0;
    first->run("set", {}, {}, [&](Workers&) { value = 1; });
    first->synchronize();
    EXPECT_EQ(value, 1);
  }
  EXPECT_TRUE(test::eventually([&] { return num_threads() == num_before; })) << num_threads();
}

// Ranks that answer each other through polled operations, as collectives do.
TEST_P(HostDevice, RanksInTwoThreads_AnswerEachOther) {
  constexpr int kRounds = 100;
  std::atomic<int> turn{0};
  auto rank_main = [&](int rank) {
    const auto device = GetParam().open({}, rank);
    const auto gather = device->make_stream(StreamRole::Gather, "gather");
    const auto compute = device->make_stream(StreamRole::Compute, "compute");
    const auto event = device->make_event("event");
    int num_computed = 0;
    for (int round = 0; round < kRounds; ++round) {
      gather->run_polled("take_turn", {}, {}, [&turn, want = 2 * round + rank](Workers&) {
        if (turn.load() < want) return Progress::Pending;
        turn.store(want + 1);
        process_gate().notify();
        return Progress::Done;
      });
      gather->record(*event);
      compute->wait(*event);
      compute->run("count", {}, {}, [&num_computed](Workers&) { ++num_computed; });
    }
    compute->synchronize();
    EXPECT_EQ(num_computed, kRounds);
  };
  std::thread other(rank_main, 1);
  rank_main(0);
  other.join();
  EXPECT_EQ(turn, 2 * kRounds);
}

}  // namespace
}  // namespace shoal
