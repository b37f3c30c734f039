#include "shoal/runtime/tools/output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "shoal/runtime/base/error.h"

namespace shoal::tools {
namespace {

TEST(Output, WritesAllOfIt) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  Output output(ends[1]);
  output.write("one ");
  output.write_line("two");
  ::close(ends[1]);
  std::string read(100, '\0');
  const ssize_t count = ::read(ends[0], read.data(), read.size());
  ::close(ends[0]);
  ASSERT_GE(count, 0);
  EXPECT_EQ(read.substr(0, static_cast<std::size_t>(count)), "one two\n");
  EXPECT_FALSE(output.is_terminal());
}

void expect_failed_write(int descriptor, const std::string& reason) {
  Output output(descriptor);
  try {
    output.write_line("lost");
    ADD_FAILURE() << "the write was not noticed to fail";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::DeviceFailure);
    EXPECT_EQ(error.operation(), "output");
    EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
  }
}

TEST(Output, FullDisk_IsAnError) {
  const int full = ::open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  expect_failed_write(full, "No space left");
  ::close(full);
}

TEST(Output, ClosedPipe_IsAnError) {
  std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  expect_failed_write(ends[1], "Broken pipe");
  ::close(ends[1]);
}

}  // namespace
}  // namespace shoal::tools
