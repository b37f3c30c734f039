#include "shoal/tests/support/plan_cases.h"

#include <random>
#include <stdexcept>
#include <utility>

namespace shoal::test {

PlanCase::PlanCase(std::string case_name, const SyntheticModel& synthetic, int world, int prefetch,
                   fsdp::Strategy strategy)
    : name(std::move(case_name)),
      model(synthetic.spec()),
      policies{.strategy = strategy, .prefetch = prefetch, .wrap_types = {}},
      world_size(world),
      train_trace(synthetic.train_trace()),
      evaluate_trace(synthetic.evaluate_trace()),
      units(fsdp::make_units(model, train_trace, policies, world)),
      train(fsdp::plan_pass(train_trace, input())),
      evaluate(fsdp::plan_pass(evaluate_trace, input())),
      update(fsdp::plan_update(input())) {}

const fsdp::Trace& PlanCase::trace_of(const fsdp::Plan& plan) const {
  if (plan.kind == fsdp::PassKind::Train) return train_trace;
  return plan.kind == fsdp::PassKind::Evaluate ? evaluate_trace : no_trace;
}

int PlanCase::unit(const std::string& unit_name) const {
  for (std::size_t u = 0; u < units.units.size(); ++u) {
    if (units.units[u].name == unit_name) return static_cast<int>(u);
  }
  throw std::out_of_range(unit_name);
}

SyntheticModel make_nested() {
  SyntheticModel model;
  const int root = model.add_module("", "Nested", -1);
  model.enter(root);
  for (const char* stage_name : {"first", "second"}) {
    const std::string stage_path = stage_name;
    const int stage = model.add_module(stage_path, "Stage", root, true);
    const int scale = model.add_parameter(stage, stage_path + ".scale", 100);
    model.enter(stage);
    model.run({.parameters = {scale}, .output_bytes = 320});
    for (const char* block_name : {"a", "b"}) {
      const std::string path = stage_path + "." + block_name;
      const int block = model.add_module(path, "Block", stage, true);
      const int weight = model.add_parameter(block, path + ".weight", 700);
      model.call(block, {.parameters = {weight}, .output_bytes = 4096, .workspace_bytes = 640});
    }
    model.run({.parameters = {scale}, .output_bytes = 320});
    model.exit(stage);
  }
  model.exit(root);
  return model;
}

SyntheticModel make_partly_frozen() {
  SyntheticModel model;
  const int root = model.add_module("", "PartlyFrozen", -1);
  model.enter(root);
  for (int i = 0; i < 5; ++i) {
    const std::string path = "layers." + std::to_string(i);
    const int module = model.add_module(path, "Layer", root, true);
    std::vector<int> parameters = {model.add_parameter(module, path + ".weight", 300 + 100 * i, i >= 3)};
    if (i == 2) parameters.push_back(model.add_parameter(module, path + ".adapter", 50));
    model.call(module, {.parameters = parameters, .output_bytes = 1024, .reads_in_backward = i != 0});
  }
  model.exit(root);
  return model;
}

SyntheticModel make_without_backward_reads() {
  SyntheticModel model;
  const int root = model.add_module("", "Biases", -1);
  model.enter(root);
  for (int i = 0; i < 6; ++i) {
    const std::string path = "layers." + std::to_string(i);
    const int module = model.add_module(path, "Layer", root, true);
    const int weight = model.add_parameter(module, path + ".weight", 500);
    model.call(module, {.parameters = {weight}, .output_bytes = 2048, .reads_in_backward = i % 2 == 1});
  }
  model.exit(root);
  return model;
}

SyntheticModel make_partly_unreached() {
  SyntheticModel model;
  const int root = model.add_module("", "Unreached", -1);
  const int loose = model.add_module("loose", "Layer", root, true);
  model.add_parameter(loose, "loose.weight", 80);
  model.add_parameter(root, "unused", 10);
  model.enter(root);
  for (int i = 0; i < 4; ++i) {
    const std::string path = "layers." + std::to_string(i);
    const int module = model.add_module(path, "Layer", root, true);
    const int weight = model.add_parameter(module, path + ".weight", 500);
    model.set_recording(i >= 1);
    model.call(module, {.parameters = {weight}, .output_bytes = 2048});
    model.set_recording(true);
  }
  model.exit(root);
  return model;
}

SyntheticModel make_with_state() {
  SyntheticModel model = make_chain(3, 200, 1024);
  model.stage_state(30);
  model.stage_state(3);
  return model;
}

namespace {

/// Grows a random model depth first.
class RandomGrowth {
 public:
  explicit RandomGrowth(std::uint32_t seed) : random_(seed) {
    const int root = model.add_module("", "Random", -1);
    // Something that trains; the rest is left to chance.
    const int first = model.add_parameter(root, "first", 100);
    model.enter(root);
    model.run({.parameters = {first}, .output_bytes = 512});
    fill(root, "", 0);
    model.exit(root);
    if (below(3) == 0) model.stage_state(17);
  }

  SyntheticModel model;

 private:
  int below(int bound) { return static_cast<int>(random_() % static_cast<std::uint32_t>(bound)); }

  void fill(int module, const std::string& path, int depth) {
    std::vector<int> own;
    for (int i = below(3); i >= 0; --i) {
      const std::string name = path + "p" + std::to_string(i);
      own.push_back(model.add_parameter(module, name, below(8) == 0 ? 0 : 1 + below(900), below(4) != 0));
    }
    if (depth > 0 && below(10) == 0) return;  // never entered
    const bool was_recording = is_recording_;
    set_recording(was_recording && (depth == 0 || below(8) != 0));
    if (depth > 0) model.enter(module);
    run(own);
    for (int i = depth < 3 ? below(4) : 0; i > 0; --i) {
      const std::string child = path + "m" + std::to_string(i) + ".";
      fill(model.add_module(child, "Block", module, below(3) != 0), child, depth + 1);
      if (below(2) == 0) run(own);
    }
    if (depth > 0) model.exit(module);
    set_recording(was_recording);
  }

  void set_recording(bool is_recording) {
    is_recording_ = is_recording;
    model.set_recording(is_recording);
  }

  void run(const std::vector<int>& own) {
    std::vector<int> used;
    for (const int parameter : own) {
      if (below(3) != 0) used.push_back(parameter);
    }
    model.run({.parameters = used,
               .output_bytes = 16 * (1 + below(300)),
               .workspace_bytes = below(2) * 640,
               .reads_in_backward = below(3) != 0});
  }

  std::mt19937 random_;
  bool is_recording_ = true;
};

}  // namespace

SyntheticModel make_random(std::uint32_t seed) { return RandomGrowth(seed).model; }

std::vector<std::unique_ptr<PlanCase>> make_plan_cases() {
  using fsdp::Strategy;
  std::vector<std::unique_ptr<PlanCase>> cases;
  const auto add = [&](const char* name, const SyntheticModel& model, int world, int prefetch,
                       Strategy strategy = Strategy::Full) {
    cases.push_back(std::make_unique<PlanCase>(name, model, world, prefetch, strategy));
  };
  add("chain of one", make_chain(1, 100), 2, 1);
  add("chain", make_chain(5, 100), 2, 1);
  add("chain without prefetch", make_chain(4, 100, 8192), 3, 0);
  add("chain with prefetch 2", make_chain(5, 1000, 64), 4, 2);
  add("chain with prefetch 3", make_chain(6, 500, 2048), 2, 3);
  add("chain that is replicated", make_chain(4, 100), 3, 1, Strategy::None);
  add("chain on one rank", make_chain(4, 100), 1, 1);
  add("tied root", make_tied_transformer(2, 16, 64, 8), 2, 1);
  add("tied root with prefetch 2", make_tied_transformer(3, 16, 64, 8), 4, 2);
  add("nested", make_nested(), 2, 1);
  add("nested without prefetch", make_nested(), 3, 0);
  add("partly frozen", make_partly_frozen(), 3, 1);
  add("without backward reads", make_without_backward_reads(), 2, 2);
  add("partly unreached", make_partly_unreached(), 2, 1);
  add("partly unreached, replicated", make_partly_unreached(), 2, 1, Strategy::None);
  add("with state", make_with_state(), 2, 1);
  add("with state, replicated", make_with_state(), 4, 1, Strategy::None);
  return cases;
}

}  // namespace shoal::test
