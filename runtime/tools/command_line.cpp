#include "shoal/runtime/tools/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string_view>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/base/nearest_name.h"

namespace shoal::tools {
namespace {

constexpr const char* kAbout = "Shoal trains models whose parameters, gradients and optimizer state live in shards.";

[[noreturn]] void refuse(const std::string& what) { fail(ErrorCode::InvalidArgument, "[command] " + what); }

// Where CLI11 leaves what it parsed for one subcommand.
struct Parsed {
  const CommandSpec* spec = nullptr;
  CLI::App* app = nullptr;
  std::map<std::string, std::string> values;
  std::map<std::string, bool> switches;
};

void add_flags(Parsed& parsed) {
  for (const FlagSpec& flag : parsed.spec->flags) {
    const std::string name = "--" + flag.name;
    if (flag.value_name.empty()) {
      parsed.app->add_flag(name, parsed.switches[flag.name], flag.help);
    } else {
      parsed.app->add_option(name, parsed.values[flag.name], flag.help)->type_name(flag.value_name);
    }
  }
  parsed.app->allow_extras();
}

// The app of "bench step" is "step" within "bench".
CLI::App* add_command(CLI::App& root, const CommandSpec& spec) {
  const std::size_t space = spec.name.find(' ');
  if (space == std::string::npos) return root.add_subcommand(spec.name, spec.help);
  const std::string group = spec.name.substr(0, space);
  const auto groups = root.get_subcommands([&](const CLI::App* app) { return app->get_name() == group; });
  CLI::App* outer = groups.empty() ? nullptr : groups.front();
  if (outer == nullptr) {
    outer = root.add_subcommand(group, "measurements, each of something that was verified");
    outer->allow_extras();
    outer->require_subcommand(0, 1);
  }
  return outer->add_subcommand(spec.name.substr(space + 1), spec.help);
}

std::string path_of(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : path_of(*app.get_parent()) + " " + app.get_name();
}

// For what stands before the next word, or instead of it, where "shoal" or "shoal bench" knows only words.
[[noreturn]] void refuse_word(const CLI::App& app, const std::string& extra) {
  const std::string path = path_of(app);
  if (extra.starts_with("-")) refuse(fmt::format("'{}' takes no '{}'; flags stand after the last word", path, extra));
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands({})) names.push_back(sub->get_name());
  const std::vector<std::string_view> known(names.begin(), names.end());
  refuse(fmt::format("{} {}", path, describe_unknown(extra, known)));
}

[[noreturn]] void refuse_end(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands({})) names.push_back(sub->get_name());
  refuse(fmt::format("'{}' needs one of: {}", path_of(app), fmt::join(names, ", ")));
}

[[noreturn]] void refuse_extra(const CommandSpec& spec, const std::string& extra) {
  if (!extra.starts_with("--")) refuse(fmt::format("'{}' takes no '{}'; flags begin with --", spec.name, extra));
  std::vector<std::string_view> known;
  for (const FlagSpec& flag : spec.flags) known.push_back(flag.name);
  const std::string name = extra.substr(2, extra.find('=') == std::string::npos ? extra.npos : extra.find('=') - 2);
  refuse(fmt::format("{}: flag {}", spec.name, describe_unknown(name, known)));
}

// Whatever was given and nobody took, from the outermost word on.
void refuse_leftovers(const CLI::App& root, const std::vector<std::unique_ptr<Parsed>>& all) {
  const CLI::App* app = &root;
  while (app != nullptr) {
    const auto leaf = std::find_if(all.begin(), all.end(), [&](const auto& parsed) { return parsed->app == app; });
    const std::vector<std::string> extras = app->remaining();
    if (!extras.empty() && leaf != all.end()) refuse_extra(*(*leaf)->spec, extras.front());
    if (!extras.empty()) refuse_word(*app, extras.front());
    const std::vector<CLI::App*> used = app->get_subcommands();
    if (used.empty() && leaf == all.end()) refuse_end(*app);
    app = used.empty() ? nullptr : used.front();
  }
}

CommandLine collect(const Parsed& parsed) {
  CommandLine line;
  line.command = parsed.spec->name;
  for (const auto& [name, value] : parsed.values) {
    if (parsed.app->count("--" + name) > 0) line.values[name] = value;
  }
  for (const auto& [name, is_on] : parsed.switches) {
    if (is_on) line.switches.insert(name);
  }
  return line;
}

}  // namespace

CommandLine parse_command_line(const std::vector<CommandSpec>& commands, const std::vector<std::string>& arguments) {
  CLI::App root(kAbout, "shoal");
  root.allow_extras();
  root.require_subcommand(0, 1);
  std::vector<std::unique_ptr<Parsed>> all;
  for (const CommandSpec& spec : commands) {
    auto parsed = std::make_unique<Parsed>();
    parsed->spec = &spec;
    parsed->app = add_command(root, spec);
    add_flags(*parsed);
    all.push_back(std::move(parsed));
  }
  // CLI11 takes the arguments last first.
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    root.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    CommandLine line;
    line.help = root.help();
    return line;
  } catch (const CLI::ParseError& error) {
    refuse(error.what());
  }
  refuse_leftovers(root, all);
  const auto used = std::find_if(all.begin(), all.end(), [](const auto& parsed) { return parsed->app->parsed(); });
  return collect(**used);
}

}  // namespace shoal::tools
