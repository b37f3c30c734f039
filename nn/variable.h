#pragma once

#include <cstdint>
#include <utility>

#include "shoal/kernels/grad_target.h"
#include "shoal/nn/context.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::nn {

/// Bytes leased from a TensorAllocator and shared by handles; given back with the last one.
struct StorageNode;

/// A value on the way through a model, with the gradient that flows back to it. A cheap handle (one pointer): copies
/// refer to the same value. Memory goes back to the allocator when the last handle goes, the tape's included.
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
  const Tensor& value() const;
  /// Whether a gradient flows back to it.
  bool requires_grad() const;

  Node* node() const { return node_; }

 private:
  Node* node_ = nullptr;
};

/// A variable over memory that somebody else keeps (a batch); no gradient flows to it.
Variable constant(const Tensor& value);

/// A new variable of F32 with memory leased under MemoryTag::Activations. It requires a gradient when the context
/// records and `requires_grad` is set. `what` is a literal for messages.
Variable make_variable(Context& ctx, const Shape& shape, bool requires_grad, const char* what);

/// The same value under another shape (no copy); gradients flow through.
Variable reshape(Context& ctx, const Variable& x, const Shape& shape);

/// Memory for the length of one C++ scope: workspaces and saved statistics. Given back in its destructor.
class Scratch {
 public:
  Scratch() = default;
  Scratch(Context& ctx, const Shape& shape, DType dtype, MemoryTag tag, const char* what);
  Scratch(TensorAllocator& allocator, const Shape& shape, DType dtype, MemoryTag tag, const char* what);
  Scratch(Scratch&& other) noexcept;
  Scratch& operator=(Scratch&& other) noexcept;
  ~Scratch();
  const Tensor& tensor() const { return leased_.tensor; }

 private:
  TensorAllocator* allocator_ = nullptr;
  TensorAllocator::Leased leased_;
};

/// What a backward function uses. Gradients of variables are leased on first use (MemoryTag::Activations) and given
/// back when the operation that made the variable has run its backward.
class BackwardContext {
 public:
  explicit BackwardContext(Context& ctx) : ctx_(&ctx) {}

  Context& forward_context() { return *ctx_; }
  Stream& stream() { return ctx_->stream; }

  /// The gradient that has arrived at `y`, or an undefined tensor where none did.
  Tensor gradient_of(const Variable& y);

  /// Where this operation puts its contribution to the gradient of `x`: written the first time, added after that. Not
  /// wanted where x does not require a gradient. Where the gradient's memory is shared (see pass_gradient) it is copied
  /// first.
  kernels::GradTarget target_for(const Variable& x);
  kernels::GradTarget target_for(const Parameter& parameter) { return ctx_->binding.gradient(parameter); }

  /// gradient(x) += gradient(y) unchanged: shares the memory where x has none yet, so that residual additions copy
  /// nothing.
  void pass_gradient(const Variable& y, const Variable& x);

  /// Makes `y`'s gradient safe to overwrite in place and returns it (copies where shared).
  Tensor mutable_gradient_of(const Variable& y);

  /// Installs an existing tensor (a Scratch moved in) as the gradient of `x`, which must have none.
  void set_gradient(const Variable& x, Scratch gradient);

 private:
  Context* ctx_;
};

}  // namespace shoal::nn
