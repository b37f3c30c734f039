#pragma once

#include <cstdint>
#include <string>

#include "shoal/nn/module.h"

namespace shoal::nn {

/// y[b,t] = table[ids[b,t]] (+ positions[t]).
/// ids (B, T) I32, kept by the caller until the backward has run; table (V, C); positions (at least T, C) or null;
/// y (B, T, C). F32. Throws InvalidArgument, by name, on shapes, a sequence longer than positions included.
Variable embedding(Context& ctx, const Tensor& ids, const Parameter& table, const Parameter* positions = nullptr);

/// A table of vectors; parameter "weight" (rows, features). Takes ids, so it is called with a Tensor.
class Embedding : public Module {
 public:
  Embedding(Module* parent, std::string name, std::int64_t rows, std::int64_t features,
            Init init = {Init::Kind::Normal, 1});

  Variable operator()(Context& ctx, const Tensor& ids);

  Parameter& weight() const { return weight_; }

 private:
  Parameter& weight_;
};

}  // namespace shoal::nn
