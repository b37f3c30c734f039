#include "shoal/runtime/device/stream_checks.h"

#include <fmt/format.h>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/device/device.h"

namespace shoal {

bool overlap(const ByteRange& a, const ByteRange& b) {
  if (a.bytes <= 0 || b.bytes <= 0) return false;
  const auto first = [](const ByteRange& range) { return reinterpret_cast<std::uintptr_t>(range.begin); };
  const auto end = [&](const ByteRange& range) { return first(range) + static_cast<std::uintptr_t>(range.bytes); };
  return first(a) < end(b) && first(b) < end(a);
}

void check_event_device(const Stream& stream, const Event& event, const char* call) {
  if (&event.device() == &stream.device()) return;
  fail(ErrorCode::InvalidArgument,
       fmt::format("[{}] event '{}' belongs to device '{}', stream '{}' to device '{}'; make one event per device",
                   call, event.name(), event.device().name(), stream.name(), stream.device().name()));
}

void check_event_recorded(const Stream& stream, const Event& event, bool is_recorded) {
  if (is_recorded) return;
  fail(ErrorCode::InvalidArgument,
       fmt::format(
           "[wait] stream '{}' of device '{}' would wait for event '{}', which was never recorded; record it first",
           stream.name(), stream.device().name(), event.name()));
}

void check_copy(const Stream& stream, const void* dst, const void* src, std::int64_t bytes) {
  const bool is_null = bytes > 0 && (dst == nullptr || src == nullptr);
  if (bytes >= 0 && !is_null && !overlap({dst, bytes}, {src, bytes})) return;
  fail(ErrorCode::InvalidArgument,
       fmt::format("[copy] {} bytes from {} to {} on stream '{}'; the ranges must exist and not overlap", bytes, src,
                   dst, stream.name()));
}

void check_fill(const Stream& stream, const void* dst, std::int64_t bytes) {
  if (bytes >= 0 && (bytes == 0 || dst != nullptr)) return;
  fail(ErrorCode::InvalidArgument,
       fmt::format("[fill] {} bytes at {} on stream '{}'; the range must exist", bytes, dst, stream.name()));
}

}  // namespace shoal
