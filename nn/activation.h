#pragma once

#include "shoal/kernels/activation.h"
#include "shoal/nn/variable.h"

namespace shoal::nn {

/// y = f(x), elementwise, any shape. F32. Written over x where the call holds the last handle to it and no backward
/// needs its value: relu(ctx, linear(...)) takes no memory.
Variable activate(Context& ctx, Variable x, kernels::Activation kind);

/// max(0, x).
inline Variable relu(Context& ctx, Variable x) { return activate(ctx, std::move(x), kernels::Activation::Relu); }
/// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
inline Variable gelu(Context& ctx, Variable x) { return activate(ctx, std::move(x), kernels::Activation::Gelu); }
/// x / (1 + exp(-x)).
inline Variable silu(Context& ctx, Variable x) { return activate(ctx, std::move(x), kernels::Activation::Silu); }

}  // namespace shoal::nn
