#include "shoal/runtime/fsdp/pass_planner.h"

namespace shoal::fsdp {

Plan order_update(const PlannerInput& input) {
  Plan plan;
  plan.kind = PassKind::Update;
  plan.strategy = input.policies.strategy;
  plan.world_size = input.world_size;
  const auto add = [&](OpKind kind, StreamRole stream) { plan.ops.push_back({.kind = kind, .stream = stream}); };
  const auto add_each = [&](OpKind kind) {
    for (std::size_t f = 0; f < input.units.flats.size(); ++f) {
      if (!input.units.flats[f].is_trainable) continue;
      plan.ops.push_back({.kind = kind, .unit = input.units.flats[f].unit, .flat = static_cast<int>(f)});
    }
  };
  add(OpKind::PassBegin, StreamRole::Compute);
  add_each(OpKind::GradientNorm);
  if (plan.is_sharded()) add(OpKind::ReduceNorm, StreamRole::Reduce);
  add(OpKind::FinishNorm, StreamRole::Compute);
  if (plan.is_sharded()) add(OpKind::AwaitReaders, StreamRole::Gather);
  add_each(OpKind::Update);
  if (plan.is_sharded()) add_each(OpKind::Publish);
  add(OpKind::PassEnd, StreamRole::Compute);
  return plan;
}

}  // namespace shoal::fsdp
