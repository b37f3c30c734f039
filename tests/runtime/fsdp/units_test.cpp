#include "shoal/runtime/fsdp/units.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "shoal/runtime/base/error.h"
#include "shoal/tests/support/synthetic_trace.h"

namespace shoal::test {
namespace {

using fsdp::Unit;
using fsdp::UnitTable;

UnitTable units_of(const SyntheticModel& model, const std::vector<std::string>& wrap_types = {}, int world_size = 2) {
  const fsdp::Policies policies{.strategy = fsdp::Strategy::Full, .prefetch = 1, .wrap_types = wrap_types};
  return fsdp::make_units(model.spec(), model.train_trace(), policies, world_size);
}

std::vector<std::string> names(const UnitTable& table) {
  std::vector<std::string> result;
  for (const Unit& unit : table.units) result.push_back(unit.name);
  return result;
}

const Unit& unit_named(const UnitTable& table, const std::string& name) {
  const auto at = std::find_if(table.units.begin(), table.units.end(), [&](const Unit& u) { return u.name == name; });
  if (at == table.units.end()) throw std::out_of_range(name);
  return *at;
}

/// Every parameter is in exactly one unit, and in one flat parameter of it, where its place says.
void expect_partition(const fsdp::ModelSpec& model, const UnitTable& table) {
  std::vector<int> seen(model.parameters.size(), 0);
  for (std::size_t u = 0; u < table.units.size(); ++u) {
    EXPECT_EQ(table.unit_of_module[static_cast<std::size_t>(table.units[u].module)], static_cast<int>(u));
    EXPECT_TRUE(u == 0 || table.units[u].module > table.units[u - 1].module);
    EXPECT_FALSE(table.units[u].parameters.empty());
    EXPECT_TRUE(std::is_sorted(table.units[u].parameters.begin(), table.units[u].parameters.end()));
    for (const int p : table.units[u].parameters) {
      ++seen[static_cast<std::size_t>(p)];
      const fsdp::ParameterPlace& place = table.places[static_cast<std::size_t>(p)];
      EXPECT_EQ(place.unit, static_cast<int>(u));
      const fsdp::FlatParameter& flat = table.flats[static_cast<std::size_t>(place.flat)];
      EXPECT_EQ(flat.unit, static_cast<int>(u));
      EXPECT_EQ(flat.layout.segments[static_cast<std::size_t>(place.segment)].parameter, p);
      EXPECT_EQ(flat.is_trainable, model.parameters[static_cast<std::size_t>(p)].is_trainable);
      EXPECT_EQ(std::count(table.units[u].flats.begin(), table.units[u].flats.end(), place.flat), 1);
    }
  }
  for (const int count : seen) EXPECT_EQ(count, 1);
}

TEST(Units, Chain_HasOneUnitPerMarkedModule_AndNoRootWithoutParameters) {
  const SyntheticModel model = make_chain(3, 100);
  const UnitTable table = units_of(model);
  EXPECT_EQ(names(table), (std::vector<std::string>{"layers.0", "layers.1", "layers.2"}));
  for (const Unit& unit : table.units) {
    EXPECT_TRUE(unit.is_leaf);
    EXPECT_EQ(unit.parent, -1);
  }
  expect_partition(model.spec(), table);
}

TEST(Units, TiedEmbedding_StaysInTheRoot_AndTheFinalNormBecomesALeaf) {
  const SyntheticModel model = make_tied_transformer(2, 16, 64, 8);
  const UnitTable table = units_of(model);
  EXPECT_EQ(names(table), (std::vector<std::string>{"(root)", "blocks.0", "blocks.1", "norm"}));
  EXPECT_FALSE(table.units[0].is_leaf);
  EXPECT_EQ(table.units[0].parameters, std::vector<int>{0});
  for (std::size_t u = 1; u < 4; ++u) {
    EXPECT_TRUE(table.units[u].is_leaf);
    EXPECT_EQ(table.units[u].parent, 0);
  }
  EXPECT_EQ(table.units[1].parameters.size(), 12U);
  expect_partition(model.spec(), table);
}

TEST(Units, WrapTypes_MakeUnitsBesideThoseMarkedByHand) {
  const SyntheticModel model = make_tied_transformer(2, 16, 64, 8);
  const UnitTable table = units_of(model, {"Linear"});
  // All of a block's parameters are in its layers; without any, the block is no unit.
  EXPECT_EQ(table.units.size(), 2U + 2 * 6);
  EXPECT_EQ(unit_named(table, "blocks.1.up").parameters.size(), 2U);
  EXPECT_EQ(unit_named(table, "blocks.1.up").parent, 0);
  expect_partition(model.spec(), table);
}

TEST(Units, WrapTypeThatMatchesNothing_IsRefusedNamingTheTypes) {
  try {
    units_of(make_tied_transformer(1, 16, 64, 8), {"Bolck"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    const std::string text = error.what();
    EXPECT_NE(text.find("'Bolck'"), std::string::npos) << text;
    EXPECT_NE(text.find("Block, Embedding, LayerNorm, Linear"), std::string::npos) << text;
  }
}

TEST(Units, ModelWithoutUnits_IsOneLeaf) {
  SyntheticModel model;
  const int root = model.add_module("", "Mlp", -1);
  model.enter(root);
  for (int i = 0; i < 3; ++i) {
    const std::string path = "layer" + std::to_string(i);
    const int module = model.add_module(path, "Linear", root);
    model.call(module, {.parameters = {model.add_parameter(module, path + ".weight", 10)}});
  }
  model.exit(root);
  const UnitTable table = units_of(model);
  EXPECT_EQ(names(table), std::vector<std::string>{"(root)"});
  EXPECT_TRUE(table.units[0].is_leaf);
  EXPECT_EQ(table.units[0].parameters.size(), 3U);
}

TEST(Units, ParameterUsedInTwoUnits_IsHoistedToTheUnitThatContainsBoth) {
  SyntheticModel model;
  const int root = model.add_module("", "Model", -1);
  const int stage = model.add_module("stage", "Stage", root, true);
  const int a = model.add_module("stage.a", "Block", stage, true);
  const int b = model.add_module("stage.b", "Block", stage, true);
  const int c = model.add_module("c", "Block", root, true);
  const int shared = model.add_parameter(a, "stage.a.shared", 10);
  const int of_a = model.add_parameter(a, "stage.a.weight", 10);
  const int of_b = model.add_parameter(b, "stage.b.weight", 10);
  const int everywhere = model.add_parameter(b, "stage.b.everywhere", 10);
  const int of_c = model.add_parameter(c, "c.weight", 10);
  model.enter(root);
  model.enter(stage);
  model.call(a, {.parameters = {shared, of_a, everywhere}});
  model.call(b, {.parameters = {shared, of_b}});
  model.exit(stage);
  model.call(c, {.parameters = {of_c, everywhere}});
  model.exit(root);
  const UnitTable table = units_of(model);
  EXPECT_EQ(unit_named(table, "stage").parameters, std::vector<int>{shared});
  EXPECT_EQ(unit_named(table, "(root)").parameters, std::vector<int>{everywhere});
  EXPECT_EQ(unit_named(table, "stage.a").parameters, std::vector<int>{of_a});
  EXPECT_FALSE(unit_named(table, "stage").is_leaf);
  EXPECT_EQ(table.units[static_cast<std::size_t>(unit_named(table, "stage.b").parent)].name, "stage");
  expect_partition(model.spec(), table);
}

TEST(Units, RootParametersUsedInTheRootItself_Stay) {
  SyntheticModel model = make_chain(2, 10);
  const int root = 0;
  const int position = model.add_parameter(root, "position", 30);
  model.enter(root);  // the root is called twice: what it uses is in no single call of one module below it
  model.run({.parameters = {position}});
  model.exit(root);
  const UnitTable table = units_of(model);
  EXPECT_EQ(unit_named(table, "(root)").parameters, std::vector<int>{position});
}

TEST(Units, ModuleCalledTwice_KeepsItsParametersInTheEnclosingUnit) {
  SyntheticModel model;
  const int root = model.add_module("", "Model", -1);
  const int norm = model.add_module("norm", "Norm", root);
  const int block = model.add_module("block", "Block", root, true);
  const int scale = model.add_parameter(norm, "norm.scale", 10);
  const int weight = model.add_parameter(block, "block.weight", 10);
  model.enter(root);
  model.call(norm, {.parameters = {scale}});
  model.call(block, {.parameters = {weight}});
  model.call(norm, {.parameters = {scale}});
  model.exit(root);
  EXPECT_EQ(names(units_of(model)), (std::vector<std::string>{"(root)", "block"}));
}

TEST(Units, LeafOfItsOwn_IsTheOutermostModuleThatContainsNoUnit) {
  SyntheticModel model;
  const int root = model.add_module("", "Model", -1);
  const int block = model.add_module("block", "Block", root, true);
  const int head = model.add_module("head", "Head", root);
  const int first = model.add_module("head.first", "Linear", head);
  const int second = model.add_module("head.second", "Linear", head);
  const int weight = model.add_parameter(block, "block.weight", 10);
  const int a = model.add_parameter(first, "head.first.weight", 10);
  const int b = model.add_parameter(second, "head.second.weight", 10);
  model.enter(root);
  model.call(block, {.parameters = {weight}});
  model.enter(head);
  model.call(first, {.parameters = {a}});
  model.call(second, {.parameters = {b}});
  model.exit(head);
  model.exit(root);
  const UnitTable table = units_of(model);
  EXPECT_EQ(names(table), (std::vector<std::string>{"block", "head"}));
  EXPECT_EQ(unit_named(table, "head").parameters, (std::vector<int>{a, b}));
}

TEST(Units, FrozenAndTrainable_AreFlatParametersOfTheirOwn) {
  SyntheticModel model;
  const int root = model.add_module("", "Model", -1);
  std::vector<int> all;
  for (int i = 0; i < 4; ++i) all.push_back(model.add_parameter(root, "p" + std::to_string(i), 65, i % 2 == 0));
  model.call(root, {.parameters = all});
  const UnitTable table = units_of(model, {}, 3);
  ASSERT_EQ(table.flats.size(), 2U);
  EXPECT_TRUE(table.flats[0].is_trainable);
  EXPECT_FALSE(table.flats[1].is_trainable);
  EXPECT_EQ(table.flats[1].layout.segments[1].name, "p3");
  EXPECT_EQ(table.flats[0].layout.world_size, 3);
  expect_partition(model.spec(), table);
}

TEST(Units, ParametersThatNothingUses_StayWithTheirModulesUnit) {
  SyntheticModel model = make_chain(2, 10);
  const int idle = model.add_parameter(2, "layers.1.idle", 5);
  const int loose = model.add_parameter(0, "loose", 5);
  const UnitTable table = units_of(model);
  EXPECT_EQ(unit_named(table, "layers.1").parameters, (std::vector<int>{1, idle}));
  EXPECT_EQ(unit_named(table, "(root)").parameters, std::vector<int>{loose});
  expect_partition(model.spec(), table);
}

}  // namespace
}  // namespace shoal::test
