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
  check();
  const auto i = static_cast<std::size_t>(tag);
  live_.by_tag[i] += bytes;
  live_.total += bytes;
  peak_.by_tag[i] = std::max(peak_.by_tag[i], live_.by_tag[i]);
  peak_.total = std::max(peak_.total, live_.total);
}

void MemoryLedger::release(MemoryTag tag, std::int64_t bytes) noexcept {
  std::int64_t& held = live_.by_tag[static_cast<std::size_t>(tag)];
  if (bytes > held && !fault_) fault_ = {tag, bytes, held};
  const std::int64_t released = std::min(bytes, held);
  held -= released;
  live_.total -= released;
}

void MemoryLedger::fail_fault() const {
  fail(ErrorCode::Internal, fmt::format("[memory_ledger] {} bytes of {} were given back, but only {} were held",
                                        fault_->bytes, memory_tag_name(fault_->tag), fault_->held));
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
