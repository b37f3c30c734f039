#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace shoal {

/// One environment variable that Shoal reads. This table is the only place that reads the environment.
struct EnvVariable {
  std::string_view name;
  std::string_view meaning;
};

/// Every variable, for `doctor` and the documentation.
std::span<const EnvVariable> env_table();

/// The variable's value, or nothing where it is unset or empty. Throws Internal for a name outside the table.
std::optional<std::string> env_value(std::string_view name);

}  // namespace shoal
