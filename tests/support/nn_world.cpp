#include "shoal/tests/support/nn_world.h"

#include <cstring>

#include "shoal/runtime/base/error.h"

namespace shoal::test {

TensorAllocator::Leased RecordingAllocator::acquire(const Shape& shape, DType dtype, MemoryTag tag, const char* what) {
  const Leased leased = heap_.acquire(shape, dtype, tag, what);
  const auto index = static_cast<std::size_t>(leased.id);
  if (lease_of_id_.size() <= index) lease_of_id_.resize(index + 1);
  lease_of_id_[index] = num_leases_++;
  events_.push_back({true, leased.tensor.num_bytes(), tag, lease_of_id_[index]});
  return leased;
}

void RecordingAllocator::release(std::int64_t id) noexcept {
  heap_.release(id);
  events_.push_back({false, 0, MemoryTag::Activations, lease_of_id_[static_cast<std::size_t>(id)]});
}

void RecordingAllocator::restart() {
  events_.clear();
  num_leases_ = 0;
}

// A checking device poisons its memory. The sim device has none, and its checker would call the allocator.
NnWorld::NnWorld(DeviceKind kind, int threads)
    : runtime_({.threads_per_rank = threads, .check_hazards = kind == DeviceKind::Host}),
      device_(runtime_.open_device(kind)),
      stream_(device_->make_stream(StreamRole::Compute, "compute")),
      allocator_(std::make_unique<RecordingAllocator>(*device_)),
      block_(make({sizeof(kernels::StepBlock)}, DType::U8)) {
  begin_step();
}

NnWorld::~NnWorld() {
  tape_.clear();
  try {
    stream_->synchronize();
  } catch (const Error&) {
    // A test that expects a failing stream has looked at it already.
  }
}

nn::Context NnWorld::context(nn::Binding& binding, bool is_recorded) {
  return {.stream = *stream_,
          .allocator = *allocator_,
          .binding = binding,
          .tape = is_recorded ? &tape_ : nullptr,
          .uses_batch_statistics = true,
          .block = block_};
}

Tensor NnWorld::make(const Shape& shape, DType dtype) {
  buffers_.push_back(device_->allocate(shape.numel() * dtype_bytes(dtype), MemoryTag::Inputs));
  return {buffers_.back().data(), shape, dtype};
}

Tensor NnWorld::upload(const Shape& shape, std::span<const float> values) {
  const Tensor tensor = make(shape, DType::F32);
  overwrite(tensor, values);
  return tensor;
}

Tensor NnWorld::upload(const Shape& shape, std::span<const std::int32_t> values) {
  const Tensor tensor = make(shape, DType::I32);
  if (device_->kind() == DeviceKind::Host && !values.empty()) {
    std::memcpy(tensor.data(), values.data(), values.size_bytes());
  }
  return tensor;
}

void NnWorld::overwrite(const Tensor& tensor, std::span<const float> values) {
  if (device_->kind() != DeviceKind::Host) return;
  stream_->synchronize();
  if (!values.empty()) std::memcpy(tensor.data(), values.data(), values.size_bytes());
}

std::vector<float> NnWorld::download(const Tensor& tensor) {
  stream_->synchronize();
  std::vector<float> values(static_cast<std::size_t>(tensor.numel()));
  if (!values.empty()) std::memcpy(values.data(), tensor.data(), values.size() * sizeof(float));
  return values;
}

nn::Variable NnWorld::leaf(nn::Context& ctx, const Shape& shape, std::span<const float> values) {
  nn::Variable x = nn::make_variable(ctx, shape, true, "leaf");
  overwrite(x.value(), values);
  return x;
}

void NnWorld::seed_gradient(nn::Context& ctx, const nn::Variable& y, std::span<const float> values) {
  nn::Scratch gradient(ctx, y.shape(), DType::F32, MemoryTag::Activations, "seed");
  overwrite(gradient.tensor(), values);
  nn::BackwardContext(ctx).set_gradient(y, std::move(gradient));
}

void NnWorld::begin_step(double lr, std::int64_t step) {
  kernels::begin_step(*stream_, {.lr = lr, .step = step}, block_);
}

kernels::StepBlock NnWorld::step_block() {
  stream_->synchronize();
  kernels::StepBlock block;
  std::memcpy(&block, block_.data(), sizeof(block));
  return block;
}

}  // namespace shoal::test
