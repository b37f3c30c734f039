#include "shoal/runtime/device/host/sanitizer/declared_ranges.h"

// The sanitizer's run-time library exports these, but its public headers do not declare them.
extern "C" void __tsan_read_range(void* begin, unsigned long bytes);
extern "C" void __tsan_write_range(void* begin, unsigned long bytes);

namespace shoal::host {

bool wants_declared_ranges() { return true; }

void report_declared_ranges(const ByteRanges& reads, const ByteRanges& writes) {
  for (const ByteRange& range : reads) {
    __tsan_read_range(const_cast<void*>(range.begin), static_cast<unsigned long>(range.bytes));
  }
  for (const ByteRange& range : writes) {
    __tsan_write_range(const_cast<void*>(range.begin), static_cast<unsigned long>(range.bytes));
  }
}

}  // namespace shoal::host
