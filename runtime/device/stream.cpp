#include "shoal/runtime/device/stream.h"

#include "shoal/runtime/device/device.h"

namespace shoal {

const char* stream_role_name(StreamRole role) {
  switch (role) {
    case StreamRole::Compute:
      return "compute";
    case StreamRole::Gather:
      return "gather";
    case StreamRole::Reduce:
      return "reduce";
    case StreamRole::Copy:
      return "copy";
  }
  return "unknown";
}

void Stream::synchronize() { synchronize(device().default_deadline()); }

}  // namespace shoal
