#pragma once

#include <string>
#include <vector>

#include "shoal/nn/binding.h"
#include "shoal/nn/module.h"
#include "shoal/runtime/fsdp/pass_executor.h"
#include "shoal/runtime/fsdp/rank_state.h"
#include "shoal/runtime/fsdp/trace_cursor.h"

namespace shoal::fsdp {

/// Binds a model's parameters to views of gathered flat parameters, and passes its marks to the executor of the running
/// pass.
class UnitBinding final : public nn::Binding {
 public:
  /// `cursor` follows the pass: what it does not have next is refused, since no wait may cover it.
  UnitBinding(RankState& rank, const std::vector<nn::Parameter*>& parameters, TraceCursor& cursor);

  /// The pass that follows. `stages_statistics`: state buffers are updated in it. The cursor is there already.
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
  };
  bool is_open(const Place& place) const { return is_open_[static_cast<std::size_t>(place.unit)] != 0; }
  void set_open(const nn::Module& module, bool is_open);
  void follow(TraceKind kind, int id, const std::string& name);
  Tensor view(const Tensor& flat, const nn::Parameter& parameter, const Place& place) const;

  RankState& rank_;
  TraceCursor& cursor_;
  std::vector<Place> places_;
  std::vector<char> is_open_;  // by unit: entered, and not left again
  PassExecutor* executor_ = nullptr;
  bool stages_statistics_ = false;
};

}  // namespace shoal::fsdp
