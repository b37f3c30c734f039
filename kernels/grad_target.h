#pragma once

#include "shoal/runtime/tensor/tensor.h"

namespace shoal::kernels {

/// Where an op puts a gradient: written, or added to what is there. An undefined tensor means that nobody wants it.
struct GradTarget {
  Tensor tensor;
  bool accumulate = false;

  bool is_wanted() const { return tensor.is_defined(); }
};

}  // namespace shoal::kernels
