#pragma once

namespace shoal::kernels {

/// The instruction set that host kernels use on this machine, chosen at the first call: "baseline" (SSE2), "avx2" or
/// "avx512".
const char* isa_name();

}  // namespace shoal::kernels
