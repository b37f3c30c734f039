#pragma once

#include <cstdint>
#include <vector>

#include "shoal/nn/parameter.h"
#include "shoal/runtime/device/device.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::fsdp {

/// A model's state buffers on one rank: running values, and what this pass staged, each as one flat tensor so that one
/// small all-reduce serves all of them. Replicated, and equal on every rank.
class StateStorage {
 public:
  /// Running values are set to their initial values.
  StateStorage(Device& device, Stream& stream, const std::vector<nn::StateBuffer*>& buffers);

  bool is_empty() const { return views_.empty(); }
  const Tensor& running(int index) const { return views_[static_cast<std::size_t>(index)].running; }
  const Tensor& staged(int index) const { return views_[static_cast<std::size_t>(index)].staged; }
  const Tensor& all_staged() const { return staged_; }

  /// running += momentum * (staged / num_ranks - running), where `staged` holds the sum over ranks.
  void update(Stream& stream, int num_ranks) const;

  /// Bytes held for buffers of `numel` elements together.
  static std::int64_t persistent_bytes(std::int64_t numel) { return 2 * numel * dtype_bytes(DType::F32); }

 private:
  struct View {
    Tensor running;
    Tensor staged;
  };
  struct Run {  // neighbours with one momentum
    std::int64_t begin = 0;
    std::int64_t numel = 0;
    float momentum = 0;
  };
  Buffer memory_;
  Tensor running_;
  Tensor staged_;
  std::vector<View> views_;
  std::vector<Run> runs_;
};

}  // namespace shoal::fsdp
