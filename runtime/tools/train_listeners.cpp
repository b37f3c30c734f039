#include "shoal/runtime/tools/train_listeners.h"

#include <fmt/format.h>

#include <algorithm>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/base/int_math.h"
#include "shoal/runtime/tools/json_lines.h"
#include "shoal/runtime/tools/text_format.h"

namespace shoal::tools {
namespace {

constexpr std::chrono::milliseconds kRedraw{100};
constexpr int kPlainLines = 20;    // in a run
constexpr double kNewShare = 0.1;  // of the latest value in a running mean
constexpr const char* kEraseLine = "\r\x1b[K";
constexpr const char* kBold = "\x1b[1m";
constexpr const char* kPlain = "\x1b[0m";

void move_mean(double& mean, double value, bool is_first) {
  mean = is_first ? value : mean + kNewShare * (value - mean);
}

std::string describe_run(const train::StartEvent& event, const MachineInfo& machine) {
  const train::TrainConfig& config = event.config;
  return fmt::format(
      "{} ({} parameters) on {}: {} steps of {} over {} rank{} x {} worker{}, {} over {}, {} ({}), {}, lr {:g}\n",
      config.model, format_count(event.num_parameters), config.data, event.total_steps, *config.batch, config.ranks,
      config.ranks == 1 ? "" : "s", *config.threads, *config.threads == 1 ? "" : "s", config.strategy, config.backend,
      config.device, machine.isa, config.optimizer, *config.lr);
}

}  // namespace

void JsonTrainListener::on_start(const train::StartEvent& event) {
  output_.write_line(start_line(event, machine_info()));
}
void JsonTrainListener::on_step(const train::StepEvent& event) { output_.write_line(step_line(event)); }
void JsonTrainListener::on_eval(const train::EvalEvent& event) { output_.write_line(eval_line(event)); }
void JsonTrainListener::on_warning(std::string_view message) { output_.write_line(warning_line(message)); }
void JsonTrainListener::on_done(const train::TrainSummary& summary) { output_.write_line(done_line(summary)); }

TextTrainListener::~TextTrainListener() {
  if (!has_open_line_) return;
  try {
    output_.write("\n");
  } catch (const Error&) {
    return;  // what cannot be written to any more was reported where a line was lost
  }
}

void TextTrainListener::print_line(const std::string& text) {
  output_.write((has_open_line_ ? kEraseLine : "") + text + "\n");
  has_open_line_ = false;
}

void TextTrainListener::on_start(const train::StartEvent& event) {
  item_name_ = event.item_name;
  total_steps_ = event.total_steps;
  steps_per_epoch_ = event.steps_per_epoch;
  output_.write(describe_run(event, machine_info()));
}

double TextTrainListener::seconds_left(const train::StepEvent& event) const {
  return static_cast<double>(total_steps_ - event.step) * step_seconds_;
}

std::string TextTrainListener::progress_text(const train::StepEvent& event) const {
  const std::int64_t epoch = ceil_div(event.step, steps_per_epoch_);
  const std::int64_t num_epochs = ceil_div(total_steps_, steps_per_epoch_);
  return fmt::format("epoch {}/{}  step {}/{}  loss {:.4f}  {:.0f} {}/s  {} left", epoch, num_epochs, event.step,
                     total_steps_, smooth_loss_, items_per_step_ / step_seconds_, item_name_,
                     format_seconds(seconds_left(event)));
}

void TextTrainListener::on_step(const train::StepEvent& event) {
  const bool is_first = event.step == 1;
  move_mean(step_seconds_, event.ms / 1e3, is_first);
  items_per_step_ = event.items_per_s * event.ms / 1e3;
  move_mean(smooth_loss_, event.loss, is_first);
  const bool is_last = event.step == total_steps_;
  if (output_.is_terminal()) {
    const auto now = Clock::now();
    if (!is_last && now - last_drawn_ < kRedraw) return;
    last_drawn_ = now;
    output_.write(kEraseLine + progress_text(event));
    has_open_line_ = true;
    return;
  }
  const std::int64_t every = std::max<std::int64_t>(1, total_steps_ / kPlainLines);
  if (!is_first && !is_last && event.step - last_printed_step_ < every) return;
  last_printed_step_ = event.step;
  print_line(progress_text(event));
}

void TextTrainListener::on_eval(const train::EvalEvent& event) {
  const std::string accuracy =
      event.accuracy ? fmt::format(", accuracy {:.2f} %", 100 * *event.accuracy) : std::string();
  print_line(fmt::format("test after step {}: loss {:.4f}{}", event.step, event.loss, accuracy));
}

void TextTrainListener::on_warning(std::string_view message) {
  // Erased rather than ended: the next step draws it again.
  if (has_open_line_) output_.write(kEraseLine);
  has_open_line_ = false;
  warn_(message);
}

void TextTrainListener::on_done(const train::TrainSummary& summary) {
  if (!summary.sample.empty()) print_line(fmt::format("\nwhat the model writes:\n{}\n", printable(summary.sample)));
  const bool has_colour = output_.is_terminal();
  std::string text = fmt::format("{}{} {} of {} steps{}\n", has_colour ? kBold : "",
                                 summary.is_stopped ? "stopped after" : "done:", summary.steps, total_steps_,
                                 has_colour ? kPlain : "");
  if (summary.steps > 0) text += fmt::format("  {:<21}{:>12.4f}\n", "loss of the last step", summary.loss);
  if (summary.accuracy) text += fmt::format("  {:<21}{:>10.2f} %\n", "test accuracy", 100 * *summary.accuracy);
  text += fmt::format("  {:<21}{:>12.0f}\n", item_name_ + "/s", summary.items_per_s);
  text += fmt::format("  {:<21}{:016x}\n", "weights hash", summary.weights_hash);
  text += format_memory(summary.peak_bytes, summary.predicted_bytes);
  if (!text.empty() && text.back() == '\n') text.pop_back();
  print_line(text);
}

}  // namespace shoal::tools
