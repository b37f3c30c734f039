#include "shoal/runtime/fsdp/flat_storage.h"

#include "shoal/kernels/fill.h"

namespace shoal::fsdp {

FlatStorage::FlatStorage(Device& device, Stream& stream, const FlatParameter& flat, const Options& options)
    : flat_(&flat) {
  numel_ = options.is_sharded ? flat.layout.shard_numel : flat.layout.full_numel();
  first_ = options.is_sharded ? options.rank * flat.layout.shard_numel : 0;
  parts_ = flat.layout.parts_in(first_, numel_);
  weights_ = allocate(device, MemoryTag::Parameters);
  if (flat.is_trainable) {
    gradients_ = allocate(device, MemoryTag::Gradients);
    for (int i = 0; i < options.num_state_tensors; ++i) state_.push_back(allocate(device, MemoryTag::OptimizerState));
  }
  const float padding = options.padding.value_or(0.0F);
  kernels::fill(stream, weights_, padding);
  if (gradients_.is_defined()) kernels::fill(stream, gradients_, padding);
  for (const Tensor& tensor : state_) {
    kernels::fill(stream, tensor, padding);
    for (const SegmentPart& part : parts_) {
      kernels::fill(stream, tensor.flat_slice(part.flat_begin - first_, part.numel), 0.0F);
    }
  }
}

Tensor FlatStorage::allocate(Device& device, MemoryTag tag) {
  buffers_.push_back(device.allocate(numel_ * dtype_bytes(DType::F32), tag));
  return Tensor(buffers_.back().data(), {numel_}, DType::F32);
}

void FlatStorage::materialise(
    const std::function<void(int parameter, std::int64_t first, const Tensor& values)>& fill) const {
  for (const SegmentPart& part : parts_) {
    const Segment& segment = flat_->layout.segments[static_cast<std::size_t>(part.segment)];
    fill(segment.parameter, part.element_begin, weights_.flat_slice(part.flat_begin - first_, part.numel));
  }
}

std::vector<UpdateSlice> FlatStorage::update_slices(const optim::Rule& rule) const {
  std::vector<UpdateSlice> slices;
  if (!flat_->is_trainable) return slices;
  for (const SegmentPart& part : parts_) {
    const Segment& segment = flat_->layout.segments[static_cast<std::size_t>(part.segment)];
    const optim::ParameterInfo info{segment.name, segment.shape, segment.decays};
    const std::int64_t begin = part.flat_begin - first_;
    if (!slices.empty() && rule.treats_alike(slices.back().parameter, info)) {
      slices.back().numel = begin + part.numel - slices.back().begin;
    } else {
      slices.push_back({begin, part.numel, info});
    }
  }
  return slices;
}

}  // namespace shoal::fsdp
