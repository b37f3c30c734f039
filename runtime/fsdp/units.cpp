#include "shoal/runtime/fsdp/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "shoal/runtime/base/error.h"

namespace shoal::fsdp {
namespace {

using Path = std::vector<int>;  // modules that are open, outermost first

/// What the trace says of modules and parameters.
struct Calls {
  std::vector<int> num_forward;  // by module
  std::vector<Path> entries;     // one for each time a module is entered: what is open then, itself last
  std::vector<std::optional<Path>> common_path;  // by parameter: what is open at every use; none: never used
};

void narrow(std::optional<Path>& common, const Path& open) {
  if (!common) {
    common = open;
    return;
  }
  const auto differ = std::mismatch(common->begin(), common->end(), open.begin(), open.end());
  common->erase(differ.first, common->end());
}

Calls read_calls(const ModelSpec& model, const Trace& trace) {
  Calls calls;
  calls.num_forward.resize(model.modules.size());
  calls.common_path.resize(model.parameters.size());
  Path open;
  for (const TraceEvent& event : trace.events) {
    switch (event.kind) {
      case TraceKind::EnterForward:
        ++calls.num_forward[static_cast<std::size_t>(event.id)];
        [[fallthrough]];
      case TraceKind::EnterBackward:
        open.push_back(event.id);
        calls.entries.push_back(open);
        break;
      case TraceKind::ExitForward:
      case TraceKind::ExitBackward:
        if (open.empty() || open.back() != event.id) {
          fail(ErrorCode::Internal, fmt::format("[make_units] the trace leaves module '{}', which is not the innermost",
                                                model.modules[static_cast<std::size_t>(event.id)].path));
        }
        open.pop_back();
        break;
      case TraceKind::UseParameter:
      case TraceKind::WriteGradient:
        narrow(calls.common_path[static_cast<std::size_t>(event.id)], open);
        break;
      default:
        break;
    }
  }
  return calls;
}

std::vector<char> marked_modules(const ModelSpec& model, const Policies& policies) {
  std::vector<char> is_unit(model.modules.size(), 0);
  is_unit.at(0) = 1;
  for (std::size_t m = 0; m < model.modules.size(); ++m) {
    if (model.modules[m].is_unit) is_unit[m] = 1;
  }
  for (const std::string& type : policies.wrap_types) {
    bool is_found = false;
    for (std::size_t m = 0; m < model.modules.size(); ++m) {
      if (model.modules[m].type != type) continue;
      is_unit[m] = 1;
      is_found = true;
    }
    if (is_found) continue;
    std::vector<std::string> types;
    for (const ModuleSpec& module : model.modules) types.push_back(module.type);
    std::sort(types.begin(), types.end());
    types.erase(std::unique(types.begin(), types.end()), types.end());
    fail(ErrorCode::InvalidArgument, fmt::format("[make_units] no module is of type '{}', which is to be wrapped; the "
                                                 "model has {}",
                                                 type, fmt::join(types, ", ")));
  }
  return is_unit;
}

/// The module that adds each parameter.
std::vector<int> owners(const ModelSpec& model) {
  std::vector<int> owner(model.parameters.size(), -1);
  for (std::size_t m = 0; m < model.modules.size(); ++m) {
    for (const int p : model.modules[m].own_parameters) owner[static_cast<std::size_t>(p)] = static_cast<int>(m);
  }
  for (std::size_t p = 0; p < owner.size(); ++p) {
    if (owner[p] < 0) {
      fail(ErrorCode::Internal, fmt::format("[make_units] no module owns parameter '{}'", model.parameters[p].name));
    }
  }
  return owner;
}

/// The innermost module around each parameter's uses, or around its owner where it is never used, that is a unit.
std::vector<int> innermost_units(const ModelSpec& model, const Calls& calls, const std::vector<char>& is_unit) {
  std::vector<int> unit_module = owners(model);
  for (std::size_t p = 0; p < unit_module.size(); ++p) {
    int& module = unit_module[p];
    if (calls.common_path[p]) {
      const Path& path = *calls.common_path[p];
      const auto inner =
          std::find_if(path.rbegin(), path.rend(), [&](int m) { return is_unit[static_cast<std::size_t>(m)] != 0; });
      module = inner == path.rend() ? 0 : *inner;
    } else {
      while (is_unit[static_cast<std::size_t>(module)] == 0) {
        module = model.modules[static_cast<std::size_t>(module)].parent;
      }
    }
  }
  return unit_module;
}

/// By module: another module that holds parameters as a unit is entered while it is open.
std::vector<char> find_enclosing(const ModelSpec& model, const Calls& calls, const std::vector<int>& unit_module) {
  std::vector<char> holds(model.modules.size(), 0), encloses(model.modules.size(), 0);
  for (const int module : unit_module) holds[static_cast<std::size_t>(module)] = 1;
  for (const Path& path : calls.entries) {
    if (holds[static_cast<std::size_t>(path.back())] == 0) continue;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      if (path[i] != path.back()) encloses[static_cast<std::size_t>(path[i])] = 1;
    }
  }
  return encloses;
}

/// Moves parameters of enclosing units that are used inside one call of one module to that module, the outermost such.
void split_enclosing(const Calls& calls, const std::vector<char>& is_unit, const std::vector<char>& encloses,
                     std::vector<int>& unit_module) {
  for (std::size_t p = 0; p < unit_module.size(); ++p) {
    if (encloses[static_cast<std::size_t>(unit_module[p])] == 0 || !calls.common_path[p]) continue;
    const Path& path = *calls.common_path[p];
    auto at = std::find(path.begin(), path.end(), unit_module[p]);
    at = at == path.end() ? path.begin() : std::next(at);
    const auto inner = std::find_if(at, path.end(), [&](int m) {
      const auto module = static_cast<std::size_t>(m);
      return is_unit[module] == 0 && encloses[module] == 0 && calls.num_forward[module] == 1;
    });
    if (inner != path.end()) unit_module[p] = *inner;
  }
}

/// A unit's parameters of one class as a flat parameter, unless there are none.
void add_flat(const ModelSpec& model, int world_size, bool is_trainable, int u, UnitTable& table) {
  Unit& unit = table.units[static_cast<std::size_t>(u)];
  std::vector<int> members;
  for (const int p : unit.parameters) {
    if (model.parameters[static_cast<std::size_t>(p)].is_trainable == is_trainable) members.push_back(p);
  }
  if (members.empty()) return;
  const int flat = static_cast<int>(table.flats.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    table.places[static_cast<std::size_t>(members[i])] = {.unit = u, .flat = flat, .segment = static_cast<int>(i)};
  }
  unit.flats.push_back(flat);
  table.flats.push_back(
      {.unit = u, .is_trainable = is_trainable, .layout = make_flat_layout(model.parameters, members, world_size)});
}

int nearest_unit_above(const ModelSpec& model, const UnitTable& table, int module) {
  int above = model.modules[static_cast<std::size_t>(module)].parent;
  while (above >= 0 && table.unit_of_module[static_cast<std::size_t>(above)] < 0) {
    above = model.modules[static_cast<std::size_t>(above)].parent;
  }
  return above < 0 ? -1 : table.unit_of_module[static_cast<std::size_t>(above)];
}

}  // namespace

UnitTable make_units(const ModelSpec& model, const Trace& trace, const Policies& policies, int world_size) {
  const std::vector<char> is_unit = marked_modules(model, policies);
  const Calls calls = read_calls(model, trace);
  std::vector<int> unit_module = innermost_units(model, calls, is_unit);
  split_enclosing(calls, is_unit, find_enclosing(model, calls, unit_module), unit_module);
  const std::vector<char> encloses = find_enclosing(model, calls, unit_module);

  UnitTable table;
  table.places.resize(model.parameters.size());
  table.unit_of_module.assign(model.modules.size(), -1);
  for (std::size_t m = 0; m < model.modules.size(); ++m) {
    const int module = static_cast<int>(m);
    Unit unit{.name = m == 0 ? "(root)" : model.modules[m].path, .module = module, .is_leaf = encloses[m] == 0};
    for (std::size_t p = 0; p < unit_module.size(); ++p) {
      if (unit_module[p] == module) unit.parameters.push_back(static_cast<int>(p));
    }
    if (unit.parameters.empty()) continue;
    unit.parent = nearest_unit_above(model, table, module);
    const int u = static_cast<int>(table.units.size());
    table.unit_of_module[m] = u;
    table.units.push_back(std::move(unit));
    add_flat(model, world_size, true, u, table);
    add_flat(model, world_size, false, u, table);
  }
  return table;
}

}  // namespace shoal::fsdp
