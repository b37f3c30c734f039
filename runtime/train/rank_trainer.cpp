#include "shoal/runtime/train/rank_trainer.h"

#include <fmt/format.h>

#include <cmath>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/train/generate.h"

namespace shoal::train {
namespace {

std::optional<InputRing> make_window(Device& device, const ModelSetup& setup) {
  std::optional<InputRing> window;
  if (setup.shard.predict_batch) window.emplace(device, *setup.shard.predict_batch, 1);
  return window;
}

// A NaN's sign says nothing.
std::string to_text(double value) { return std::isnan(value) ? "nan" : fmt::format("{}", value); }

}  // namespace

RankTrainer::RankTrainer(SharedRun& run, RankContext& rank)
    : run_(run),
      rank_(rank),
      model_(make_model(run.setup)),
      inputs_(rank.device, run.setup.shard.train_batch, kInputSlots),
      window_(make_window(rank.device, run.setup)),
      sharded_(*model_, rank.device, rank.world, optim::make_rule(run.setup.optimizer, run.setup.rule),
               run.setup.shard) {
  if (sharded_.plan_fingerprint() != run.plan_fingerprint) {
    fail(ErrorCode::Internal,
         fmt::format("[train] rank {} planned {:016x}, the run {:016x}; the same model and policies have to give the "
                     "same plan",
                     rank.rank, sharded_.plan_fingerprint(), run.plan_fingerprint));
  }
}

bool RankTrainer::may_go_on() {
  summary_.is_stopped = summary_.is_stopped || !run_.stop.may_run(rank_.rank, iterations_++);
  return !summary_.is_stopped;
}

Prefetcher RankTrainer::prefetch(Split split, std::int64_t first, std::int64_t count) {
  const std::int64_t num_samples = run_.setup.shard.train_batch.inputs[0];
  std::vector<SampleRef> samples(static_cast<std::size_t>(num_samples));
  const auto fill = [this, split, first, begin = rank_.rank * num_samples, samples](std::int64_t item,
                                                                                    int slot) mutable {
    if (split == Split::Train) {
      run_.sampler.train_batch(first + item, begin, samples);
    } else {
      run_.sampler.test_batch(first + item, begin, samples);
    }
    const nn::Batch& batch = inputs_.slot(slot);
    run_.dataset->fill_batch(split, samples, batch.inputs, batch.targets);
  };
  return Prefetcher(inputs_.num_slots(), count, fill);
}

void RankTrainer::hear_report(const fsdp::StepReport& report) {
  const Clock::time_point now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - last_report_).count();
  last_report_ = now;
  train_seconds_ += seconds;
  num_items_ += report.count;
  summary_.steps = report.step;
  summary_.loss = report.mean_loss();
  const double lr = optim::lr_at(run_.length.schedule, *run_.config.lr, report.step);
  if (!std::isfinite(summary_.loss)) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[train] the loss of step {} is {}; a lower --lr (it was {:g}) or a --clip-norm may work",
                     report.step, to_text(summary_.loss), lr));
  }
  if (!is_first()) return;
  if (report.is_skipped) {
    run_.listener->on_warning(
        fmt::format("step {} changed nothing: the norm of its gradient is {}", report.step, to_text(report.grad_norm)));
  }
  run_.listener->on_step({report.step, summary_.loss, lr, report.grad_norm, seconds * 1e3, report.count / seconds});
}

void RankTrainer::train_steps(std::int64_t first, std::int64_t count) {
  Prefetcher batches = prefetch(Split::Train, first, count);
  // Inside the prefetcher's life, which ends no sooner than the data set gives back the thread that fills batches.
  run_or_abort(rank_, [&] {
    last_report_ = Clock::now();
    for (std::int64_t step = first; step < first + count && may_go_on(); ++step) {
      const int slot = batches.take(deadline());
      const fsdp::StepSettings settings{optim::lr_at(run_.length.schedule, *run_.config.lr, step + 1),
                                        *run_.config.clip_norm};
      const auto report = sharded_.train_step(inputs_.slot(slot), settings);
      if (!report) continue;
      batches.give_back();
      hear_report(*report);
    }
    // The last step's report; its batch goes back with the ring.
    if (const auto report = sharded_.finish()) hear_report(*report);
  });
}

void RankTrainer::evaluate() {
  const std::int64_t num_batches = run_.sampler.num_test_batches();
  if (num_batches == 0 && is_first()) {
    run_.listener->on_warning(fmt::format("no evaluation: the {} test samples do not fill a batch of {}",
                                          run_.dataset->size(Split::Test), *run_.config.batch));
  }
  if (num_batches == 0) return;
  Prefetcher batches = prefetch(Split::Test, 0, num_batches);
  run_or_abort(rank_, [&] { evaluate_batches(batches, num_batches); });
}

void RankTrainer::evaluate_batches(Prefetcher& batches, std::int64_t num_batches) {
  fsdp::StepReport sums;
  for (std::int64_t i = 0; i < num_batches; ++i) {
    if (!may_go_on()) return;
    const int slot = batches.take(deadline());
    const fsdp::StepReport report = sharded_.evaluate(inputs_.slot(slot));
    batches.give_back();
    sums.loss_sum += report.loss_sum;
    sums.count += report.count;
    sums.correct += report.correct;
  }
  const bool has_classes = run_.dataset->sample().targets_dtype == DType::I32;
  if (has_classes) summary_.accuracy = sums.correct / sums.count;
  if (is_first()) run_.listener->on_eval({summary_.steps, sums.mean_loss(), summary_.accuracy});
}

void RankTrainer::train() {
  const RunLength& length = run_.length;
  std::int64_t step = 0;
  while (step < length.total_steps && !summary_.is_stopped) {
    const std::int64_t count = std::min(length.steps_per_epoch, length.total_steps - step);
    train_steps(step, count);
    step += count;
    if (!summary_.is_stopped) evaluate();
  }
  finish();
}

void RankTrainer::finish() {
  summary_.items_per_s = train_seconds_ > 0 ? num_items_ / train_seconds_ : 0;
  const fsdp::ShardedModel::Hashes hashes = sharded_.hashes();
  summary_.weights_hash = hashes.weights;
  summary_.state_hash = hashes.state;
  if (window_ && !summary_.is_stopped) {
    const GenerateOptions options{.length = run_.sample_length, .seed = run_.config.seed};
    summary_.sample = generate_text(sharded_, window_->slot(0).inputs, options);
  }
  summary_.predicted_bytes = {with_inputs(sharded_.predicted_bytes(), run_.setup)};
  summary_.peak_bytes = {rank_.device.ledger().peak()};
  run_.summaries[static_cast<std::size_t>(rank_.rank)] = summary_;
}

}  // namespace shoal::train
