#pragma once

#include <span>

#include "shoal/tests/lint/source_file.h"

namespace shoal::lint {

/// A header's path without its extension, and where its tests are instead of in the mirrored file.
struct TestedElsewhere {
  std::string_view path;
  std::string_view reason;
};

/// The project's list.
std::span<const TestedElsewhere> tested_elsewhere();

/// Every public header that has a source file of its own is tested by tests/<the same path>_test.cpp, unless
/// `elsewhere` names it. An entry of that list that is not needed is a violation too.
Violations check_mirrored_tests(std::span<const SourceFile> files, std::span<const TestedElsewhere> elsewhere);

}  // namespace shoal::lint
