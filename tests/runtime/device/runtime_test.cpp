#include "shoal/runtime/device/runtime.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "shoal/runtime/base/error.h"
#include "shoal/tests/support/forked_child.h"

namespace shoal {
namespace {

ErrorCode code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::Internal;
}

TEST(Runtime, OptionsThatCannotWork_AreInvalidArgument) {
  RuntimeOptions no_threads;
  no_threads.threads_per_rank = 0;
  RuntimeOptions negative_limit;
  negative_limit.memory_limit_bytes = -1;
  RuntimeOptions no_deadline;
  no_deadline.deadline = std::chrono::milliseconds(0);
  RuntimeOptions endless;
  endless.deadline = std::chrono::milliseconds::max();
  for (const RuntimeOptions& options : {no_threads, negative_limit, no_deadline, endless}) {
    EXPECT_EQ(code_of([&] { Runtime runtime(options); }), ErrorCode::InvalidArgument);
  }
}

TEST(Runtime, CudaWithoutTheBackend_SaysHowToGetIt) {
  try {
    Runtime().open_device(DeviceKind::Cuda);
    GTEST_SKIP() << "this build has the CUDA backend";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Unsupported);
    EXPECT_NE(std::string(error.what()).find("SHOAL_CUDA"), std::string::npos);
  }
}

TEST(Runtime, Log_GoesToTheSinkOneCallAtATime) {
  std::vector<std::string> lines;  // plain: the runtime lets one call in at a time
  RuntimeOptions options;
  options.log = [&](LogLevel level, std::string_view text) {
    lines.push_back((level == LogLevel::Warning ? "warning: " : "info: ") + std::string(text));
  };
  const Runtime runtime(options);
  runtime.log(LogLevel::Warning, "first");
  EXPECT_EQ(lines, std::vector<std::string>{"warning: first"});
  auto talk = [&] {
    for (int i = 0; i < 500; ++i) runtime.log(LogLevel::Info, "more");
  };
  std::thread other(talk);
  talk();
  other.join();
  EXPECT_EQ(lines.size(), 1001U);
  Runtime().log(LogLevel::Info, "without a sink words are dropped");
}

TEST(Runtime, StopToken_IsHeard) {
  std::stop_source source;
  RuntimeOptions options;
  options.stop = source.get_token();
  const Runtime runtime(options);
  EXPECT_FALSE(runtime.stop_requested());
  source.request_stop();
  EXPECT_TRUE(runtime.stop_requested());
  EXPECT_FALSE(Runtime().stop_requested());
}

TEST(Runtime, SeveralCoexist) {
  const Runtime first;
  const Runtime second;
  const auto a = first.open_device(DeviceKind::Host, 0);
  const auto b = second.open_device(DeviceKind::Host, 0);
  int num_ran = 0;
  const auto stream_a = a->make_stream(StreamRole::Compute, "a");
  const auto stream_b = b->make_stream(StreamRole::Compute, "b");
  stream_a->run("count", {}, {}, [&](Workers&) { ++num_ran; });
  stream_b->run("count", {}, {}, [&](Workers&) { ++num_ran; });
  stream_a->synchronize();
  stream_b->synchronize();
  EXPECT_EQ(num_ran, 2);
}

// Every call, on a device whose threads the child does not have.
TEST(Runtime, UseInAForkedChild_IsInternalByName) {
  for (const int num_threads : {1, 2}) {
    RuntimeOptions options;
    options.threads_per_rank = num_threads;
    const Runtime runtime(options);
    auto device = runtime.open_device(DeviceKind::Host);
    auto stream = device->make_stream(StreamRole::Compute, "parents");
    const auto event = device->make_event("parents");
    stream->record(*event);
    char bytes[16] = {};
    const std::vector<std::pair<const char*, std::function<void()>>> calls = {
        {"[open_device]", [&] { runtime.open_device(DeviceKind::Host); }},
        {"[make_stream]", [&] { device->make_stream(StreamRole::Gather, "childs"); }},
        {"[make_event]", [&] { device->make_event("childs"); }},
        {"[allocate]", [&] { device->allocate(64, MemoryTag::Inputs); }},
        {"[reserve]", [&] { device->reserve(64); }},
        {"[work]", [&] { stream->run("work", {}, {}, [](Workers&) {}); }},
        {"[polled]", [&] { stream->run_polled("polled", {}, {}, [](Workers&) { return Progress::Done; }); }},
        {"[copy]", [&] { stream->copy(bytes, bytes + 8, 8); }},
        {"[fill]", [&] { stream->fill(bytes, 0, 8); }},
        {"[record]", [&] { stream->record(*event); }},
        {"[wait]", [&] { stream->wait(*event); }},
        {"[synchronize]", [&] { stream->synchronize(); }},
    };
    for (const auto& [word, call] : calls) {
      EXPECT_EQ(test::status_of_child([&, word = word, call = call] { return test::zero_if_refused(call, word); }), 0)
          << word;
    }
    // The child's copies can go without waiting for threads that it does not have.
    EXPECT_EQ(test::status_of_child([&] {
                stream.reset();
                device.reset();
                return 0;
              }),
              0);
    stream->synchronize();
  }
}

}  // namespace
}  // namespace shoal
