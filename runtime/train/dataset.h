#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "shoal/nn/model.h"

namespace shoal::train {

enum class Split { Train, Test };

/// "train", "test".
const char* split_name(Split split);

/// What one sample looks like.
struct SampleSpec {
  Shape inputs;  // without the batch dimension: (H, W, C), (T) or (F)
  DType inputs_dtype = DType::F32;
  Shape targets;  // () for a class, (T) for next ids, (F) for vectors
  DType targets_dtype = DType::I32;
  std::int64_t num_classes = 0;  // classes or ids; 0: the targets are vectors
};

/// Whether the samples are ids that a language model reads.
inline bool is_text(const SampleSpec& sample) { return sample.inputs_dtype == DType::I32; }

/// The shapes of `batch` samples together.
nn::BatchSpec batch_spec(const SampleSpec& sample, std::int64_t batch);

/// One sample of a batch.
struct SampleRef {
  static constexpr std::int64_t kPadding = -1;
  std::int64_t index = kPadding;  // which sample of the split; kPadding: zeros whose targets are ignored
  friend bool operator==(const SampleRef&, const SampleRef&) = default;
};

/// Samples that a model is trained on and tested with. Immutable once made: every method may be called from any number
/// of threads at once.
class Dataset {
 public:
  virtual ~Dataset() = default;
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;

  const std::string& name() const { return name_; }
  const SampleSpec& sample() const { return sample_; }
  /// What a counted target is, in the plural: "images", "tokens", "rows".
  const std::string& item_name() const { return item_name_; }

  /// Samples of the split: what SampleRef::index counts.
  virtual std::int64_t size(Split split) const = 0;
  /// Samples drawn in one epoch.
  virtual std::int64_t draws_per_epoch() const { return size(Split::Train); }
  /// Whether training draws samples independently (windows of a text) or visits each once an epoch.
  virtual bool draws_with_replacement() const { return false; }

  /// inputs[i] = inputs of samples[i], and so for targets; padding is zeros with targets of -1.
  /// `inputs` and `targets` are host memory of batch_spec(sample(), samples.size()). Throws InvalidArgument on shapes,
  /// dtypes or an index outside the split, and for padding where targets are vectors.
  void fill_batch(Split split, std::span<const SampleRef> samples, const Tensor& inputs, const Tensor& targets) const;

 protected:
  Dataset(std::string name, SampleSpec sample, std::string item_name)
      : name_(std::move(name)), sample_(std::move(sample)), item_name_(std::move(item_name)) {}

  /// One sample, which exists, into memory of its size.
  virtual void fill_sample(Split split, std::int64_t index, void* inputs, void* targets) const = 0;

 private:
  std::string name_;
  SampleSpec sample_;
  std::string item_name_;
};

}  // namespace shoal::train
