#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shoal/runtime/device/memory_ledger.h"

namespace shoal::tools {

/// "17 B", "1.5 KiB", "23.4 MiB", "1.2 GiB".
std::string format_bytes(std::int64_t bytes);

/// "950", "12.3k", "124.4M", "1.6B".
std::string format_count(std::int64_t count);

/// "0:07", "12:05", "3:00:00".
std::string format_seconds(double seconds);

/// The text as a terminal may have it: line ends, tabs and printable UTF-8 as they are, every other byte as \xNN.
std::string printable(std::string_view text);

/// A table of memory by tag, one line per tag that anyone uses and a total; a column per rank for `measured` beside
/// `predicted`. Either may be empty, but not both; equal neighbours share a column ("ranks 0-7").
std::string format_memory(const std::vector<MemoryBytes>& measured, const std::vector<MemoryBytes>& predicted);

}  // namespace shoal::tools
