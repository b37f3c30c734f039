#include "shoal/runtime/base/env.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

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

TEST(Env, Table_NamesAreUniqueAndExplained) {
  std::set<std::string_view> names;
  for (const EnvVariable& variable : env_table()) {
    EXPECT_TRUE(names.insert(variable.name).second) << variable.name;
    EXPECT_FALSE(variable.meaning.empty()) << variable.name;
  }
}

TEST(Env, EveryVariable_UnsetEmptyAndSet) {
  for (const EnvVariable& variable : env_table()) {
    const std::string name(variable.name);
    const char* before = std::getenv(name.c_str());
    const std::optional<std::string> kept = before == nullptr ? std::nullopt : std::optional<std::string>(before);
    unsetenv(name.c_str());
    EXPECT_EQ(env_value(name), std::nullopt);
    setenv(name.c_str(), "", 1);
    EXPECT_EQ(env_value(name), std::nullopt);
    setenv(name.c_str(), "12", 1);
    EXPECT_EQ(env_value(name), "12");
    unsetenv(name.c_str());
    if (kept) setenv(name.c_str(), kept->c_str(), 1);
  }
}

}  // namespace
}  // namespace shoal
