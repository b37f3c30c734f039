#pragma once

#include <memory>
#include <string>
#include <vector>

#include "shoal/nn/context.h"
#include "shoal/nn/parameter.h"
#include "shoal/nn/variable.h"

namespace shoal::nn {

/// A piece of a model: named parameters without storage, named state buffers, children, and a forward.
///
/// Members register themselves with their parent, so a module of one's own is
///
///     struct Mlp : nn::Module {
///       Mlp(nn::Module* parent, std::string name) : Module(parent, std::move(name), "Mlp") {}
///       nn::Linear up{this, "up", 784, 256}, down{this, "down", 256, 10};
///       nn::Variable forward(nn::Context& ctx, const nn::Variable& x) override {
///         return down(ctx, nn::relu(ctx, up(ctx, x)));
///       }
///     };
///
/// Neither copied nor moved: parents and bindings refer to modules and parameters by address.
class Module {
 public:
  /// `parent` null makes a root. `name` is one path component, unique among its siblings; `type` is what wrapping by
  /// type matches.
  Module(Module* parent, std::string name, std::string type);
  /// Leaves its parent: a module may be destroyed before the model is complete, as it is where its constructor throws.
  virtual ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// The user's forward. The default throws Unsupported: a module that takes something else offers a method of its own
  /// built on `call`.
  virtual Variable forward(Context& ctx, const Variable& x);

  /// forward(ctx, x), with the marks that tell the binding where the pass is.
  Variable operator()(Context& ctx, const Variable& x) {
    return call(ctx, [&] { return forward(ctx, x); });
  }

  /// Runs `body`, which returns a Variable, between this module's marks.
  template <typename Body>
  Variable call(Context& ctx, const Body& body) {
    if (!is_marked_) return body();
    enter(ctx);
    Variable y = body();
    exit(ctx);
    return y;
  }

  /// Asks that this module's parameters be gathered together as a unit.
  void mark_unit() { is_unit_ = true; }
  bool is_unit() const { return is_unit_; }

  /// Whether calls tell the binding; set for all modules while tracing, and for the planned units afterwards.
  void set_marked(bool is_marked) { is_marked_ = is_marked; }
  bool is_marked() const { return is_marked_; }

  const std::string& name() const { return name_; }
  const std::string& type() const { return type_; }
  /// Dotted path from the root; the root's is empty.
  std::string path() const;
  Module* parent() const { return parent_; }
  const std::vector<Module*>& children() const { return children_; }

  /// This module's own parameters, in the order they were added.
  const std::vector<Parameter*>& own_parameters() const { return own_parameters_; }

  /// All modules of the subtree, parents first, in declaration order.
  std::vector<Module*> modules();
  /// All parameters and state buffers of the subtree in that order. A parameter that two modules use belongs to the one
  /// that added it.
  std::vector<Parameter*> parameters();
  std::vector<StateBuffer*> state_buffers();

  /// Gives every module, parameter and buffer of the tree its index and checks that names are unique; call it on the
  /// root, once the model is complete. Idempotent. Throws InvalidArgument naming a duplicate.
  void finalize();
  /// Position in modules() of the root; set by finalize().
  int index() const { return index_; }

 protected:
  /// Adds a parameter named path() + "." + name. The reference stays valid as long as the module.
  Parameter& add_parameter(const std::string& name, const Shape& shape, Init init, bool decays);
  StateBuffer& add_state_buffer(const std::string& name, const Shape& shape, float initial, float momentum);

 private:
  void enter(Context& ctx);
  void exit(Context& ctx);

  Module* parent_;
  std::string name_;
  std::string type_;
  std::vector<Module*> children_;
  std::vector<std::unique_ptr<Parameter>> parameter_storage_;
  std::vector<std::unique_ptr<StateBuffer>> state_buffer_storage_;
  std::vector<Parameter*> own_parameters_;
  std::vector<StateBuffer*> own_state_buffers_;
  int index_ = -1;
  bool is_unit_ = false;
  bool is_marked_ = false;
};

}  // namespace shoal::nn
