#pragma once

#include "shoal/nn/binding.h"
#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/tensor/tensor.h"
#include "shoal/runtime/tensor/tensor_allocator.h"

namespace shoal::nn {

class Tape;

/// What a forward needs from the world: where to enqueue, where memory comes from, where parameters are.
struct Context {
  Stream& stream;
  TensorAllocator& allocator;
  Binding& binding;
  Tape* tape = nullptr;               // records for the backward; null: no gradient is wanted
  bool uses_batch_statistics = true;  // batch norm normalises by the batch (training) or by its running statistics
  Tensor block;                       // the step block that losses add to
};

}  // namespace shoal::nn
