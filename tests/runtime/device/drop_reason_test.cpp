#include "shoal/runtime/device/drop_reason.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "shoal/runtime/device/runtime.h"

namespace shoal {
namespace {

std::string current_text() {
  if (DropReason::current() == nullptr) return "";
  try {
    std::rethrow_exception(DropReason::current());
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::exception_ptr error_of(const char* text) { return std::make_exception_ptr(std::runtime_error(text)); }

TEST(DropReason, IsThatOfTheInnermostScope) {
  EXPECT_EQ(current_text(), "");
  {
    const DropReason outer(error_of("outer"));
    {
      const DropReason inner(error_of("inner"));
      EXPECT_EQ(current_text(), "inner");
    }
    EXPECT_EQ(current_text(), "outer");
  }
  EXPECT_EQ(current_text(), "");
}

/// Runs nothing; notes why it goes.
struct NotingTask {
  explicit NotingTask(std::string& note) : note(&note, [](std::string* at) { *at = "went: " + current_text(); }) {}
  Progress operator()(Workers& /*workers*/) const { return Progress::Done; }
  std::shared_ptr<std::string> note;
};

TEST(DropReason, TaskOfAFailedStream_LearnsTheStreamsError) {
  for (const HostExecution execution : {HostExecution::Workers, HostExecution::ThreadPerStream}) {
    std::string of_good;
    std::string of_dropped;
    {
      const auto device = Runtime({.execution = execution}).open_device(DeviceKind::Host);
      const auto stream = device->make_stream(StreamRole::Reduce, "reduce");
      stream->run_polled("good", {}, {}, NotingTask(of_good));
      stream->run("bad", {}, {}, [](Workers&) { throw std::runtime_error("the cause"); });
      stream->run_polled("dropped", {}, {}, NotingTask(of_dropped));
      EXPECT_THROW(stream->synchronize(), std::runtime_error);
    }
    EXPECT_EQ(of_good, "went: ");
    EXPECT_EQ(of_dropped, "went: the cause");
  }
}

}  // namespace
}  // namespace shoal
