#pragma once

#include <cstdint>
#include <span>

#include "shoal/runtime/train/dataset.h"

namespace shoal::train {

/// Which samples make up which batch: a pure function of (seed, global sample number), so that neither the world size
/// nor the thread that asks plays a part. Global batch b is samples [b * batch, (b + 1) * batch) of one endless
/// sequence; rank r of N takes the r-th of N equal contiguous slices.
class Sampler {
 public:
  /// `dataset` must outlive the sampler. Throws InvalidArgument where the batch exceeds an epoch, naming the largest
  /// that works.
  Sampler(const Dataset& dataset, std::uint64_t seed, std::int64_t global_batch);

  /// Whole batches in one epoch; samples that are left over come in other epochs, which are shuffled anew.
  std::int64_t steps_per_epoch() const { return steps_per_epoch_; }
  /// Batches that hold the test split, the last one padded; where targets are vectors, which cannot be padded, what
  /// does not fill a batch is left out.
  std::int64_t num_test_batches() const;

  /// samples[i] = sample `first + i` of training batch `batch` (0 for the first).
  void train_batch(std::int64_t batch, std::int64_t first, std::span<SampleRef> samples) const;
  /// The same of test batch `batch`, in order.
  void test_batch(std::int64_t batch, std::int64_t first, std::span<SampleRef> samples) const;

 private:
  SampleRef train_sample(std::int64_t global_number) const;

  const Dataset& dataset_;
  std::uint64_t seed_;
  std::int64_t global_batch_;
  std::int64_t steps_per_epoch_;
};

}  // namespace shoal::train
