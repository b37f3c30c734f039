#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "shoal/collectives/communicator.h"
#include "shoal/optim/rule.h"
#include "shoal/runtime/device/device.h"
#include "shoal/runtime/fsdp/flat_storage.h"
#include "shoal/runtime/fsdp/policies.h"
#include "shoal/runtime/fsdp/state_storage.h"
#include "shoal/runtime/fsdp/units.h"
#include "shoal/runtime/tensor/arena.h"

namespace shoal::fsdp {

/// The streams of one rank, each with its reason.
struct RankStreams {
  explicit RankStreams(Device& device);
  Stream& of(StreamRole role) const;

  std::unique_ptr<Stream> compute;  // the model's operations and the optimizer's, in program order
  std::unique_ptr<Stream> gather;   // so that the next unit's gather runs beside this unit's compute
  std::unique_ptr<Stream> reduce;   // so that a unit's reduction runs beside the next unit's backward
  std::unique_ptr<Stream>
      readback;  // so that the host can wait for one step's report without waiting for the step after it
};

/// A flat parameter while a pass runs.
struct FlatState {
  std::unique_ptr<FlatStorage> storage;
  Tensor values;     // the whole flat parameter while gathered (or always, where it is held in full); otherwise none
  Tensor gradients;  // the whole gradient while held
  collectives::Window window;
  std::uint64_t version = 0;  // of the shard's values
  std::vector<UpdateSlice> slices;
};

/// Everything of one rank that a plan's operations refer to.
struct RankState {
  RankState(Device& device, collectives::Communicator& world, const ModelSpec& model, UnitTable unit_table,
            std::int64_t arena_bytes);

  /// Whether flat parameters are sharded, so that values must be gathered: `full` on more than one rank.
  bool is_sharded(Strategy strategy) const { return strategy == Strategy::Full && world_size > 1; }

  Device& device;
  UnitTable units;
  int rank;
  int world_size;
  // Two communicators, because operations on one run in issue order whatever streams they are put on.
  std::unique_ptr<collectives::Communicator> gather_comm;
  std::unique_ptr<collectives::Communicator> reduce_comm;
  std::vector<FlatState> flats;
  std::vector<char> is_gradient_written;  // by parameter, in this pass
  std::unique_ptr<StateStorage> state;
  Arena arena;
  Buffer control;  // two step blocks and the norm's words
  Tensor blocks[2];
  Tensor words;
  Tensor block;                  // the step block of the pass that is being enqueued
  std::optional<float> padding;  // what padding of reduce inputs is filled with; for tests
  const optim::Rule* rule = nullptr;
  RankStreams streams;  // last, so that they are drained before what they use goes

  static std::int64_t control_bytes();
};

}  // namespace shoal::fsdp
