#include "shoal/runtime/device/memory_ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "shoal/runtime/base/error.h"

namespace shoal {
namespace {

constexpr std::array<std::string_view, kNumMemoryTags> kTagNames = {
    "parameters",           "gradients",           "optimizer_state", "buffers",  "inputs", "control",
    "unsharded_parameters", "unsharded_gradients", "activations",     "workspace"};

}  // namespace

std::string_view memory_tag_name(MemoryTag tag) { return kTagNames[static_cast<std::size_t>(tag)]; }

void MemoryLedger::acquire(MemoryTag tag, std::int64_t bytes) {
  const auto i = static_cast<std::size_t>(tag);
  live_.by_tag[i] += bytes;
  live_.total += bytes;
  peak_.by_tag[i] = std::max(peak_.by_tag[i], live_.by_tag[i]);
  peak_.total = std::max(peak_.total, live_.total);
}

void MemoryLedger::release(MemoryTag tag, std::int64_t bytes) {
  const auto i = static_cast<std::size_t>(tag);
  if (bytes > live_.by_tag[i]) {
    fail(ErrorCode::Internal, fmt::format("[memory_ledger] {} bytes of {} are given back, but only {} are held", bytes,
                                          memory_tag_name(tag), live_.by_tag[i]));
  }
  live_.by_tag[i] -= bytes;
  live_.total -= bytes;
}

std::string MemoryLedger::to_table() const {
  fmt::memory_buffer out;
  auto line = [&](std::string_view name, std::int64_t live, std::int64_t peak) {
    fmt::format_to(std::back_inserter(out), "{:<22}{:>18}{:>18}\n", name, live, peak);
  };
  fmt::format_to(std::back_inserter(out), "{:<22}{:>18}{:>18}\n", "tag", "live bytes", "peak bytes");
  for (std::size_t i = 0; i < kTagNames.size(); ++i) line(kTagNames[i], live_.by_tag[i], peak_.by_tag[i]);
  line("total", live_.total, peak_.total);
  return fmt::to_string(out);
}

}  // namespace shoal
