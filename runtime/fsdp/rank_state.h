#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "shoal/collectives/communicator.h"
#include "shoal/kernels/step_block.h"
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
  /// All of them, in the order in which the host waits for them.
  static constexpr std::array<StreamRole, 4> kRoles = {StreamRole::Gather, StreamRole::Reduce, StreamRole::Compute,
                                                       StreamRole::Copy};

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

/// The host's end of copies to and from the device. A copy stays queued where the host gives up waiting for it, so this
/// lives as long as the streams.
struct HostEnd {
  kernels::StepBlock reports[2] = {};  // of the last two steps, by slot
  kernels::StepBlock sums = {};        // of an evaluation
  std::vector<float> values;           // predictions, a flat parameter, or initial values
  std::vector<std::uint64_t> words;    // what ranks compare
};

/// Everything of one rank that a plan's operations refer to.
struct RankState {
  struct Options {
    Strategy strategy = Strategy::Full;
    std::int64_t arena_bytes = 0;
    std::optional<float> padding;  // what padding of reduce inputs is filled with; for tests
  };
  RankState(Device& device, collectives::Communicator& world, const ModelSpec& model, UnitTable unit_table,
            const Options& options);

  /// Gives back what a pass holds that will not go on.
  void drop_leases();
  /// Tells peers why this rank will not go on, so that they stop instead of waiting. Returns when none reads this
  /// rank's memory any more, or when the deadline is over.
  void abort(const std::string& reason) noexcept;

  Device& device;
  UnitTable units;
  int rank;
  int world_size;
  bool is_sharded;  // ranks hold shards only, so values must be gathered
  std::vector<FlatState> flats;
  std::vector<char> is_gradient_written;  // by parameter, in this pass
  std::unique_ptr<StateStorage> state;
  Arena arena;
  Buffer control;  // two step blocks and the norm's words
  Tensor blocks[2];
  Tensor words;
  Tensor block;  // the step block of the pass that is being enqueued
  std::optional<float> padding;
  const optim::Rule* rule = nullptr;
  HostEnd host;
  // What follows goes first, the streams before all: they are drained while everything is there that their operations
  // touch. Then the communicators, after which no peer reads this rank's shards; only then the shards.
  // Two communicators, because operations on one run in issue order whatever streams they are put on.
  std::unique_ptr<collectives::Communicator> gather_comm;
  std::unique_ptr<collectives::Communicator> reduce_comm;
  RankStreams streams;

  static std::int64_t control_bytes();
};

}  // namespace shoal::fsdp
