#pragma once

#include <functional>

#include "shoal/runtime/device/device.h"

namespace shoal {

/// Hears every operation that is enqueued on a sim device, with its declaration; copies and fills are called "copy" and
/// "fill". The scope is the device's at that moment.
using OperationSink =
    std::function<void(const Stream& stream, const char* name, const ByteRanges& reads, const ByteRanges& writes)>;

/// Sends what is enqueued on `sim` from now on to `sink`; an empty sink stops it.
/// Throws InvalidArgument for a device of another kind.
void set_operation_sink(Device& sim, OperationSink sink);

}  // namespace shoal
