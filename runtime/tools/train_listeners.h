#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "shoal/runtime/tools/output.h"
#include "shoal/runtime/train/train_events.h"

namespace shoal::tools {

/// A run as JSON lines.
class JsonTrainListener final : public train::TrainListener {
 public:
  explicit JsonTrainListener(Output& output) : output_(output) {}

  void on_start(const train::StartEvent& event) override;
  void on_step(const train::StepEvent& event) override;
  void on_eval(const train::EvalEvent& event) override;
  void on_warning(std::string_view message) override;
  void on_done(const train::TrainSummary& summary) override;

 private:
  Output& output_;
};

/// A run for people: one line that moves on a terminal, otherwise a plain line now and then; tables at the end.
/// Warnings go to `warn`, while no line stands open.
class TextTrainListener final : public train::TrainListener {
 public:
  using Warn = std::function<void(std::string_view message)>;

  TextTrainListener(Output& output, Warn warn) : output_(output), warn_(std::move(warn)) {}
  /// Ends the line that stands open, so that what is printed next (an error) begins a line of its own.
  ~TextTrainListener() override;

  void on_start(const train::StartEvent& event) override;
  void on_step(const train::StepEvent& event) override;
  void on_eval(const train::EvalEvent& event) override;
  void on_warning(std::string_view message) override;
  void on_done(const train::TrainSummary& summary) override;

 private:
  using Clock = std::chrono::steady_clock;

  std::string progress_text(const train::StepEvent& event) const;
  void print_line(const std::string& text);
  double seconds_left(const train::StepEvent& event) const;

  Output& output_;
  Warn warn_;
  std::string item_name_;
  std::int64_t total_steps_ = 0;
  std::int64_t steps_per_epoch_ = 1;
  double items_per_step_ = 0;
  double step_seconds_ = 0;  // a running mean, for the rate and the time left: single steps are told unevenly
  double smooth_loss_ = 0;   // likewise
  Clock::time_point last_drawn_{};
  std::int64_t last_printed_step_ = 0;
  bool has_open_line_ = false;  // the progress line stands on the terminal without its end
};

}  // namespace shoal::tools
