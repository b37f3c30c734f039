#pragma once

#include <string>

#include "shoal/kernels/fill.h"
#include "shoal/runtime/base/shape.h"

namespace shoal::nn {

/// How initial values are drawn: a pure function of (seed, parameter name, global element index), whatever the
/// sharding. Uniform in [-scale, scale), Normal with standard deviation scale, Constant scale.
struct Init {
  using Kind = kernels::RandomFill::Kind;
  Kind kind = Kind::Constant;
  float scale = 0;
};

/// A named parameter without storage. Whoever runs the model (a Binding) says where its values and its gradient are.
struct Parameter {
  std::string name;  // full dotted path, "blocks.3.up.weight"; unique in the model
  Shape shape;
  Init init;
  bool decays = true;        // weight decay applies to it
  bool is_trainable = true;  // false: frozen, no gradient
  int index = -1;            // position in Module::parameters() of the model's root; set by finalize()
};

/// A named value that is not a parameter: batch-norm statistics and the like. Reading or updating it gathers nothing.
/// Its running value moves towards the mean over ranks of what a training forward stages, by `momentum`.
struct StateBuffer {
  std::string name;
  Shape shape;
  float initial = 0;
  float momentum = 0.1f;
  int index = -1;  // position in Module::state_buffers() of the model's root; set by finalize()
};

}  // namespace shoal::nn
