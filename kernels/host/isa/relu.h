#pragma once

#include "shoal/kernels/host/isa/vector.h"

namespace shoal::kernels::host::SHOAL_ISA {

/// `value` where x is positive or NaN, 0 elsewhere: max(0, x) as keep_positive(x, x), its gradient with dy as `value`.
[[gnu::always_inline]] inline Lanes keep_positive(const Lanes& x, const Lanes& value) {
  return select(x <= splat(0.0f), splat(0.0f), value);
}

}  // namespace shoal::kernels::host::SHOAL_ISA
