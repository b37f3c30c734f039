#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace shoal::train {

struct ChildLimits {
  std::chrono::milliseconds deadline{10000};
  std::int64_t max_bytes = std::int64_t{1} << 28;
  std::stop_token stop;  // kills the child, from the thread that requests the stop
};

/// What a program prints to its standard output: `arguments[0]` is found on PATH and started without a shell, its
/// standard input empty, its standard error dropped, no signal blocked, and what a terminal or a closed pipe sends left
/// to do what it usually does. Throws InvalidArgument, with `advice`, where it cannot be started or ends with a
/// failure; Timeout where it has not ended by the deadline; Corrupt beyond `max_bytes`; Aborted where it was stopped.
/// The child has ended in any case.
std::vector<std::uint8_t> read_child_output(const std::vector<std::string>& arguments, const ChildLimits& limits,
                                            const std::string& advice);

}  // namespace shoal::train
