#pragma once

#include <vector>

#include "shoal/nn/binding.h"
#include "shoal/nn/module.h"
#include "shoal/runtime/fsdp/pass_executor.h"
#include "shoal/runtime/fsdp/rank_state.h"

namespace shoal::fsdp {

/// Binds a model's parameters to views of gathered flat parameters, and passes its marks to the executor of the running
/// pass.
class UnitBinding final : public nn::Binding {
 public:
  UnitBinding(RankState& rank, const std::vector<nn::Parameter*>& parameters);

  /// The pass that follows. `stages_statistics`: state buffers are updated in it.
  void begin(PassExecutor& executor, bool stages_statistics);

  Tensor value(const nn::Parameter& parameter) override;
  kernels::GradTarget gradient(const nn::Parameter& parameter) override;
  Tensor running(const nn::StateBuffer& buffer) override { return rank_.state->running(buffer.index); }
  Tensor staged(const nn::StateBuffer& buffer) override;
  void enter(const nn::Module& module, nn::Phase phase) override;
  void exit(const nn::Module& module, nn::Phase phase) override;

 private:
  struct Place {
    int flat = -1;
    int unit = -1;
    std::int64_t offset = 0;
    std::int64_t numel = 0;
  };
  Tensor view(const Tensor& flat, const nn::Parameter& parameter, const Place& place) const;

  RankState& rank_;
  std::vector<Place> places_;
  PassExecutor* executor_ = nullptr;
  bool stages_statistics_ = false;
};

}  // namespace shoal::fsdp
