#include <fmt/format.h>

#include <memory>

#include "shoal/runtime/tools/config_file.h"
#include "shoal/runtime/tools/config_flags.h"
#include "shoal/runtime/tools/interrupt.h"
#include "shoal/runtime/tools/session.h"
#include "shoal/runtime/tools/train_listeners.h"
#include "shoal/runtime/train/data_registry.h"
#include "shoal/runtime/train/trainer.h"

namespace shoal::tools {
namespace {

constexpr std::int64_t kSampleLength = 200;

// Passes events on, and tells those concerned that the run has begun and whether it was cut short.
class StartNotingListener final : public train::TrainListener {
 public:
  StartNotingListener(Session& session, InterruptWatch& interrupts, std::unique_ptr<train::TrainListener> next)
      : session_(session), interrupts_(interrupts), next_(std::move(next)) {}

  void on_start(const train::StartEvent& event) override {
    session_.has_started = true;
    total_steps_ = event.total_steps;
    interrupts_.start_run();
    next_->on_start(event);
  }
  void on_step(const train::StepEvent& event) override { next_->on_step(event); }
  void on_eval(const train::EvalEvent& event) override { next_->on_eval(event); }
  void on_warning(std::string_view message) override { next_->on_warning(message); }
  void on_done(const train::TrainSummary& summary) override {
    session_.was_cut_short = summary.is_stopped;
    if (summary.is_stopped) {
      next_->on_warning(
          fmt::format("stopped by a signal after step {} of {}; the run is not complete", summary.steps, total_steps_));
    }
    next_->on_done(summary);
  }

 private:
  Session& session_;
  InterruptWatch& interrupts_;
  std::int64_t total_steps_ = 0;
  std::unique_ptr<train::TrainListener> next_;
};

}  // namespace

std::vector<FlagSpec> config_flag_specs() {
  std::vector<FlagSpec> specs;
  for (const ConfigFlag& flag : config_flags()) {
    specs.push_back({std::string(flag.name), std::string(flag.value_name), std::string(flag.help)});
  }
  specs.push_back({"config", "FILE", "a JSON object of these flags; flags on the command line win"});
  return specs;
}

train::TrainConfig read_config(const CommandLine& line) {
  train::TrainConfig config;
  if (line.has("config")) read_config_file(line.values.at("config"), config);
  // Both say how long to train, so either on the command line replaces either in the file.
  if (line.has("steps") || line.has("epochs")) {
    config.steps.reset();
    config.epochs.reset();
  }
  for (const auto& [name, value] : line.values) {
    if (name != "config") set_config_flag(config, name, value, "--");
  }
  return config;
}

CommandSpec train_command() {
  CommandSpec spec{"train", "trains a model sharded over ranks; by default ResNet-9 on Fashion-MNIST", {}};
  spec.flags = config_flag_specs();
  spec.flags.push_back({"json", "", "standard output is JSON lines, each with an event"});
  return spec;
}

void run_train(Session& session) {
  const train::TrainConfig config = train::resolve_config(read_config(session.line));
  InterruptWatch interrupts;
  const std::shared_ptr<const train::Dataset> dataset =
      train::load_data(config.data, config.model, config.seed, interrupts.stop_token());
  std::unique_ptr<train::TrainListener> listener;
  if (session.is_json) {
    listener = std::make_unique<JsonTrainListener>(session.output);
  } else {
    listener = std::make_unique<TextTrainListener>(session.output, [&](std::string_view text) { session.warn(text); });
  }
  StartNotingListener noting(session, interrupts, std::move(listener));
  train::TrainOptions options;
  options.stop = interrupts.stop_token();
  options.sample_length = session.is_json ? 0 : kSampleLength;
  options.log = [&session](LogLevel, std::string_view text) { session.warn(text); };
  train::run_training(config, dataset, noting, options);
}

}  // namespace shoal::tools
