#include "shoal/runtime/train/sampler.h"

#include <fmt/format.h>

#include "shoal/runtime/base/counter_rng.h"
#include "shoal/runtime/base/error.h"
#include "shoal/runtime/base/hash.h"
#include "shoal/runtime/base/int_math.h"

namespace shoal::train {

Sampler::Sampler(const Dataset& dataset, std::uint64_t seed, std::int64_t global_batch)
    : dataset_(dataset),
      seed_(seed),
      global_batch_(global_batch),
      steps_per_epoch_(global_batch < 1 ? 0 : dataset.draws_per_epoch() / global_batch) {
  if (steps_per_epoch_ < 1) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[sampler] a batch of {} does not fit into an epoch of {}; a batch of 1 to {} does", global_batch,
                     dataset.name(), dataset.draws_per_epoch()));
  }
}

std::int64_t Sampler::num_test_batches() const {
  const std::int64_t num_samples = dataset_.size(Split::Test);
  const bool can_pad = dataset_.sample().targets_dtype == DType::I32;
  return can_pad ? ceil_div(num_samples, global_batch_) : num_samples / global_batch_;
}

SampleRef Sampler::train_sample(std::int64_t global_number) const {
  const std::int64_t size = dataset_.size(Split::Train);
  if (dataset_.draws_with_replacement()) {
    static const std::uint64_t draw_sequence = hash_text("train draw");
    const auto words = philox4x32(seed_, static_cast<std::uint64_t>(global_number), draw_sequence);
    const std::uint64_t word = (std::uint64_t{words[0]} << 32) | words[1];
    return {static_cast<std::int64_t>(word % static_cast<std::uint64_t>(size))};
  }
  static const std::uint64_t shuffle_sequence = hash_text("train shuffle");
  const std::int64_t epoch_samples = steps_per_epoch_ * global_batch_;
  const std::int64_t epoch = global_number / epoch_samples;
  return {counter_shuffle(seed_, shuffle_sequence + static_cast<std::uint64_t>(epoch), global_number % epoch_samples,
                          size)};
}

void Sampler::train_batch(std::int64_t batch, std::int64_t first, std::span<SampleRef> samples) const {
  const std::int64_t begin = batch * global_batch_ + first;
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = train_sample(begin + static_cast<std::int64_t>(i));
}

void Sampler::test_batch(std::int64_t batch, std::int64_t first, std::span<SampleRef> samples) const {
  const std::int64_t begin = batch * global_batch_ + first;
  const std::int64_t size = dataset_.size(Split::Test);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::int64_t index = begin + static_cast<std::int64_t>(i);
    samples[i] = {index < size ? index : SampleRef::kPadding};
  }
}

}  // namespace shoal::train
