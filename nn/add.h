#pragma once

#include "shoal/nn/variable.h"

namespace shoal::nn {

/// y = a + b, or max(0, a + b) with `relu`; equal shapes. F32. Written over b where the call holds the last handle to
/// it and no backward needs its value: move it in. Its backward copies nothing. Throws InvalidArgument on shapes.
Variable add(Context& ctx, const Variable& a, Variable b, bool relu = false);

}  // namespace shoal::nn
