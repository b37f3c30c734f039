#include "shoal/runtime/fsdp/unit_binding.h"

#include <fmt/core.h>

#include <algorithm>

#include "shoal/runtime/base/error.h"

namespace shoal::fsdp {

UnitBinding::UnitBinding(RankState& rank, const std::vector<nn::Parameter*>& parameters, TraceCursor& cursor)
    : rank_(rank), cursor_(cursor), is_open_(rank.units.units.size(), 0) {
  for (const nn::Parameter* parameter : parameters) {
    const ParameterPlace& place = rank.units.places[static_cast<std::size_t>(parameter->index)];
    places_.push_back({place.flat, place.unit, rank.units.segment_of(place).offset});
  }
}

void UnitBinding::begin(PassExecutor& executor, bool stages_statistics) {
  executor_ = &executor;
  stages_statistics_ = stages_statistics;
  std::ranges::fill(is_open_, char{0});
}

void UnitBinding::set_open(const nn::Module& module, bool is_open) {
  is_open_[static_cast<std::size_t>(rank_.units.unit_of_module[static_cast<std::size_t>(module.index())])] =
      is_open ? 1 : 0;
}

void UnitBinding::follow(TraceKind kind, int id, const std::string& name) {
  if (cursor_.follow(kind, id)) return;
  fail(ErrorCode::Unsupported,
       fmt::format("[parameter] '{}' is used where the traced pass {}; a forward must do the same on every call", name,
                   cursor_.describe_next(rank_.units)));
}

Tensor UnitBinding::view(const Tensor& flat, const nn::Parameter& parameter, const Place& place) const {
  return Tensor(flat.as<float>() + place.offset, parameter.shape, DType::F32);
}

Tensor UnitBinding::value(const nn::Parameter& parameter) {
  const Place& place = places_[static_cast<std::size_t>(parameter.index)];
  const Tensor& values = rank_.flats[static_cast<std::size_t>(place.flat)].values;
  if (!values.is_defined() || !is_open(place)) {
    fail(ErrorCode::InvalidArgument,
         fmt::format(
             "[parameter] '{}' is used while it is not gathered; its unit '{}' is gathered only inside its own forward "
             "and backward",
             parameter.name, rank_.units.units[static_cast<std::size_t>(place.unit)].name));
  }
  follow(TraceKind::UseParameter, parameter.index, parameter.name);
  return view(values, parameter, place);
}

kernels::GradTarget UnitBinding::gradient(const nn::Parameter& parameter) {
  if (!parameter.is_trainable) return {};
  const auto index = static_cast<std::size_t>(parameter.index);
  const Place& place = places_[index];
  const Tensor& gradients = rank_.flats[static_cast<std::size_t>(place.flat)].gradients;
  if (!gradients.is_defined() || !is_open(place)) {
    fail(ErrorCode::InvalidArgument,
         fmt::format(
             "[parameter] a gradient of '{}' comes while none is expected; its unit '{}' takes gradients only inside "
             "its own backward",
             parameter.name, rank_.units.units[static_cast<std::size_t>(place.unit)].name));
  }
  follow(TraceKind::WriteGradient, parameter.index, parameter.name);
  const bool accumulate = rank_.is_gradient_written[index] != 0;
  rank_.is_gradient_written[index] = 1;
  return {view(gradients, parameter, place), accumulate};
}

Tensor UnitBinding::staged(const nn::StateBuffer& buffer) {
  if (!stages_statistics_) return {};
  follow(TraceKind::StageState, buffer.index, buffer.name);
  return rank_.state->staged(buffer.index);
}

void UnitBinding::enter(const nn::Module& module, nn::Phase phase) {
  executor_->reach(phase == nn::Phase::Forward ? OpKind::EnterForward : OpKind::EnterBackward,
                   rank_.units.unit_of_module[static_cast<std::size_t>(module.index())]);
  set_open(module, true);
}

void UnitBinding::exit(const nn::Module& module, nn::Phase phase) {
  executor_->reach(phase == nn::Phase::Forward ? OpKind::ExitForward : OpKind::ExitBackward,
                   rank_.units.unit_of_module[static_cast<std::size_t>(module.index())]);
  set_open(module, false);
}

}  // namespace shoal::fsdp
