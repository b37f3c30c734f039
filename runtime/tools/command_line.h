#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace shoal::tools {

/// A flag of a subcommand; without a value name it is a switch.
struct FlagSpec {
  std::string name;
  std::string value_name;
  std::string help;
};

/// A subcommand: "train", or "bench step" within "bench".
struct CommandSpec {
  std::string name;
  std::string help;
  std::vector<FlagSpec> flags;
};

/// What the user typed.
struct CommandLine {
  std::string command;                        // a CommandSpec's name; empty where only help is wanted
  std::map<std::string, std::string> values;  // by flag name
  std::set<std::string> switches;
  std::string help;  // not empty: the text to print instead of running anything

  bool has(const std::string& name) const { return values.contains(name) || switches.contains(name); }
};

/// Parses `arguments` (without the program's name). Throws InvalidArgument, with the nearest match, for unknown
/// subcommands and flags, and for missing, superfluous and repeated values.
CommandLine parse_command_line(const std::vector<CommandSpec>& commands, const std::vector<std::string>& arguments);

}  // namespace shoal::tools
