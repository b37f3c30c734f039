#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace shoal::train {

/// What a program prints to its standard output: `arguments[0]` is found on PATH and started without a shell, its
/// standard input empty and its standard error dropped. Throws InvalidArgument, with `advice`, where it cannot be
/// started or ends with a failure; Timeout where it has not ended by the deadline; Corrupt beyond `max_bytes`. The
/// child has ended in any case.
struct ChildLimits {
  std::chrono::milliseconds deadline{10000};
  std::int64_t max_bytes = std::int64_t{1} << 28;
};
std::vector<std::uint8_t> read_child_output(const std::vector<std::string>& arguments, const ChildLimits& limits,
                                            const std::string& advice);

}  // namespace shoal::train
