#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "shoal/runtime/train/train_config.h"

namespace shoal::tools {

/// A flag's value as its own type; monostate: left open.
using FlagValue = std::variant<std::monostate, std::int64_t, std::uint64_t, double, std::string>;

/// One flag of a training run: the same name on the command line (--NAME) and in a config file ("NAME").
struct ConfigFlag {
  std::string_view name;
  std::string_view value_name;  // for help: N, NAME, SECONDS
  std::string_view help;
  /// Throws InvalidArgument for text that is no such value, naming the flag as `called`: with where it stood.
  void (*set)(train::TrainConfig& config, std::string_view called, const std::string& text);
  FlagValue (*get)(const train::TrainConfig& config);
};

/// All of them, in the order of the help.
std::span<const ConfigFlag> config_flags();

/// Sets one flag by name. Throws InvalidArgument for an unknown name, with the nearest match, and for text that is no
/// such value. `where` says where the name stood ("--", "'FILE': key ").
void set_config_flag(train::TrainConfig& config, const std::string& name, const std::string& text,
                     std::string_view where);

/// A number of bytes with an optional unit: 1048576, 1024KiB, 1MiB, 2GiB. Throws InvalidArgument naming `called`.
std::int64_t parse_bytes(std::string_view called, const std::string& text);

/// A whole number; throws InvalidArgument naming `called`.
std::int64_t parse_whole_number(std::string_view called, const std::string& text);

}  // namespace shoal::tools
