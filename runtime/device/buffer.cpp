#include "shoal/runtime/device/buffer.h"

#include "shoal/runtime/device/device.h"

namespace shoal {

Buffer::~Buffer() {
  if (device_ != nullptr) device_->give_back(*this);
}

}  // namespace shoal
