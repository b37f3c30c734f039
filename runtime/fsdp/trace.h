#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "shoal/runtime/device/memory_ledger.h"
#include "shoal/runtime/fsdp/flat_layout.h"

namespace shoal::fsdp {

/// A module of the traced model: what wrapping and messages need of it.
struct ModuleSpec {
  std::string path;  // dotted; empty for the root
  std::string type;
  int parent = -1;
  bool is_unit = false;                  // marked by hand
  std::vector<int> own_parameters = {};  // indices in ModelSpec::parameters
};

/// The model's tree as data; modules[0] is the root, parents come before children.
struct ModelSpec {
  std::vector<ModuleSpec> modules;
  std::vector<ParameterSpec> parameters;
  std::vector<std::int64_t> state_buffers = {};  // elements of each, by index

  std::int64_t state_numel() const { return std::accumulate(state_buffers.begin(), state_buffers.end(), 0LL); }
};

enum class TraceKind : std::uint8_t {
  EnterForward,   // id: module
  ExitForward,    // id: module
  ForwardEnd,     //
  EnterBackward,  // id: module
  ExitBackward,   // id: module
  UseParameter,   // id: parameter; its values are read by the next operation
  WriteGradient,  // id: parameter; its gradient is written by the next operation
  Acquire,        // id: lease, in order of acquisition from 0; bytes, tag
  Release,        // id: lease
  StageState,     // id: state buffer; this pass's observation of it is written by the next operation
};

/// Whether it says where the pass is; the others say what it does there.
inline bool is_mark(TraceKind kind) { return kind <= TraceKind::ExitBackward; }

struct TraceEvent {
  TraceKind kind;
  int id = -1;
  std::int64_t bytes = 0;
  MemoryTag tag = MemoryTag::Activations;
};

/// One shape-only run of a forward and, for training, the tape's backward: what happened on the compute stream, in
/// order. The same for every rank, strategy and world size.
struct Trace {
  std::vector<TraceEvent> events;
  bool has_backward = false;
  bool has_loss = true;  // false: the forward only predicts
};

}  // namespace shoal::fsdp
