#pragma once

#include <string_view>

#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal {

/// Collectives by mesh axis name, for layers and optimizer rules that need a sum over ranks without knowing any communicator.
class AxisOps {
 public:
  virtual ~AxisOps() = default;
  /// Ranks on `axis`. Throws InvalidArgument for an unknown axis.
  virtual int axis_size(std::string_view axis) const = 0;
  /// data[i] = sum over the axis's ranks, in rank order, in place; F32, F64 or I64. Ordered on `stream`.
  virtual void all_reduce_sum(Stream& stream, std::string_view axis, const Tensor& data) = 0;
};

}  // namespace shoal
