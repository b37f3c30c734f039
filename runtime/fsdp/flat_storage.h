#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "shoal/nn/parameter.h"
#include "shoal/optim/rule.h"
#include "shoal/runtime/device/device.h"
#include "shoal/runtime/fsdp/policies.h"
#include "shoal/runtime/fsdp/units.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::fsdp {

/// Neighbouring parts of parameters in the owned range that an optimizer's rule treats alike, in elements of the owned
/// range.
struct UpdateSlice {
  std::int64_t begin = 0;
  std::int64_t numel = 0;
  optim::ParameterInfo parameter;  // the first of them
};

/// What one rank owns of one flat parameter for good: under `full` its shard, under `none` the whole.
class FlatStorage {
 public:
  struct Options {
    int rank = 0;
    bool is_sharded = true;
    int num_state_tensors = 0;
    std::optional<float> padding;
  };

  /// `flat` must outlive the storage. Allocates weights and, for a trainable flat parameter, gradients and optimizer
  /// state; state is zero, the rest undefined until `materialise`.
  FlatStorage(Device& device, Stream& stream, const FlatParameter& flat, const Options& options);

  /// Owned elements [first, first + numel) of the flat parameter.
  std::int64_t first_element() const { return first_; }
  std::int64_t numel() const { return numel_; }

  const Tensor& weights() const { return weights_; }
  const Tensor& gradients() const { return gradients_; }
  std::span<const Tensor> state() const { return state_; }

  /// The parts of parameters in the owned range, which the padding between them does not belong to.
  const std::vector<SegmentPart>& parts() const { return parts_; }

  /// Calls fill(parameter index, first element, tensor) for every owned part.
  void materialise(const std::function<void(int parameter, std::int64_t first, const Tensor& values)>& fill) const;

  /// The calls that a rule needs to update the owned range.
  std::vector<UpdateSlice> update_slices(const optim::Rule& rule) const;

 private:
  Tensor allocate(Device& device, MemoryTag tag);

  const FlatParameter* flat_;
  std::int64_t first_ = 0;
  std::int64_t numel_ = 0;
  std::vector<Buffer> buffers_;
  Tensor weights_;
  Tensor gradients_;
  std::vector<Tensor> state_;
  std::vector<SegmentPart> parts_;
};

}  // namespace shoal::fsdp
