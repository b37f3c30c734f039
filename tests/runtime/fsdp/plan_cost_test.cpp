#include "shoal/runtime/fsdp/plan_cost.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "shoal/runtime/base/exact_sum.h"
#include "shoal/tests/support/plan_cases.h"

namespace shoal::test {
namespace {

using fsdp::Strategy;

constexpr std::int64_t kUnitNumel = 64 * 12;  // splits over 1, 2, 3, 4 and 6 ranks without padding
constexpr std::int64_t kUnit = 4 * kUnitNumel;
constexpr std::int64_t kActivation = 192;

MemoryBytes train_peak(const PlanCase& planned) { return fsdp::lease_peak(planned.train, planned.train_trace); }

TEST(PlanCost, ChainOfEqualUnits_HoldsPrefetchPlusOneUnits_AndTwoGradients) {
  for (int num_units = 1; num_units <= 7; ++num_units) {
    for (int prefetch = 0; prefetch <= 4; ++prefetch) {
      const PlanCase planned("chain", make_chain(num_units, kUnitNumel, kActivation), 2, prefetch);
      const MemoryBytes peak = train_peak(planned);
      EXPECT_EQ(peak[MemoryTag::UnshardedParameters], kUnit * std::min(num_units, prefetch + 1));
      // A unit's reduction has the backward of the next unit to finish.
      EXPECT_EQ(peak[MemoryTag::UnshardedGradients], kUnit * std::min(num_units, 2));
      // All outputs are held when the backward begins, and with them two gradients of outputs (one of a single unit).
      EXPECT_EQ(peak[MemoryTag::Activations], kActivation * (num_units + std::min(num_units, 2)));
    }
  }
}

TEST(PlanCost, ChainOfEqualUnits_PeaksAtTheSecondUnitOfTheBackward) {
  for (const int prefetch : {0, 1, 2}) {
    const int num_units = 8;
    const PlanCase planned("chain", make_chain(num_units, kUnitNumel, kActivation), 4, prefetch);
    // There: one output less, two gradients of outputs, two units' gradients, the unit itself and those gathered ahead.
    EXPECT_EQ(train_peak(planned).total, kActivation * (num_units - 1 + 2) + kUnit * (2 + 1 + prefetch));
  }
}

TEST(PlanCost, ParametersHeld_DoNotGrowWithDepth) {
  const PlanCase shallow("chain", make_chain(6, kUnitNumel), 2, 1);
  const PlanCase deep("chain", make_chain(60, kUnitNumel), 2, 1);
  for (const MemoryTag tag : {MemoryTag::UnshardedParameters, MemoryTag::UnshardedGradients}) {
    EXPECT_EQ(train_peak(deep)[tag], train_peak(shallow)[tag]);
  }
}

TEST(PlanCost, Evaluation_HoldsNoGradients_AndTwoActivations) {
  const PlanCase planned("chain", make_chain(5, kUnitNumel, kActivation), 3, 1);
  const MemoryBytes peak = fsdp::lease_peak(planned.evaluate, planned.evaluate_trace);
  EXPECT_EQ(peak[MemoryTag::UnshardedParameters], 2 * kUnit);
  EXPECT_EQ(peak[MemoryTag::UnshardedGradients], 0);
  EXPECT_EQ(peak[MemoryTag::Activations], 2 * kActivation);
}

TEST(PlanCost, EnclosingUnits_AreHeldThroughout) {
  const PlanCase planned("tied", make_tied_transformer(3, 16, 64, 8), 2, 1);
  const auto bytes = [&](const char* name) {
    const fsdp::Unit& unit = planned.units.units[static_cast<std::size_t>(planned.unit(name))];
    return 4 * planned.units.flats[static_cast<std::size_t>(unit.flats[0])].layout.full_numel();
  };
  const MemoryBytes peak = train_peak(planned);
  EXPECT_EQ(peak[MemoryTag::UnshardedParameters], bytes("(root)") + 2 * bytes("blocks.0"));
  EXPECT_EQ(peak[MemoryTag::UnshardedGradients], bytes("(root)") + 2 * bytes("blocks.0"));
}

TEST(PlanCost, Replicated_HoldsOnlyActivations) {
  for (const int world_size : {1, 3}) {
    const PlanCase planned("none", make_chain(4, kUnitNumel, kActivation), world_size, 1, Strategy::None);
    EXPECT_EQ(train_peak(planned).total, train_peak(planned)[MemoryTag::Activations]);
  }
}

TEST(PlanCost, Arena_IsAtLeastThePeak) {
  for (const auto& planned : make_plan_cases()) {
    EXPECT_GE(planned->train.arena_bytes, train_peak(*planned).total) << planned->name;
  }
}

TEST(PlanCost, PredictedPeak_AddsTheHighestPassToWhatIsAlwaysHeld) {
  MemoryBytes persistent, a, b;
  persistent.by_tag[0] = persistent.total = 100;
  a.by_tag[6] = 10, a.by_tag[8] = 5, a.total = 12;
  b.by_tag[6] = 4, b.by_tag[8] = 9, b.total = 13;
  const MemoryBytes predicted = fsdp::predict_peak(persistent, std::vector<MemoryBytes>{a, b});
  EXPECT_EQ(predicted.by_tag[0], 100);
  EXPECT_EQ(predicted.by_tag[6], 10);
  EXPECT_EQ(predicted.by_tag[8], 9);
  EXPECT_EQ(predicted.total, 113);
  EXPECT_EQ(fsdp::predict_peak(persistent, {}), persistent);
}

TEST(PlanCost, PersistentBytes_FollowTheStrategy) {
  const PlanCase planned("frozen", make_partly_frozen(), 3, 1);
  std::int64_t trainable = 0, frozen = 0;
  for (const fsdp::FlatParameter& flat : planned.units.flats) {
    (flat.is_trainable ? trainable : frozen) += 4 * flat.layout.full_numel();
  }
  const auto bytes = [&](Strategy strategy) { return fsdp::persistent_model_bytes(planned.units, strategy, 3, 8); };
  const auto expect = [&](Strategy strategy, std::int64_t parameters, std::int64_t gradients, std::int64_t state) {
    const MemoryBytes held = bytes(strategy);
    EXPECT_EQ(held[MemoryTag::Parameters], parameters);
    EXPECT_EQ(held[MemoryTag::Gradients], gradients);
    EXPECT_EQ(held[MemoryTag::OptimizerState], state);
    EXPECT_EQ(held.total, parameters + gradients + state);
  };
  expect(Strategy::None, trainable + frozen, trainable, 2 * trainable);
  expect(Strategy::Full, (trainable + frozen) / 3, trainable / 3, 2 * trainable / 3);
}

TEST(PlanCost, WireBytes_AreTheStrategysFormula) {
  for (const int world_size : {2, 3, 4}) {
    const PlanCase full("full", make_chain(5, kUnitNumel), world_size, 1);
    const std::int64_t peers = world_size - 1;
    const fsdp::WireBytes wire = fsdp::wire_bytes(full.train, full.units, full.model);
    EXPECT_EQ(wire.gathered, 2 * 5 * kUnit * peers / world_size);
    EXPECT_EQ(wire.reduced, 5 * kUnit * peers / world_size);
    EXPECT_EQ(wire.sums, 2 * peers * 24 / world_size);
    const fsdp::WireBytes update = fsdp::wire_bytes(full.update, full.units, full.model);
    EXPECT_EQ(update.gathered + update.reduced, 0);
    EXPECT_EQ(update.sums, 2 * peers * ExactSum::kWords * 8 / world_size);

    const PlanCase none("none", make_with_state(), world_size, 1, Strategy::None);
    const fsdp::WireBytes replicated = fsdp::wire_bytes(none.train, none.units, none.model);
    std::int64_t reduced = 0;
    for (const fsdp::FlatParameter& flat : none.units.flats) {
      reduced += 2 * peers * 4 * flat.layout.full_numel() / world_size;
    }
    EXPECT_EQ(replicated.gathered, 0);
    EXPECT_EQ(replicated.reduced, reduced);
    EXPECT_EQ(replicated.sums, 2 * peers * 24 / world_size + 2 * peers * 4 * 33 / world_size);
  }
  const PlanCase alone("one rank", make_chain(3, kUnitNumel), 1, 1);
  const fsdp::WireBytes nothing = fsdp::wire_bytes(alone.train, alone.units, alone.model);
  EXPECT_EQ(nothing.gathered + nothing.reduced + nothing.sums, 0);
}

}  // namespace
}  // namespace shoal::test
