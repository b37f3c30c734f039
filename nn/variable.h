#pragma once

#include <cstdint>
#include <utility>

#include "shoal/kernels/grad_target.h"
#include "shoal/nn/context.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::nn {

/// A value on the way through a model, with the gradient that flows back to it. A cheap handle (one pointer): copies
/// refer to the same value. The value's memory goes back to the allocator with the last Variable; what a backward needs
/// of a value it therefore captures as a Variable, and where it only passes a gradient on, as an Edge. Used from the
/// rank's thread.
class Variable {
 public:
  struct Node;

  Variable() = default;
  explicit Variable(Node* adopted) : node_(adopted) {}
  Variable(const Variable& other);
  Variable(Variable&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Variable& operator=(Variable other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Variable();

  bool is_defined() const { return node_ != nullptr; }
  /// Throws InvalidArgument where undefined.
  const Tensor& value() const;
  const Shape& shape() const { return value().shape(); }
  /// Whether a gradient flows back to it.
  bool requires_grad() const;

  Node* node() const { return node_; }

 private:
  Node* node_ = nullptr;
};

/// The way back to a variable: keeps its shape and its gradient, not its value.
class Edge {
 public:
  Edge() = default;
  Edge(const Variable& variable);  // NOLINT(google-explicit-constructor): a variable is taken where an edge is expected
  Edge(const Edge& other);
  Edge(Edge&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Edge& operator=(Edge other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Edge();

  bool is_defined() const { return node_ != nullptr; }
  bool requires_grad() const;
  const Shape& shape() const;

  Variable::Node* node() const { return node_; }

 private:
  Variable::Node* node_ = nullptr;
};

/// Memory for the length of one C++ scope: workspaces and saved statistics. Given back in its destructor.
class Scratch {
 public:
  Scratch() = default;
  Scratch(Context& ctx, const Shape& shape, DType dtype, MemoryTag tag, const char* what);
  Scratch(TensorAllocator& allocator, const Shape& shape, DType dtype, MemoryTag tag, const char* what);
  Scratch(Scratch&& other) noexcept;
  Scratch& operator=(Scratch&& other) noexcept;
  ~Scratch();

  bool is_held() const { return allocator_ != nullptr; }
  const Tensor& tensor() const { return leased_.tensor; }

 private:
  TensorAllocator* allocator_ = nullptr;
  TensorAllocator::Leased leased_;
};

/// Scratch of `bytes` bytes (U8) under MemoryTag::Workspace; none, and no lease, for 0.
Scratch make_workspace(Context& ctx, std::int64_t bytes, const char* what);

/// A variable over memory that somebody else keeps (a batch); no gradient flows to it.
Variable constant(const Tensor& value);

/// A new variable of F32 with memory leased under MemoryTag::Activations. It requires a gradient when the context
/// records and `requires_grad` is set. `what` is a literal for messages.
Variable make_variable(Context& ctx, const Shape& shape, bool requires_grad, const char* what);

/// The same, over memory that is already leased: see take_memory.
Variable make_variable(Context& ctx, Scratch memory, bool requires_grad);

/// The same value under another shape (no copy); gradients flow through.
Variable reshape(Context& ctx, const Variable& x, const Shape& shape);

/// The memory of x, where x is the last handle to its value and no view shares it: an operation then writes its result
/// over its input. Otherwise none. What a recorded backward still reads is never held by one handle only.
Scratch take_memory(Variable& x);

/// The result of an elementwise operation on x: over x's memory where take_memory gives it, otherwise new.
Variable make_variable_over(Context& ctx, Variable& x, bool requires_grad, const char* what);

/// What a backward function uses. Gradients of variables are leased on first use (MemoryTag::Activations) and given
/// back when the operation that made the variable has run its backward.
class BackwardContext {
 public:
  explicit BackwardContext(Context& ctx) : ctx_(&ctx) {}

  Context& forward_context() { return *ctx_; }
  Stream& stream() { return ctx_->stream; }

  /// The parameter's values at this moment; never keep the result beyond the next operation.
  Tensor value_of(const Parameter& parameter) { return ctx_->binding.value(parameter); }

  /// Whether a gradient has arrived at `y`.
  bool has_gradient(const Edge& y) const;

  /// The gradient that has arrived at `y`, or an undefined tensor where none did.
  Tensor gradient_of(const Edge& y);

  /// Where this operation puts its contribution to the gradient of `x`: written the first time, added after that. Not
  /// wanted where x does not require a gradient. Where the gradient's memory is shared (see pass_gradient) it is copied
  /// first.
  kernels::GradTarget target_for(const Edge& x);
  /// Not wanted for a frozen parameter. Asked for immediately before it is written.
  kernels::GradTarget target_for(const Parameter& parameter);

  /// gradient(x) += gradient(y) unchanged: shares the memory where x has none yet, so that residual additions copy
  /// nothing. Equal element counts.
  void pass_gradient(const Edge& y, const Edge& x);

  /// Makes `y`'s gradient safe to overwrite in place and returns it (copies where shared).
  Tensor mutable_gradient_of(const Edge& y);

  /// Installs an existing tensor (a Scratch moved in) as the gradient of `x`, or adds it to the one that x has.
  void set_gradient(const Edge& x, Scratch gradient);

  /// Forgets the gradient of `y`; the tape calls it when the operation that made y has run its backward.
  void drop_gradient(const Edge& y);

 private:
  Context* ctx_;
};

}  // namespace shoal::nn
