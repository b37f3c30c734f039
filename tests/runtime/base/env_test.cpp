#include "shoal/runtime/base/env.h"

#include <gtest/gtest.h>

#include "shoal/runtime/base/error.h"

namespace shoal {
namespace {

TEST(Env, NameOutsideTheTable_IsInternal) {
  try {
    env_value("SHOAL_NO_SUCH_VARIABLE");
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Internal);
  }
}

}  // namespace
}  // namespace shoal
