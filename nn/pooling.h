#pragma once

#include "shoal/nn/variable.h"

namespace shoal::nn {

/// y[b,p,q,c] = max over the window x window block at (p window, q window); what fills no window is dropped.
/// x (B, H, W, C), y (B, H / window, W / window, C). F32. Throws InvalidArgument on another rank or a window
/// outside [1, 16].
Variable max_pool(Context& ctx, const Variable& x, int window);

/// y[b,c] = mean over height and width. x (B, H, W, C), y (B, C). F32. Throws InvalidArgument on another rank.
Variable global_average_pool(Context& ctx, const Variable& x);

}  // namespace shoal::nn
