#pragma once

#include "shoal/kernels/grad_target.h"
#include "shoal/nn/parameter.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::nn {

class Module;

enum class Phase { Forward, Backward };

/// Binds a model's names to memory while a pass runs, and hears where the pass is. Sharding implements it; a model
/// never knows.
class Binding {
 public:
  virtual ~Binding() = default;

  /// The parameter's values now. Throws InvalidArgument, by name, when they are not gathered.
  virtual Tensor value(const Parameter& parameter) = 0;

  /// Where this pass's gradient of the parameter goes; the caller writes it at once. Not wanted for a frozen parameter.
  virtual kernels::GradTarget gradient(const Parameter& parameter) = 0;

  /// The running value of a state buffer.
  virtual Tensor running(const StateBuffer& buffer) = 0;

  /// Where a training forward leaves this rank's new observation; none when statistics are not updated in this pass.
  virtual Tensor staged(const StateBuffer& buffer) = 0;

  /// The pass enters or leaves a module that was marked (Module::is_marked). In Phase::Backward, enter comes when the
  /// backward reaches the module's last operation and exit after its first.
  virtual void enter(const Module& module, Phase phase) = 0;
  virtual void exit(const Module& module, Phase phase) = 0;
};

}  // namespace shoal::nn
