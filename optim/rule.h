#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "shoal/runtime/base/shape.h"
#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::optim {

/// What a rule is told of a parameter.
struct ParameterInfo {
  std::string name;
  Shape shape;
  bool decays = true;  // weight decay applies (matrices; not norms and biases)
};

/// What a rule needs to see of a parameter to update it.
enum class Needs {
  Elementwise,         // any slice by itself
  ParameterReduction,  // sums over the whole parameter (LAMB)
  WholeParameter,      // the whole matrix on one owner (Muon, Shampoo)
};

/// A slice of one parameter, or of several neighbours that the rule treats alike, on the rank that owns it.
struct SliceUpdate {
  const ParameterInfo* parameter = nullptr;  // the (first) parameter
  Tensor w, g;  // (n) F32: weights, updated in place; gradients summed over the batch, not to be changed
  std::span<const Tensor> state;  // num_state_tensors() tensors of (n) F32, zero before the first step
  Tensor block;                   // the step block: lr, step, seed, count, clip_factor, is_skipped
};

/// An optimizer's update. Stateless itself: all state lies in the slices' tensors, sharded like the weights.
class Rule {
 public:
  virtual ~Rule() = default;

  /// "adamw", ...
  virtual std::string name() const = 0;
  virtual Needs needs(const ParameterInfo& parameter) const = 0;
  /// F32 state tensors per parameter, each as large as it.
  virtual int num_state_tensors() const = 0;
  /// Whether `update` does the same to a and b, so that neighbours can be updated by one call. Slices may then include
  /// the padding between them, which holds any bits.
  virtual bool treats_alike(const ParameterInfo& a, const ParameterInfo& b) const = 0;
  /// Enqueues the update of one slice. Where the block says skip, nothing may be written.
  virtual void update(Stream& stream, const SliceUpdate& slice) const = 0;
};

}  // namespace shoal::optim
