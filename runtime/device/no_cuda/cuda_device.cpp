#include "shoal/runtime/base/error.h"
#include "shoal/runtime/device/cuda_factory.h"

namespace shoal {

std::unique_ptr<Device> make_cuda_device(const RuntimeOptions& /*options*/, int /*rank*/) {
  fail(ErrorCode::Unsupported,
       "[open_device] this build has no CUDA backend; configure with -DSHOAL_CUDA=ON on a machine with nvcc, or open a "
       "host device");
}

}  // namespace shoal
