#include "shoal/runtime/fsdp/state_storage.h"

#include "shoal/kernels/fill.h"
#include "shoal/kernels/moving_average.h"

namespace shoal::fsdp {

StateStorage::StateStorage(Device& device, Stream& stream, const std::vector<nn::StateBuffer*>& buffers) {
  std::int64_t numel = 0;
  for (const nn::StateBuffer* buffer : buffers) numel += buffer->shape.numel();
  memory_ = device.allocate(persistent_bytes(numel), MemoryTag::Buffers);
  running_ = Tensor(memory_.data(), {numel}, DType::F32);
  staged_ = Tensor(static_cast<float*>(memory_.data()) + numel, {numel}, DType::F32);
  kernels::fill(stream, staged_, 0.0F);
  std::int64_t begin = 0;
  for (const nn::StateBuffer* buffer : buffers) {
    const std::int64_t length = buffer->shape.numel();
    const Tensor running = running_.flat_slice(begin, length).reshaped(buffer->shape);
    kernels::fill(stream, running, buffer->initial);
    views_.push_back({running, staged_.flat_slice(begin, length).reshaped(buffer->shape)});
    if (!runs_.empty() && runs_.back().momentum == buffer->momentum) {
      runs_.back().numel += length;
    } else {
      runs_.push_back({begin, length, buffer->momentum});
    }
    begin += length;
  }
}

void StateStorage::update(Stream& stream, int num_ranks) const {
  for (const Run& run : runs_) {
    kernels::update_moving_average(stream, staged_.flat_slice(run.begin, run.numel), num_ranks, run.momentum,
                                   running_.flat_slice(run.begin, run.numel));
  }
}

}  // namespace shoal::fsdp
