#pragma once

#include "shoal/runtime/device/byte_range.h"

namespace shoal::host {

/// True in builds for ThreadSanitizer, which does not see the loads and stores of generated or masked vector code:
/// there operations keep their declaration until they run, and report it as if their thread had made the accesses.
bool wants_declared_ranges();

/// Tells the sanitizer that this thread reads and writes these ranges now. Does nothing in other builds.
void report_declared_ranges(const ByteRanges& reads, const ByteRanges& writes);

}  // namespace shoal::host
