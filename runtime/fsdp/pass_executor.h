#pragma once

#include <memory>
#include <vector>

#include "shoal/runtime/fsdp/plan.h"
#include "shoal/runtime/fsdp/rank_state.h"

namespace shoal::fsdp {

/// A cursor over one plan. It decides nothing: at each mark it enqueues what stands in the plan up to the next one,
/// each operation with the waits and records that the plan gives it.
class PassExecutor {
 public:
  /// `plan` and `rank` must outlive the executor.
  PassExecutor(const Plan& plan, RankState& rank);

  /// The pass reaches a mark. Throws Unsupported, naming both, where the plan expects another one.
  void reach(OpKind mark, int unit = -1);

 private:
  void enqueue(const PlanOp& op);
  void perform(const PlanOp& op, Stream& stream);
  void gather(const PlanOp& op, Stream& stream);
  void release_values(const PlanOp& op);
  void hold_gradients(const PlanOp& op);
  void finish_gradients(const PlanOp& op, Stream& stream);
  void reduce(const PlanOp& op, Stream& stream);
  void release_gradients(const PlanOp& op);
  void add_norm(const PlanOp& op, Stream& stream);
  void update(const PlanOp& op, Stream& stream);
  void begin_pass(Stream& stream);
  Tensor lease_tensor(const PlanOp& op) const;
  FlatState& flat(const PlanOp& op) const { return rank_.flats[static_cast<std::size_t>(op.flat)]; }

  const Plan& plan_;
  RankState& rank_;
  std::vector<std::unique_ptr<Event>> events_;
  std::vector<Tensor> state_slices_;  // of the update being enqueued
  std::size_t next_ = 0;
};

}  // namespace shoal::fsdp
