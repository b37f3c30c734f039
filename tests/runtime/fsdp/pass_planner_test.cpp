#include "shoal/runtime/fsdp/pass_planner.h"

#include <gtest/gtest.h>

#include "shoal/tests/support/plan_cases.h"
#include "shoal/tests/support/plan_notation.h"

namespace shoal::test {
namespace {

using fsdp::Strategy;

std::string train_order(const SyntheticModel& model, int world_size, int prefetch, Strategy strategy = Strategy::Full) {
  return plan_notation(PlanCase("", model, world_size, prefetch, strategy).train);
}

TEST(PassPlanner, WithoutPrefetch_GathersJustBeforeTheUnit) {
  EXPECT_EQ(train_order(make_chain(3, 100), 2, 0),
            "[ G0 f0 /f0 V0 G1 f1 /f1 V1 G2 f2 /f2 V2 | S "
            "G2 b2 H2 /b2 V2 Z2 R2 G1 b1 H1 /b1 V1 Z1 R1 X2 G0 b0 H0 /b0 V0 Z0 R0 X1 X0 ]");
}

TEST(PassPlanner, PrefetchOne_GathersTheNextUnitAsOneIsEntered) {
  EXPECT_EQ(train_order(make_chain(3, 100), 2, 1),
            "[ G0 f0 G1 /f0 V0 f1 G2 /f1 V1 f2 /f2 V2 | G2 S "
            "b2 H2 G1 /b2 V2 Z2 R2 b1 H1 G0 /b1 V1 Z1 R1 X2 b0 H0 /b0 V0 Z0 R0 X1 X0 ]");
}

TEST(PassPlanner, PrefetchTwo_StartsWithTwoGathers) {
  EXPECT_EQ(train_order(make_chain(4, 100), 2, 2),
            "[ G0 G1 f0 G2 /f0 V0 f1 G3 /f1 V1 f2 /f2 V2 f3 /f3 V3 | G3 G2 S "
            "b3 H3 G1 /b3 V3 Z3 R3 b2 H2 G0 /b2 V2 Z2 R2 X3 b1 H1 /b1 V1 Z1 R1 X2 b0 H0 /b0 V0 Z0 R0 X1 X0 ]");
}

TEST(PassPlanner, PrefetchBeyondTheModel_GathersEverythingAtOnce) {
  EXPECT_EQ(train_order(make_chain(2, 100), 2, 9),
            "[ G0 G1 f0 /f0 V0 f1 /f1 V1 | G1 G0 S b1 H1 /b1 V1 Z1 R1 b0 H0 /b0 V0 Z0 R0 X1 X0 ]");
}

TEST(PassPlanner, EnclosingUnit_IsGatheredOnceAndKept) {
  EXPECT_EQ(train_order(make_tied_transformer(2, 16, 64, 8), 2, 1),
            "[ G0 G1 f0 f1 G2 /f1 V1 f2 G3 /f2 V2 f3 /f3 V3 /f0 | G3 S "
            "b0 H0 b3 H3 G2 /b3 V3 Z3 R3 b2 H2 G1 /b2 V2 Z2 R2 X3 b1 H1 /b1 V1 Z1 R1 X2 /b0 V0 Z0 R0 X1 X0 ]");
}

TEST(PassPlanner, EnclosingUnit_InEvaluation_IsReleasedAfterItsForward) {
  const PlanCase planned("", make_tied_transformer(2, 16, 64, 8), 2, 1);
  EXPECT_EQ(plan_notation(planned.evaluate), "[ G0 G1 f0 f1 G2 /f1 V1 f2 G3 /f2 V2 f3 /f3 V3 /f0 V0 | S A ]");
}

TEST(PassPlanner, InnerEnclosingUnits_AreGatheredWithTheirFirstLeaf) {
  // Flat parameters: 0 and 3 are the stages', 1, 2 and 4, 5 their blocks'.
  EXPECT_EQ(train_order(make_nested(), 2, 1),
            "[ G0 G1 f0 f1 G2 /f1 V1 f2 G3 G4 /f2 V2 /f0 f3 f4 G5 /f4 V4 f5 /f5 V5 /f3 | G5 S "
            "b3 H3 b5 H5 G4 /b5 V5 Z5 R5 b4 H4 G2 /b4 V4 Z4 R4 X5 /b3 V3 Z3 R3 X4 "
            "b0 H0 b2 H2 G1 /b2 V2 Z2 R2 X3 b1 H1 /b1 V1 Z1 R1 X2 /b0 V0 Z0 R0 X1 X0 ]");
}

TEST(PassPlanner, UnitAboveInTheTree_ThatIsCalledOnItsOwn_IsALeafLikeOthers) {
  SyntheticModel model;
  const int root = model.add_module("", "Model", -1);
  const int above = model.add_module("above", "Block", root, true);
  const int below = model.add_module("above.below", "Block", above, true);
  const int a = model.add_parameter(above, "above.weight", 10);
  const int b = model.add_parameter(below, "above.below.weight", 10);
  model.enter(root);
  model.call(below, {.parameters = {b}});
  model.call(above, {.parameters = {a}});
  model.exit(root);
  EXPECT_EQ(train_order(model, 2, 1),
            "[ G1 f1 G0 /f1 V1 f0 /f0 V0 | G0 S b0 H0 G1 /b0 V0 Z0 R0 b1 H1 /b1 V1 Z1 R1 X0 X1 ]");
}

TEST(PassPlanner, UnitsWithoutBackwardReads_AreGatheredOnce) {
  EXPECT_EQ(train_order(make_without_backward_reads(), 2, 1),
            "[ G0 f0 G1 /f0 V0 f1 G2 /f1 V1 f2 G3 /f2 V2 f3 G4 /f3 V3 f4 G5 /f4 V4 f5 /f5 V5 | G5 S "
            "b5 H5 G3 /b5 V5 Z5 R5 b4 H4 /b4 Z4 R4 X5 b3 H3 G1 /b3 V3 Z3 R3 X4 "
            "b2 H2 /b2 Z2 R2 X3 b1 H1 /b1 V1 Z1 R1 X2 b0 H0 /b0 Z0 R0 X1 X0 ]");
}

TEST(PassPlanner, FrozenParameters_AreGatheredAndNeverReduced) {
  // Unit 2 has a trainable (2) and a frozen (3) flat parameter; the values of unit 0 are not read in the backward.
  EXPECT_EQ(train_order(make_partly_frozen(), 2, 1),
            "[ G0 f0 G1 /f0 V0 f1 G2 G3 /f1 V1 f2 G4 /f2 V2 V3 f3 G5 /f3 V4 f4 /f4 V5 | G5 S "
            "b4 H5 G4 /b4 V5 Z5 R5 b3 H4 G2 G3 /b3 V4 Z4 R4 X5 b2 H2 G1 /b2 V2 V3 Z2 R2 X4 b1 /b1 V1 X2 b0 /b0 ]");
}

TEST(PassPlanner, UnreachedUnits_AreReducedAtTheEnd) {
  // Units and flat parameters: 0 the root's unused parameter, 1 never entered, 2 not recorded, 3 to 5 ordinary.
  EXPECT_EQ(train_order(make_partly_unreached(), 2, 1),
            "[ G2 f0 f2 G3 /f2 V2 f3 G4 /f3 V3 f4 G5 /f4 V4 f5 /f5 V5 /f0 | G5 S "
            "b0 H0 b5 H5 G4 /b5 V5 Z5 R5 b4 H4 G3 /b4 V4 Z4 R4 X5 b3 H3 /b3 V3 Z3 R3 X4 /b0 Z0 R0 X3 "
            "H1 Z1 R1 X0 H2 Z2 R2 X1 X2 ]");
}

TEST(PassPlanner, Replicated_OnlyReduces) {
  EXPECT_EQ(train_order(make_chain(3, 100), 2, 1, Strategy::None),
            "[ f0 /f0 f1 /f1 f2 /f2 | S b2 /b2 Z2 R2 b1 /b1 Z1 R1 b0 /b0 Z0 R0 ]");
}

TEST(PassPlanner, OneRank_SendsNothing) {
  EXPECT_EQ(train_order(make_chain(2, 100), 1, 1), "[ f0 /f0 f1 /f1 | b1 /b1 Z1 b0 /b0 Z0 ]");
  EXPECT_EQ(train_order(make_chain(2, 100), 1, 1, Strategy::None), "[ f0 /f0 f1 /f1 | b1 /b1 Z1 b0 /b0 Z0 ]");
}

TEST(PassPlanner, State_IsReducedAfterTheForwardAndUpdatedAtTheEnd_InTrainingOnly) {
  const PlanCase planned("", make_with_state(), 2, 1, Strategy::None);
  EXPECT_EQ(plan_notation(planned.train), "[ f0 /f0 f1 /f1 f2 /f2 | S T b2 /b2 Z2 R2 b1 /b1 Z1 R1 b0 /b0 Z0 R0 U ]");
  EXPECT_EQ(plan_notation(planned.evaluate), "[ f0 /f0 f1 /f1 f2 /f2 | S ]");
  EXPECT_EQ(plan_notation(PlanCase("", make_with_state(), 1).train),
            "[ f0 /f0 f1 /f1 f2 /f2 | b2 /b2 Z2 b1 /b1 Z1 b0 /b0 Z0 U ]");
}

TEST(PassPlanner, Update_ReducesTheNormWhereShardsDiffer) {
  EXPECT_EQ(plan_notation(PlanCase("", make_partly_frozen(), 2).update), "[ N2 N4 N5 M F A W2 W4 W5 P2 P4 P5 ]");
  EXPECT_EQ(plan_notation(PlanCase("", make_chain(2, 10), 2, 1, Strategy::None).update), "[ N0 N1 F W0 W1 ]");
  EXPECT_EQ(plan_notation(PlanCase("", make_chain(2, 10), 1).update), "[ N0 N1 F W0 W1 ]");
}

}  // namespace
}  // namespace shoal::test
