#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "shoal/runtime/base/error.h"

namespace shoal::test {

/// Runs `body`, which has to throw an Error of `code` whose text holds every one of `parts`.
template <typename Body>
void expect_error(ErrorCode code, const std::vector<std::string>& parts, const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error_code_name(error.code()), error_code_name(code)) << error.what();
    for (const std::string& part : parts) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << "no '" << part << "' in: " << error.what();
    }
    return;
  }
  ADD_FAILURE() << "nothing was thrown; " << error_code_name(code) << " was expected";
}

}  // namespace shoal::test
