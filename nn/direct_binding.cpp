#include "shoal/nn/direct_binding.h"

#include <fmt/format.h>

#include "shoal/kernels/fill.h"
#include "shoal/kernels/moving_average.h"
#include "shoal/nn/initial_values.h"
#include "shoal/runtime/base/error.h"

namespace shoal::nn {
namespace {

template <typename T>
std::size_t checked_index(const std::vector<T*>& known, const T& wanted) {
  const auto index = static_cast<std::size_t>(wanted.index);
  if (wanted.index < 0 || index >= known.size() || known[index] != &wanted) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[nn::DirectBinding] '{}' is not a part of the model that was bound", wanted.name));
  }
  return index;
}

}  // namespace

DirectBinding::DirectBinding(Stream& stream, Module& root, std::uint64_t seed) : stream_(&stream) {
  root.finalize();
  parameters_ = root.parameters();
  state_buffers_ = root.state_buffers();
  for (const Parameter* parameter : parameters_) {
    values_.push_back(allocate(parameter->shape, MemoryTag::Parameters));
    fill_initial(stream, *parameter, seed, 0, values_.back().tensor);
    gradients_.push_back(parameter->is_trainable ? allocate(parameter->shape, MemoryTag::Gradients) : Place());
  }
  is_written_.assign(parameters_.size(), false);
  for (const StateBuffer* buffer : state_buffers_) {
    running_.push_back(allocate(buffer->shape, MemoryTag::Buffers));
    staged_.push_back(allocate(buffer->shape, MemoryTag::Buffers));
    kernels::fill(stream, running_.back().tensor, buffer->initial);
  }
  is_staged_.assign(state_buffers_.size(), false);
  zero_gradients();
}

DirectBinding::Place DirectBinding::allocate(const Shape& shape, MemoryTag tag) {
  Place place;
  place.memory = stream_->device().allocate(shape.numel() * dtype_bytes(DType::F32), tag);
  place.tensor = Tensor(place.memory.data(), shape, DType::F32);
  return place;
}

std::size_t DirectBinding::checked(const Parameter& parameter) const { return checked_index(parameters_, parameter); }
std::size_t DirectBinding::checked(const StateBuffer& buffer) const { return checked_index(state_buffers_, buffer); }

kernels::GradTarget DirectBinding::gradient(const Parameter& parameter) {
  const std::size_t index = checked(parameter);
  if (!gradients_[index].tensor.is_defined()) return {};
  const bool accumulate = is_written_[index];
  is_written_[index] = true;
  return {gradients_[index].tensor, accumulate};
}

Tensor DirectBinding::staged(const StateBuffer& buffer) {
  const std::size_t index = checked(buffer);
  if (!stages_statistics_) return {};
  is_staged_[index] = true;
  return staged_[index].tensor;
}

void DirectBinding::enter(const Module& module, Phase phase) {
  (void)module;  // everything is always there
  (void)phase;
}

void DirectBinding::exit(const Module& module, Phase phase) {
  (void)module;
  (void)phase;
}

void DirectBinding::zero_gradients() {
  for (const Place& gradient : gradients_) {
    if (gradient.tensor.is_defined()) kernels::fill(*stream_, gradient.tensor, 0);
  }
  is_written_.assign(is_written_.size(), false);
}

void DirectBinding::update_running_statistics() {
  for (std::size_t index = 0; index < state_buffers_.size(); ++index) {
    if (!is_staged_[index]) continue;
    kernels::update_moving_average(*stream_, staged_[index].tensor, 1, state_buffers_[index]->momentum,
                                   running_[index].tensor);
    is_staged_[index] = false;
  }
}

}  // namespace shoal::nn
