#pragma once

#include <cstdint>
#include <vector>

#include "shoal/nn/binding.h"
#include "shoal/nn/module.h"
#include "shoal/runtime/device/device.h"

namespace shoal::nn {

/// Binds a model to memory of its own, unsharded: every parameter, gradient and state buffer in full on one device. The
/// simplest way to run a model, and the reference for the others.
class DirectBinding final : public Binding {
 public:
  /// Finalizes `root`, allocates, and fills parameters with their initial values for `seed`. `root` must outlive it.
  DirectBinding(Stream& stream, Module& root, std::uint64_t seed);

  Tensor value(const Parameter& parameter) override { return values_[checked(parameter)].tensor; }
  kernels::GradTarget gradient(const Parameter& parameter) override;
  Tensor running(const StateBuffer& buffer) override { return running_[checked(buffer)].tensor; }
  Tensor staged(const StateBuffer& buffer) override;
  void enter(const Module& module, Phase phase) override;
  void exit(const Module& module, Phase phase) override;

  /// Starts a new sum: gradients are written by the next backward, and read as zero until then.
  void zero_gradients();
  /// What has arrived since zero_gradients(); none for a frozen parameter.
  Tensor gradient_so_far(const Parameter& parameter) const { return gradients_[checked(parameter)].tensor; }

  /// Whether training forwards leave new statistics (the default).
  void set_stages_statistics(bool stages) { stages_statistics_ = stages; }
  /// Moves running statistics towards those that were left since the last call.
  void update_running_statistics();

 private:
  struct Place {
    Buffer memory;
    Tensor tensor;
  };

  Place allocate(const Shape& shape, MemoryTag tag);
  std::size_t checked(const Parameter& parameter) const;
  std::size_t checked(const StateBuffer& buffer) const;

  Stream* stream_;
  std::vector<Parameter*> parameters_;
  std::vector<StateBuffer*> state_buffers_;
  std::vector<Place> values_;     // by parameter index
  std::vector<Place> gradients_;  // by parameter index; none where frozen
  std::vector<bool> is_written_;  // by parameter index: a gradient is there to be added to
  std::vector<Place> running_;    // by buffer index
  std::vector<Place> staged_;     // by buffer index
  std::vector<bool> is_staged_;   // by buffer index
  bool stages_statistics_ = true;
};

}  // namespace shoal::nn
