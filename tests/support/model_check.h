#pragma once

#include <cstdint>

#include "shoal/nn/model.h"

namespace shoal::test {

struct ModelCheck {
  nn::BatchSpec batch;
  std::int32_t id_bound = 2;  // of i32 inputs and targets
  double lr = 0.1;
  int steps = 4;
};

/// Trains `model` with SGD on one random batch and expects:
///   - the loss falls;
///   - every trainable parameter has received a gradient;
///   - the second pass has the leases of the first, and the sim device the same ones;
///   - nothing stays leased, evaluation included.
void check_model(nn::Model& model, const ModelCheck& check);

/// All parameters' elements.
std::int64_t num_parameters(nn::Module& root);

}  // namespace shoal::test
