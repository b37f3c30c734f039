#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shoal/nn/models/registry.h"
#include "shoal/runtime/train/dataset.h"

namespace shoal::tools {

/// A matrix product of a model's forward, (rows, inner) by (columns, inner) transposed, as linear_forward does it.
struct Product {
  std::int64_t rows = 0;
  std::int64_t inner = 0;
  std::int64_t columns = 0;
  /// How often a training step does one of this size: forward, gradient of the input, gradient of the weights.
  std::int64_t per_step = 0;
};

/// A model, a batch per rank, and the products in one rank's step: what the peers are measured on, shape for shape.
struct Workload {
  std::string name;
  std::string model;  // as nn::make_model takes it
  nn::ModelInputs inputs;
  train::SampleSpec sample;
  std::int64_t batch = 0;         // of one rank
  std::vector<Product> products;  // of linear layers and convolutions; attention's own are not among them
};

std::span<const std::string_view> workload_names();

/// Throws InvalidArgument for an unknown name, with the nearest match.
Workload make_workload(const std::string& name);

}  // namespace shoal::tools
