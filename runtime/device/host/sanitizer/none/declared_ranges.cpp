#include "shoal/runtime/device/host/sanitizer/declared_ranges.h"

namespace shoal::host {

bool wants_declared_ranges() { return false; }

void report_declared_ranges(const ByteRanges& /*reads*/, const ByteRanges& /*writes*/) {}

}  // namespace shoal::host
