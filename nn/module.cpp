#include "shoal/nn/module.h"

#include <fmt/format.h>

#include <string_view>
#include <unordered_set>

#include "shoal/nn/tape.h"
#include "shoal/runtime/base/error.h"

namespace shoal::nn {
namespace {

std::string join(const std::string& path, const std::string& name) { return path.empty() ? name : path + "." + name; }

void check_component(const std::string& name, const std::string& owner) {
  if (!name.empty() && name.find('.') == std::string::npos) return;
  fail(ErrorCode::InvalidArgument,
       fmt::format("[nn::Module] '{}' cannot be a name inside '{}'; names are one path component: not empty, without a "
                   "dot",
                   name, owner));
}

void collect(Module& module, std::vector<Module*>& found) {
  found.push_back(&module);
  for (Module* child : module.children()) collect(*child, found);
}

}  // namespace

Module::Module(Module* parent, std::string name, std::string type)
    : parent_(parent), name_(std::move(name)), type_(std::move(type)) {
  if (parent_ == nullptr) return;
  check_component(name_, parent_->path());
  parent_->children_.push_back(this);
}

Module::~Module() {
  for (Module* child : children_) child->parent_ = nullptr;
  if (parent_ != nullptr) std::erase(parent_->children_, this);
}

Variable Module::forward(Context& ctx, const Variable& x) {
  (void)ctx;
  (void)x;
  fail(ErrorCode::Unsupported,
       fmt::format("[nn::Module] '{}' of type {} has no forward(ctx, x); use the method that it offers instead", path(),
                   type_));
}

std::string Module::path() const { return parent_ == nullptr ? std::string() : join(parent_->path(), name_); }

std::vector<Module*> Module::modules() {
  std::vector<Module*> found;
  collect(*this, found);
  return found;
}

std::vector<Parameter*> Module::parameters() {
  std::vector<Parameter*> found;
  for (const Module* module : modules()) {
    found.insert(found.end(), module->own_parameters_.begin(), module->own_parameters_.end());
  }
  return found;
}

std::vector<StateBuffer*> Module::state_buffers() {
  std::vector<StateBuffer*> found;
  for (const Module* module : modules()) {
    found.insert(found.end(), module->own_state_buffers_.begin(), module->own_state_buffers_.end());
  }
  return found;
}

void Module::finalize() {
  if (parent_ != nullptr) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[finalize] '{}' is a part of a model; call it on the model's root", path()));
  }
  std::unordered_set<std::string> names;
  const auto check_unique = [&](const std::string& name, std::string_view what) {
    if (names.insert(name).second) return;
    fail(ErrorCode::InvalidArgument,
         fmt::format("[finalize] two parts of the model are named '{}' (the second is a {}); siblings need names of "
                     "their own",
                     name, what));
  };
  int index = 0;
  for (Module* module : modules()) {
    if (module != this) check_unique(module->path(), "module");
    module->index_ = index++;
  }
  index = 0;
  for (Parameter* parameter : parameters()) {
    check_unique(parameter->name, "parameter");
    parameter->index = index++;
  }
  index = 0;
  for (StateBuffer* buffer : state_buffers()) {
    check_unique(buffer->name, "state buffer");
    buffer->index = index++;
  }
}

Parameter& Module::add_parameter(const std::string& name, const Shape& shape, Init init, bool decays) {
  check_component(name, path());
  parameter_storage_.push_back(std::make_unique<Parameter>(
      Parameter{.name = join(path(), name), .shape = shape, .init = init, .decays = decays}));
  own_parameters_.push_back(parameter_storage_.back().get());
  return *own_parameters_.back();
}

StateBuffer& Module::add_state_buffer(const std::string& name, const Shape& shape, float initial, float momentum) {
  check_component(name, path());
  state_buffer_storage_.push_back(std::make_unique<StateBuffer>(
      StateBuffer{.name = join(path(), name), .shape = shape, .initial = initial, .momentum = momentum}));
  own_state_buffers_.push_back(state_buffer_storage_.back().get());
  return *own_state_buffers_.back();
}

void Module::enter(Context& ctx) {
  ctx.binding.enter(*this, Phase::Forward);
  if (ctx.tape != nullptr) ctx.tape->record_enter(*this);
}

void Module::exit(Context& ctx) {
  ctx.binding.exit(*this, Phase::Forward);
  if (ctx.tape != nullptr) ctx.tape->record_exit(*this);
}

}  // namespace shoal::nn
