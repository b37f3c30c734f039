#include "shoal/runtime/device/stream_checks.h"

#include <fmt/format.h>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/device/device.h"

namespace shoal {

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
  const auto* to = static_cast<const char*>(dst);
  const auto* from = static_cast<const char*>(src);
  const bool is_null = bytes > 0 && (dst == nullptr || src == nullptr);
  const bool overlaps = bytes > 0 && to < from + bytes && from < to + bytes;
  if (bytes >= 0 && !is_null && !overlaps) return;
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
