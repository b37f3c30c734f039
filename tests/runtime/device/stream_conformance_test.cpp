#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "shoal/runtime/base/error.h"
#include "shoal/tests/runtime/device/device_factories.h"

// What every device that runs operations promises about streams and events: one test per row of the table in
// runtime/device/README.md.

namespace shoal {
namespace {

using test::DeviceFactory;

class StreamConformance : public ::testing::TestWithParam<DeviceFactory> {
 protected:
  std::unique_ptr<Stream> compute(const char* name = "compute") {
    return device_->make_stream(StreamRole::Compute, name);
  }
  std::unique_ptr<Stream> gather(const char* name = "gather") { return device_->make_stream(StreamRole::Gather, name); }

  static std::string error_of(Stream& stream) {
    try {
      stream.synchronize();
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  }

  // Holds `stream` until `gate` opens.
  static void enqueue_gate(Stream& stream, const std::atomic<bool>& gate) {
    stream.run_polled("gate", {}, {}, [&gate](Workers&) { return gate.load() ? Progress::Done : Progress::Pending; });
  }

  std::unique_ptr<Device> device_ = GetParam().open({}, 0);
};

INSTANTIATE_TEST_SUITE_P(Devices, StreamConformance, ::testing::ValuesIn(test::device_factories()),
                         [](const auto& info) { return info.param.name; });

TEST_P(StreamConformance, RunsInOrder) {
  constexpr int kTasks = 2000;
  for (const StreamRole role : {StreamRole::Compute, StreamRole::Gather}) {
    const auto stream = device_->make_stream(role, "ordered");
    std::vector<int> order;
    for (int i = 0; i < kTasks; ++i) stream->run("append", {}, {}, [&order, i](Workers&) { order.push_back(i); });
    stream->synchronize();
    std::vector<int> expected(kTasks);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(order, expected);
  }
}

TEST_P(StreamConformance, EventOrdersTwoStreams) {
  constexpr int kRounds = 300;
  const auto producer = gather();
  const auto consumer = compute();
  const auto written = device_->make_event("written");
  const auto read = device_->make_event("read");
  int value = -1;  // no atomic: the events are all that orders its uses
  std::vector<int> seen;
  for (int i = 0; i < kRounds; ++i) {
    if (i > 0) producer->wait(*read);
    producer->run("write", {}, {}, [&value, i](Workers&) { value = i; });
    producer->record(*written);
    consumer->wait(*written);
    consumer->run("read", {}, {}, [&value, &seen](Workers&) { seen.push_back(value); });
    consumer->record(*read);
  }
  consumer->synchronize();
  std::vector<int> expected(kRounds);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(seen, expected);
}

TEST_P(StreamConformance, WaitBindsToRecordAtCallTime) {
  const auto source = gather("source");
  const auto early = compute("early");
  const auto middle = compute("middle");
  const auto late = compute("late");
  const auto event = device_->make_event("event");
  std::atomic<bool> first_gate{false};
  std::atomic<bool> gate{false};
  std::atomic<bool> late_ran{false};
  enqueue_gate(*source, first_gate);
  source->record(*event);
  early->wait(*event);
  enqueue_gate(*source, gate);
  middle->wait(*event);
  source->record(*event);
  late->wait(*event);
  late->run("late", {}, {}, [&](Workers&) { late_ran = true; });
  first_gate = true;
  // These wait for the first record, whatever was enqueued or recorded on the source since.
  early->synchronize();
  middle->synchronize();
  EXPECT_FALSE(event->is_complete());
  EXPECT_FALSE(late_ran);
  gate = true;
  late->synchronize();
  EXPECT_TRUE(late_ran);
  EXPECT_TRUE(event->is_complete());
}

TEST_P(StreamConformance, EventRecordedOnAnotherStream_MovesThere) {
  const auto held = gather("held");
  const auto open = compute("open");
  const auto event = device_->make_event("event");
  const auto first_waiter = compute("first_waiter");
  std::atomic<bool> gate{false};
  std::atomic<bool> ran{false};
  enqueue_gate(*held, gate);
  held->record(*event);
  first_waiter->wait(*event);
  first_waiter->run("after_gate", {}, {}, [&](Workers&) { ran = gate.load(); });
  open->record(*event);
  EXPECT_TRUE(test::eventually([&] { return event->is_complete(); }));
  open->synchronize();
  gate = true;
  first_waiter->synchronize();
  EXPECT_TRUE(ran);
}

TEST_P(StreamConformance, WaitBeforeRecordIsError) {
  const auto stream = compute();
  const auto event = device_->make_event("unborn");
  EXPECT_FALSE(event->is_complete());
  try {
    stream->wait(*event);
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    EXPECT_NE(std::string(error.what()).find("unborn"), std::string::npos);
  }
  EXPECT_EQ(error_of(*stream), "");  // a refused call does not fail the stream
}

TEST_P(StreamConformance, FirstErrorWins) {
  const auto stream = compute();
  bool later_ran = false;
  stream->run("first", {}, {}, [](Workers&) { throw std::runtime_error("the first"); });
  stream->run("second", {}, {}, [](Workers&) { throw std::runtime_error("the second"); });
  stream->run("later", {}, {}, [&](Workers&) { later_ran = true; });
  stream->run_polled("polled", {}, {}, [](Workers&) { return Progress::Pending; });
  EXPECT_EQ(error_of(*stream), "the first");
  EXPECT_FALSE(later_ran);
  EXPECT_NE(stream->error(), nullptr);
  EXPECT_EQ(error_of(*stream), "the first");
}

TEST_P(StreamConformance, PolledTaskThatThrows_FailsItsStream) {
  const auto stream = gather();
  int tries = 0;
  stream->run_polled("polled", {}, {}, [&](Workers&) {
    if (++tries == 3) throw Error(ErrorCode::CommFailure, "[polled] the third try");
    return Progress::Pending;
  });
  EXPECT_EQ(error_of(*stream), "[polled] the third try");
  EXPECT_EQ(tries, 3);
}

TEST_P(StreamConformance, PoisonPropagates) {
  const auto failing = gather();
  const auto second = compute("second");
  const auto third = compute("third");
  const auto clean = compute("clean");
  const auto before = device_->make_event("before");
  const auto after = device_->make_event("after");
  const auto onward = device_->make_event("onward");
  std::atomic<int> num_ran{0};
  failing->record(*before);
  failing->run("fails", {}, {}, [](Workers&) { throw std::runtime_error("the origin"); });
  failing->record(*after);
  clean->wait(*before);
  clean->run("runs", {}, {}, [&](Workers&) { ++num_ran; });
  second->wait(*after);
  second->run("dropped", {}, {}, [&](Workers&) { num_ran += 100; });
  second->record(*onward);
  third->wait(*onward);
  third->run("dropped", {}, {}, [&](Workers&) { num_ran += 100; });
  EXPECT_EQ(error_of(*third), "the origin");
  EXPECT_EQ(error_of(*second), "the origin");
  EXPECT_EQ(error_of(*clean), "");
  EXPECT_EQ(num_ran, 1);
}

TEST_P(StreamConformance, DestructorDrains) {
  std::atomic<int> num_ran{0};
  {
    const auto held = gather();
    const auto stream = compute();
    const auto event = device_->make_event("event");
    int tries = 0;
    held->run_polled("slow", {}, {},
                     [tries](Workers&) mutable { return ++tries < 50 ? Progress::Pending : Progress::Done; });
    held->record(*event);
    stream->wait(*event);
    for (int i = 0; i < 20; ++i) stream->run("count", {}, {}, [&](Workers&) { ++num_ran; });
  }
  EXPECT_EQ(num_ran, 20);
}

TEST_P(StreamConformance, TaskIsDestroyedAfterRun) {
  for (const bool is_blocked_first : {false, true}) {
    const auto stream = gather();
    std::atomic<bool> gate{!is_blocked_first};
    enqueue_gate(*stream, gate);
    auto state = std::make_shared<int>(1);
    const std::weak_ptr<int> watch = state;
    bool was_alive = false;
    bool is_gone = false;
    stream->run("holds", {}, {}, [&was_alive, state = std::move(state)](Workers&) { was_alive = *state == 1; });
    stream->run("looks", {}, {}, [&is_gone, watch](Workers&) { is_gone = watch.expired(); });
    gate = true;
    stream->synchronize();
    EXPECT_TRUE(was_alive);
    EXPECT_TRUE(is_gone);
  }
}

TEST_P(StreamConformance, DroppedTask_IsDestroyedToo) {
  const auto stream = compute();
  auto state = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = state;
  stream->run("fails", {}, {}, [](Workers&) { throw std::runtime_error("x"); });
  stream->run("dropped", {}, {}, [state = std::move(state)](Workers&) {});
  EXPECT_EQ(error_of(*stream), "x");
  EXPECT_TRUE(watch.expired());
}

TEST_P(StreamConformance, ForeignEventIsError) {
  const auto other = GetParam().open({}, 1);
  const auto foreign_stream = other->make_stream(StreamRole::Compute, "foreign_stream");
  const auto foreign = other->make_event("foreign");
  const auto stream = compute();
  auto code_of = [](auto&& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::Internal;
  };
  EXPECT_EQ(code_of([&] { stream->record(*foreign); }), ErrorCode::InvalidArgument);
  foreign_stream->record(*foreign);
  EXPECT_EQ(code_of([&] { stream->wait(*foreign); }), ErrorCode::InvalidArgument);
  EXPECT_EQ(error_of(*stream), "");
}

TEST_P(StreamConformance, UnorderedStreamsOverlap) {
  const auto a = gather();
  const auto b = compute();
  std::atomic<int> num_arrived{0};
  auto meet = [&num_arrived, has_arrived = false](Workers&) mutable {
    if (!has_arrived) ++num_arrived;
    has_arrived = true;
    return num_arrived == 2 ? Progress::Done : Progress::Pending;
  };
  a->run_polled("meet", {}, {}, meet);
  b->run_polled("meet", {}, {}, meet);
  a->synchronize();
  b->synchronize();
  EXPECT_EQ(num_arrived, 2);
}

TEST_P(StreamConformance, CopyAndFill_MoveExactlyTheirBytes) {
  const auto stream = device_->make_stream(StreamRole::Copy, "copy");
  for (const std::int64_t bytes : {0, 1, 3, 64, 1000, 300'000, 1'000'003}) {
    std::vector<unsigned char> from(static_cast<std::size_t>(bytes) + 2, 7);
    std::vector<unsigned char> to(static_cast<std::size_t>(bytes) + 2, 1);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i * 31 + 5);
    const Buffer device_from = device_->allocate(bytes + 2, MemoryTag::Inputs);
    const Buffer device_to = device_->allocate(bytes + 2, MemoryTag::Inputs);
    auto* src = static_cast<unsigned char*>(device_from.data());
    auto* dst = static_cast<unsigned char*>(device_to.data());
    stream->copy(src, from.data(), bytes + 2);
    stream->fill(dst, 9, bytes + 2);
    stream->copy(dst + 1, src + 1, bytes);
    stream->copy(to.data(), dst, bytes + 2);
    stream->synchronize();
    EXPECT_EQ(to.front(), 9);
    EXPECT_EQ(to.back(), 9);
    EXPECT_TRUE(std::equal(to.begin() + 1, to.end() - 1, from.begin() + 1)) << bytes;
  }
}

TEST_P(StreamConformance, CopyThatOverlaps_IsInvalidArgument) {
  const auto stream = compute();
  const Buffer buffer = device_->allocate(256, MemoryTag::Inputs);
  auto* data = static_cast<char*>(buffer.data());
  EXPECT_THROW(stream->copy(data, data + 10, 11), Error);
  EXPECT_THROW(stream->copy(data + 10, data, 11), Error);
  EXPECT_THROW(stream->copy(data, data + 10, -1), Error);
  EXPECT_THROW(stream->fill(nullptr, 0, 1), Error);
  stream->fill(data, 0, 256);
  stream->copy(data, data + 10, 10);
  stream->synchronize();
}

}  // namespace
}  // namespace shoal
