#pragma once

#include <cstdint>
#include <vector>

#include "shoal/nn/model.h"
#include "shoal/runtime/device/device.h"

namespace shoal::train {

/// Bytes of one batch: inputs and targets.
std::int64_t batch_bytes(const nn::BatchSpec& spec);

/// Device memory for a few batches of one form, counted under MemoryTag::Inputs. On the host device their memory is
/// host memory, so a data set can fill them where they lie.
class InputRing {
 public:
  /// Throws Unsupported for a device whose memory the host cannot write.
  InputRing(Device& device, const nn::BatchSpec& spec, int num_slots);

  int num_slots() const { return static_cast<int>(slots_.size()); }
  const nn::Batch& slot(int index) const { return slots_[static_cast<std::size_t>(index)]; }

 private:
  std::vector<Buffer> buffers_;
  std::vector<nn::Batch> slots_;
};

}  // namespace shoal::train
