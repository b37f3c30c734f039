#pragma once

#include <span>

#include "shoal/tests/lint/source_file.h"

namespace shoal::lint {

/// The library is a guest: outside runtime/tools nothing prints, exits, aborts, sleeps or reads the environment. Tests,
/// benchmarks and the program may print; nobody sleeps without a written reason.
Violations check_calls(std::span<const SourceFile> files);

/// Conditional compilation and macros: only in the files that have a written reason, and at most one of either per 1000
/// lines over all.
Violations check_preprocessor(std::span<const SourceFile> files);

/// Tests compare with names from tests/support/tolerance.h: no number stands in the last argument of EXPECT_NEAR and
/// ASSERT_NEAR, and no Tolerance is made elsewhere.
Violations check_tolerances(std::span<const SourceFile> files);

}  // namespace shoal::lint
