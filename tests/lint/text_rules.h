#pragma once

#include <span>

#include "shoal/tests/lint/source_file.h"

namespace shoal::lint {

inline constexpr std::size_t kMaxFileLines = 400;
inline constexpr std::size_t kMaxColumns = 120;

/// Source files have at most kMaxFileLines lines of at most kMaxColumns columns; prose may be wider.
Violations check_sizes(std::span<const SourceFile> files);

/// Files are snake_case and named after what they hold: no "utils", "common", "misc", "helpers".
Violations check_file_names(std::span<const SourceFile> files);

/// Nothing is left to do, and no word says who made this, how, or on which machine.
Violations check_words(std::span<const SourceFile> files);

/// Headers begin with #pragma once and don't open namespaces for whoever includes them.
Violations check_headers(std::span<const SourceFile> files);

}  // namespace shoal::lint
