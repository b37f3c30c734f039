#pragma once

#include <functional>
#include <string>
#include <vector>

#include "shoal/runtime/train/train_events.h"

namespace shoal::test {

/// Keeps what a run says, as one word per event and as the events themselves.
class RecordingListener final : public train::TrainListener {
 public:
  void on_start(const train::StartEvent& event) override {
    words.push_back("start");
    total_steps = event.total_steps;
    num_parameters = event.num_parameters;
    fingerprint = event.plan_fingerprint;
  }
  void on_step(const train::StepEvent& event) override {
    words.push_back("step");
    steps.push_back(event);
    if (hear_step) hear_step(event);
  }
  void on_eval(const train::EvalEvent& event) override {
    words.push_back("eval");
    evals.push_back(event);
  }
  void on_warning(std::string_view message) override { warnings.emplace_back(message); }
  void on_done(const train::TrainSummary&) override { words.push_back("done"); }

  std::function<void(const train::StepEvent&)> hear_step;
  std::vector<std::string> words;  // warnings left out: they depend on the machine
  std::vector<std::string> warnings;
  std::vector<train::StepEvent> steps;
  std::vector<train::EvalEvent> evals;
  std::int64_t total_steps = 0;
  std::int64_t num_parameters = 0;
  std::uint64_t fingerprint = 0;
};

}  // namespace shoal::test
