#include "shoal/runtime/fsdp/planned_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "shoal/runtime/base/hash.h"
#include "shoal/runtime/fsdp/plan_print.h"
#include "shoal/runtime/fsdp/rank_agreement.h"
#include "shoal/runtime/fsdp/rank_state.h"
#include "shoal/runtime/fsdp/state_storage.h"
#include "shoal/runtime/fsdp/tracer.h"

namespace shoal::fsdp {
namespace {

PlannedPass prove(Plan plan, const Trace& trace, const PlannerInput& input) {
  PlannedPass pass;
  pass.plan = std::move(plan);
  const Plan* proved = &pass.plan;
  pass.proof = check_plan({&proved, 1}, trace, input);
  pass.lease_peak = lease_peak(pass.plan, trace);
  pass.wire = wire_bytes(pass.plan, input.units, input.model);
  return pass;
}

PlannedPass plan_traced(const Trace& trace, const PlannerInput& input) {
  return prove(plan_pass(trace, input), trace, input);
}

/// What ranks exchange in the arena while no pass runs.
std::int64_t exchange_bytes(const PlannedModel& planned, Strategy strategy, int world_size) {
  std::int64_t bytes = agreement_bytes(world_size);
  if (!shards_parameters(strategy, world_size)) return bytes;
  for (const FlatParameter& flat : planned.units.flats) {
    bytes = std::max(bytes, flat.layout.full_numel() * dtype_bytes(DType::F32));  // to read one
  }
  return bytes;
}

std::string describe_pass(const char* title, const PlannedPass& pass, const UnitTable& units) {
  return fmt::format(
      "{}\n{}check: proved {} operations ({} gathers, {} reductions), {} waits, {} conflicting accesses ordered\n",
      title, print_plan(pass.plan, units), pass.proof.num_ops, pass.proof.num_gathers, pass.proof.num_reduces,
      pass.proof.num_waits, pass.proof.num_conflicts_ordered);
}

}  // namespace

std::vector<const PlannedPass*> PlannedModel::passes() const {
  std::vector<const PlannedPass*> planned = {&train, &update};
  if (evaluate) planned.push_back(&*evaluate);
  if (predict) planned.push_back(&*predict);
  return planned;
}

std::int64_t PlannedModel::num_parameters() const {
  std::int64_t numel = 0;
  for (const ParameterSpec& parameter : model.parameters) numel += parameter.shape.numel();
  return numel;
}

std::string PlannedModel::describe() const {
  return describe_pass("Training pass", train, units) + "\n" + describe_pass("Update pass", update, units);
}

std::uint64_t PlannedModel::fingerprint() const { return hash_text(describe()); }

PlannedModel plan_model(nn::Model& model, const ShardOptions& options, int world_size, int num_workers,
                        int num_state_tensors) {
  PlannedModel planned;
  planned.model = describe_model(model);
  const Trace train = trace_model(model, options.train_batch, TracedPass::Train, num_workers);
  planned.units = make_units(planned.model, train, options.policies, world_size);
  const PlannerInput input{planned.model, planned.units, options.policies, world_size};
  planned.train = plan_traced(train, input);
  planned.update = prove(plan_update(input), Trace{}, input);
  if (options.evaluate_batch) {
    planned.evaluate =
        plan_traced(trace_model(model, *options.evaluate_batch, TracedPass::Evaluate, num_workers), input);
  }
  if (options.predict_batch) {
    planned.predict = plan_traced(trace_model(model, *options.predict_batch, TracedPass::Predict, num_workers), input);
  }

  planned.persistent = persistent_model_bytes(planned.units, options.policies.strategy, world_size,
                                              num_state_tensors * dtype_bytes(DType::F32));
  add_bytes(
      planned.persistent, MemoryTag::Buffers,
      StateStorage::persistent_bytes(planned.model.state_numel(), staged_numel(planned.train.plan, planned.model)));
  add_bytes(planned.persistent, MemoryTag::Control, RankState::control_bytes());

  std::vector<MemoryBytes> peaks;
  for (const PlannedPass* pass : planned.passes()) {
    peaks.push_back(pass->lease_peak);
    planned.arena_bytes = std::max(planned.arena_bytes, pass->plan.arena_bytes);
  }
  planned.arena_bytes = std::max(planned.arena_bytes, exchange_bytes(planned, options.policies.strategy, world_size));
  planned.predicted = predict_peak(planned.persistent, peaks);
  return planned;
}

}  // namespace shoal::fsdp
