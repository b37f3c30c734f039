#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "shoal/runtime/train/train_config.h"

namespace shoal::tools {

/// A flag's value as its own type; monostate: left open.
using FlagValue = std::variant<std::monostate, std::int64_t, double, std::string>;

/// One flag of a training run: the same name on the command line (--NAME) and in a config file ("NAME").
struct ConfigFlag {
  std::string_view name;
  std::string_view value_name;  // for help: N, NAME, SECONDS
  std::string_view help;
  /// Throws InvalidArgument, naming the flag, for text that is no such value.
  void (*set)(train::TrainConfig& config, std::string_view name, const std::string& text);
  FlagValue (*get)(const train::TrainConfig& config);
};

/// All of them, in the order of the help.
std::span<const ConfigFlag> config_flags();

/// Sets one flag by name. Throws InvalidArgument for an unknown name, with the nearest match. `where` says where the
/// name stood ("--", "key ").
void set_config_flag(train::TrainConfig& config, const std::string& name, const std::string& text,
                     std::string_view where);

/// A number of bytes with an optional unit: 1048576, 1024KiB, 1MiB, 2GiB.
std::int64_t parse_bytes(std::string_view flag, const std::string& text);

/// A whole number; throws InvalidArgument naming the flag.
std::int64_t parse_whole_number(std::string_view flag, const std::string& text);

}  // namespace shoal::tools
