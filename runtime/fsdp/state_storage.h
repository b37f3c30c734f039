#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shoal/nn/parameter.h"
#include "shoal/runtime/device/device.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::fsdp {

/// A model's state buffers on one rank: running values, and what a pass observes of those whose statistics are updated,
/// each as one flat tensor so that one small all-reduce serves all of them. Replicated, and equal on every rank.
class StateStorage {
 public:
  /// Running values are set to their initial values. `staged` names the buffers that are updated, in order of index.
  StateStorage(Device& device, Stream& stream, const std::vector<nn::StateBuffer*>& buffers,
               std::span<const int> staged);

  const Tensor& running(int index) const { return views_[static_cast<std::size_t>(index)].running; }
  /// None where the buffer is not updated.
  const Tensor& staged(int index) const { return views_[static_cast<std::size_t>(index)].staged; }
  const Tensor& all_staged() const { return staged_; }

  /// running += momentum * (staged / num_ranks - running) for what is updated; `staged` holds the sum over ranks.
  void update(Stream& stream, int num_ranks) const;

  /// Bytes held for buffers of `numel` elements together, of which `num_staged` are in buffers that are updated.
  static std::int64_t persistent_bytes(std::int64_t numel, std::int64_t num_staged) {
    return (numel + num_staged) * dtype_bytes(DType::F32);
  }

 private:
  struct View {
    Tensor running;
    Tensor staged;
  };
  struct Run {                 // neighbours that are updated, with one momentum
    std::int64_t running = 0;  // where they begin
    std::int64_t staged = 0;
    std::int64_t numel = 0;
    float momentum = 0;
  };
  void add_run(const Run& run);

  Buffer memory_;
  Tensor running_;
  Tensor staged_;
  std::vector<View> views_;
  std::vector<Run> runs_;
};

}  // namespace shoal::fsdp
