#pragma once

#include <cstdint>

#include "shoal/runtime/train/dataset.h"

namespace shoal::train {

/// Made-up samples of any shape, a pure function of (seed, split, index, element): inputs are standard normal or
/// uniform ids, targets uniform classes or ids, or standard normal vectors. Nothing in them can be generalised; a model
/// can learn them by heart, and a step costs what real data of that shape would cost.
class SyntheticDataset final : public Dataset {
 public:
  struct Options {
    std::int64_t train_size = 4096;
    std::int64_t test_size = 256;
    std::uint64_t seed = 0;
  };

  /// Throws InvalidArgument for sizes below 1, or where ids are wanted and there are no classes.
  SyntheticDataset(const SampleSpec& sample, const Options& options);

  std::int64_t size(Split split) const override {
    return split == Split::Train ? options_.train_size : options_.test_size;
  }

 protected:
  void fill_sample(Split split, std::int64_t index, void* inputs, void* targets) const override;

 private:
  Options options_;
};

}  // namespace shoal::train
