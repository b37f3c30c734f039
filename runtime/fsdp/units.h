#pragma once

#include <span>
#include <string>
#include <vector>

#include "shoal/runtime/fsdp/flat_layout.h"
#include "shoal/runtime/fsdp/policies.h"
#include "shoal/runtime/fsdp/trace.h"

namespace shoal::fsdp {

/// Parameters gathered together.
struct Unit {
  std::string name;     // the module's path, "(root)" for the root
  int module = -1;      // whose calls are its intervals
  int parent = -1;      // the nearest enclosing unit, -1 for the root unit
  bool is_leaf = true;  // no other unit is entered while it is; enclosing units stay gathered from forward to backward
  std::vector<int> flats = {};
  std::vector<int> parameters = {};
};

/// A unit's parameters of one class (trainable or frozen) as one flat parameter.
struct FlatParameter {
  int unit = -1;
  bool is_trainable = true;
  FlatLayout layout;
};

/// Where a parameter lives.
struct ParameterPlace {
  int unit = -1;
  int flat = -1;
  int segment = -1;
};

struct UnitTable {
  std::vector<Unit> units;  // in order of module index: parents first
  std::vector<FlatParameter> flats;
  std::vector<ParameterPlace> places;  // by parameter index
  std::vector<int> unit_of_module;     // by module index; -1 where the module is no unit

  /// Where in its flat parameter the parameter of this place lies.
  const Segment& segment_of(const ParameterPlace& place) const {
    return flats[static_cast<std::size_t>(place.flat)].layout.segments[static_cast<std::size_t>(place.segment)];
  }
};

/// Forms units: modules marked by hand or whose type is listed in the policies; the root takes what is left; then
/// parameters of enclosing units that are used in one call of one module only become leaf units of that module ("leaf
/// units of their own"). A parameter used in two units is hoisted to the unit that contains both. Every parameter is in
/// exactly one unit; units without parameters are dropped. `trace` is a training trace if there is one (uses in the
/// backward count), with marks for every module. Throws InvalidArgument for a wrap type that matches no module.
UnitTable make_units(const ModelSpec& model, const Trace& trace, const Policies& policies, int world_size);

}  // namespace shoal::fsdp
