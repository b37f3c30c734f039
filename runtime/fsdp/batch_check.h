#pragma once

#include "shoal/nn/model.h"

namespace shoal::fsdp {

/// Throws InvalidArgument, naming both, unless `batch` has the shapes and dtypes of `spec`, for which the pass was
/// planned. `operation` is the call that the batch was given to.
void check_batch(const char* operation, const nn::Batch& batch, const nn::BatchSpec& spec);

/// The same for inputs alone.
void check_inputs(const char* operation, const Tensor& inputs, const nn::BatchSpec& spec);

}  // namespace shoal::fsdp
