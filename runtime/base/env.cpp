#include "shoal/runtime/base/env.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "shoal/runtime/base/error.h"

namespace shoal {
namespace {

// Every variable is read somewhere: whoever starts to read one adds it here, and whoever stops removes it.
constexpr std::array<EnvVariable, 0> kTable = {};

}  // namespace

std::span<const EnvVariable> env_table() { return kTable; }

std::optional<std::string> env_value(std::string_view name) {
  const auto table = env_table();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const EnvVariable& variable) { return variable.name == name; });
  if (found == table.end()) {
    fail(ErrorCode::Internal,
         fmt::format("[env_value] '{}' is not in the table of environment variables; add it there", name));
  }
  const char* value = std::getenv(std::string(name).c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

}  // namespace shoal
