#pragma once

#include <cstdint>

#include "shoal/runtime/device/stream.h"

namespace shoal {

/// Whether two ranges have a byte in common; empty ones have not.
bool overlap(const ByteRange& a, const ByteRange& b);

// What every device refuses, in the same words.

/// Throws InvalidArgument where `event` belongs to another device than `stream`; `call` is "record" or "wait".
void check_event_device(const Stream& stream, const Event& event, const char* call);
/// Throws InvalidArgument unless `is_recorded`.
void check_event_recorded(const Stream& stream, const Event& event, bool is_recorded);
/// Throws InvalidArgument for negative bytes, null pointers or overlapping ranges.
void check_copy(const Stream& stream, const void* dst, const void* src, std::int64_t bytes);
/// Throws InvalidArgument for negative bytes or a null pointer.
void check_fill(const Stream& stream, const void* dst, std::int64_t bytes);

}  // namespace shoal
