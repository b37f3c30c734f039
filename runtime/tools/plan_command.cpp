#include <fmt/format.h>

#include "shoal/runtime/tools/json_lines.h"
#include "shoal/runtime/tools/session.h"
#include "shoal/runtime/tools/text_format.h"
#include "shoal/runtime/train/data_registry.h"
#include "shoal/runtime/train/run_setup.h"

namespace shoal::tools {
namespace {

// `writes_text`: a language model's run ends with text that it predicts byte by byte, as `train` does without --json.
PlanSummary summarise(const train::TrainConfig& config, bool writes_text) {
  const train::SampleSpec sample = train::expected_sample(config.data, config.model);
  const train::ModelSetup setup = train::model_setup(config, sample, writes_text && train::is_text(sample));
  const fsdp::PlannedModel planned = train::plan_run(setup);
  PlanSummary summary;
  summary.config = config;
  summary.num_parameters = planned.num_parameters();
  summary.num_units = static_cast<std::int64_t>(planned.units.units.size());
  summary.fingerprint = planned.fingerprint();
  summary.schedule = planned.describe();
  summary.predicted = train::with_inputs(planned.predicted, setup);
  train::check_memory_limit(config, summary.predicted);
  summary.arena_bytes = planned.arena_bytes;
  summary.train_wire = planned.train.wire;
  summary.update_wire = planned.update.wire;
  return summary;
}

std::string wire_text(const char* pass, const fsdp::WireBytes& wire) {
  return fmt::format("  {:<21}{:>12} gathered  {:>12} reduced  {:>12} of sums\n", pass, format_bytes(wire.gathered),
                     format_bytes(wire.reduced), format_bytes(wire.sums));
}

std::string to_text(const PlanSummary& summary) {
  const train::TrainConfig& config = summary.config;
  std::string text = summary.schedule;
  text += fmt::format("\n{}: {} parameters in {} units, {} over {} rank{}, batch {}\n", config.model,
                      format_count(summary.num_parameters), summary.num_units, config.strategy, config.ranks,
                      config.ranks == 1 ? "" : "s", *config.batch);
  text += fmt::format("plan fingerprint {:016x}\n\n", summary.fingerprint);
  text += format_memory({}, std::vector<MemoryBytes>(static_cast<std::size_t>(config.ranks), summary.predicted));
  text += fmt::format("  {:<21}{:>12}\n\n", "arena of the leases", format_bytes(summary.arena_bytes));
  text += "bytes on the wire, of each rank in each step\n";
  text += wire_text("training pass", summary.train_wire);
  text += wire_text("update pass", summary.update_wire);
  return text;
}

}  // namespace

CommandSpec plan_command() {
  CommandSpec spec{"plan", "the schedule of a training run, its proof, its memory and its traffic; runs nothing", {}};
  spec.flags = config_flag_specs();
  spec.flags.push_back({"json", "", "one JSON line, without the schedule, of what train --json would do"});
  return spec;
}

void run_plan(Session& session) {
  const PlanSummary summary = summarise(train::resolve_config(read_config(session.line)), !session.is_json);
  session.has_started = true;
  if (session.is_json) {
    session.output.write_line(plan_line(summary));
  } else {
    session.output.write(to_text(summary));
  }
}

}  // namespace shoal::tools
