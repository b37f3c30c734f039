#pragma once

#include "shoal/nn/module.h"

namespace shoal::nn {

/// One rank's slice of a batch, on the device.
struct Batch {
  Tensor inputs;   // images (B, H, W, C) F32, ids (B, T) I32, or vectors (B, F) F32
  Tensor targets;  // classes (B) or next ids (B, T), I32, negative: ignored; or vectors (B, F) F32
};

/// Shapes and dtypes of a Batch, for tracing.
struct BatchSpec {
  Shape inputs;
  DType inputs_dtype = DType::F32;
  Shape targets;
  DType targets_dtype = DType::I32;
};

/// The root of a model that can be trained.
class Model : public Module {
 public:
  explicit Model(std::string type) : Module(nullptr, "", std::move(type)) {}

  /// Predictions for `inputs`: logits (..., classes), or vectors.
  virtual Variable predict(Context& ctx, const Tensor& inputs) = 0;

  /// Adds the batch's loss (a sum), its count and its number of correct predictions to ctx.block. Softmax cross-entropy
  /// of predict() unless overridden.
  virtual void loss(Context& ctx, const Batch& batch);
};

}  // namespace shoal::nn
