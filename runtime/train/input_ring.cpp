#include "shoal/runtime/train/input_ring.h"

#include <fmt/format.h>

#include "shoal/runtime/base/error.h"

namespace shoal::train {

std::int64_t batch_bytes(const nn::BatchSpec& spec) {
  return spec.inputs.numel() * dtype_bytes(spec.inputs_dtype) + spec.targets.numel() * dtype_bytes(spec.targets_dtype);
}

InputRing::InputRing(Device& device, const nn::BatchSpec& spec, int num_slots) {
  if (device.kind() != DeviceKind::Host) {
    fail(ErrorCode::Unsupported,
         fmt::format("[input_ring] batches are filled by the host, and {} is no host device", device.name()));
  }
  const auto make = [&](const Shape& shape, DType dtype) {
    buffers_.push_back(device.allocate(shape.numel() * dtype_bytes(dtype), MemoryTag::Inputs));
    return Tensor(buffers_.back().data(), shape, dtype);
  };
  for (int slot = 0; slot < num_slots; ++slot) {
    const Tensor inputs = make(spec.inputs, spec.inputs_dtype);
    const Tensor targets = make(spec.targets, spec.targets_dtype);
    slots_.push_back({inputs, targets});
  }
}

}  // namespace shoal::train
