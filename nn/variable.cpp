#include "shoal/nn/variable.h"

#include <fmt/format.h>

#include "shoal/kernels/add.h"
#include "shoal/nn/free_list.h"
#include "shoal/runtime/base/error.h"

namespace shoal::nn {
namespace {

/// The memory of a gradient, shared by the variables that it has been passed to unchanged.
struct Gradient {
  Scratch memory;
  int num_holders = 1;
  Gradient* next_free = nullptr;
};

Gradient* hold_gradient(Scratch memory) {
  Gradient* gradient = FreeList<Gradient>::take();
  gradient->memory = std::move(memory);
  gradient->num_holders = 1;
  return gradient;
}

void let_go(Gradient* gradient) noexcept {
  if (gradient == nullptr || --gradient->num_holders > 0) return;
  gradient->memory = Scratch();
  FreeList<Gradient>::give(gradient);
}

}  // namespace

/// Variables count in both numbers, edges in num_handles only: the value's memory goes with the last variable, the node
/// with the last handle. A view (reshape) has no memory and no gradient of its own: both are its base's.
struct Variable::Node {
  Tensor value;  // keeps the shape when the memory has gone
  Scratch memory;
  Gradient* gradient = nullptr;
  Variable base_value;
  Edge base;
  int num_handles = 0;
  int num_variables = 0;
  bool requires_grad = false;
  Node* next_free = nullptr;
};

namespace {

using Node = Variable::Node;

Node& root_of(Node* node) { return node->base.is_defined() ? *node->base.node() : *node; }

void drop_handle(Node* node) noexcept {
  if (--node->num_handles > 0) return;
  let_go(std::exchange(node->gradient, nullptr));
  node->base = Edge();
  node->value = Tensor();
  node->requires_grad = false;
  FreeList<Node>::give(node);
}

Variable adopt(Node* node) {
  node->num_handles = 1;
  node->num_variables = 1;
  return Variable(node);
}

Node& checked_root(const Edge& edge, const char* call) {
  if (!edge.is_defined()) fail(ErrorCode::InvalidArgument, fmt::format("[{}] an undefined variable", call));
  return root_of(edge.node());
}

}  // namespace

Variable::Variable(const Variable& other) : node_(other.node_) {
  if (node_ == nullptr) return;
  ++node_->num_handles;
  ++node_->num_variables;
}

Variable::~Variable() {
  if (node_ == nullptr) return;
  if (--node_->num_variables == 0) {
    node_->memory = Scratch();
    node_->base_value = Variable();
  }
  drop_handle(node_);
}

const Tensor& Variable::value() const {
  if (node_ == nullptr) fail(ErrorCode::InvalidArgument, "[nn::Variable] the value of an undefined variable");
  return node_->value;
}

bool Variable::requires_grad() const { return node_ != nullptr && node_->requires_grad; }

Edge::Edge(const Variable& variable) : node_(variable.node()) {
  if (node_ != nullptr) ++node_->num_handles;
}

Edge::Edge(const Edge& other) : node_(other.node_) {
  if (node_ != nullptr) ++node_->num_handles;
}

Edge::~Edge() {
  if (node_ != nullptr) drop_handle(node_);
}

bool Edge::requires_grad() const { return node_ != nullptr && node_->requires_grad; }

const Shape& Edge::shape() const {
  if (node_ == nullptr) fail(ErrorCode::InvalidArgument, "[nn::Edge] the shape of an undefined variable");
  return node_->value.shape();
}

Scratch::Scratch(Context& ctx, const Shape& shape, DType dtype, MemoryTag tag, const char* what)
    : Scratch(ctx.allocator, shape, dtype, tag, what) {}

Scratch::Scratch(TensorAllocator& allocator, const Shape& shape, DType dtype, MemoryTag tag, const char* what)
    : allocator_(&allocator), leased_(allocator.acquire(shape, dtype, tag, what)) {}

Scratch::Scratch(Scratch&& other) noexcept
    : allocator_(std::exchange(other.allocator_, nullptr)), leased_(std::exchange(other.leased_, {})) {}

Scratch& Scratch::operator=(Scratch&& other) noexcept {
  Scratch taken(std::move(other));
  std::swap(allocator_, taken.allocator_);
  std::swap(leased_, taken.leased_);
  return *this;
}

Scratch::~Scratch() {
  if (allocator_ != nullptr) allocator_->release(leased_.id);
}

Scratch make_workspace(Context& ctx, std::int64_t bytes, const char* what) {
  if (bytes == 0) return {};
  return {ctx, Shape{bytes}, DType::U8, MemoryTag::Workspace, what};
}

Variable constant(const Tensor& value) {
  Node* node = FreeList<Node>::take();
  node->value = value;
  return adopt(node);
}

Variable make_variable(Context& ctx, const Shape& shape, bool requires_grad, const char* what) {
  return make_variable(ctx, Scratch(ctx, shape, DType::F32, MemoryTag::Activations, what), requires_grad);
}

Variable make_variable(Context& ctx, Scratch memory, bool requires_grad) {
  Node* node = FreeList<Node>::take();
  node->value = memory.tensor();
  node->memory = std::move(memory);
  node->requires_grad = requires_grad && ctx.tape != nullptr;
  return adopt(node);
}

Variable reshape(Context& ctx, const Variable& x, const Shape& shape) {
  (void)ctx;  // a view is no operation: nothing is enqueued and nothing recorded
  const Tensor value = x.value().reshaped(shape);
  Node* node = FreeList<Node>::take();
  node->value = value;
  node->requires_grad = x.requires_grad();
  const Variable& base = x.node()->base_value.is_defined() ? x.node()->base_value : x;
  node->base_value = base;
  node->base = Edge(base);
  return adopt(node);
}

Scratch take_memory(Variable& x) {
  if (!x.is_defined() || x.node()->num_variables != 1) return {};
  return std::exchange(x.node()->memory, Scratch());
}

Variable make_variable_over(Context& ctx, Variable& x, bool requires_grad, const char* what) {
  Scratch memory = take_memory(x);
  if (memory.is_held()) return make_variable(ctx, std::move(memory), requires_grad);
  return make_variable(ctx, x.shape(), requires_grad, what);
}

bool BackwardContext::has_gradient(const Edge& y) const { return checked_root(y, "has_gradient").gradient != nullptr; }

Tensor BackwardContext::gradient_of(const Edge& y) {
  const Node& root = checked_root(y, "gradient_of");
  if (root.gradient == nullptr) return {};
  return root.gradient->memory.tensor().reshaped(y.shape());
}

Tensor BackwardContext::mutable_gradient_of(const Edge& y) {
  Node& root = checked_root(y, "mutable_gradient_of");
  if (root.gradient == nullptr) return {};
  if (root.gradient->num_holders > 1) {
    Scratch own(*ctx_, root.value.shape(), DType::F32, MemoryTag::Activations, "gradient");
    const Tensor& shared = root.gradient->memory.tensor();
    if (shared.num_bytes() > 0) stream().copy(own.tensor().data(), shared.data(), shared.num_bytes());
    let_go(std::exchange(root.gradient, hold_gradient(std::move(own))));
  }
  return gradient_of(y);
}

kernels::GradTarget BackwardContext::target_for(const Edge& x) {
  if (!x.requires_grad()) return {};
  if (has_gradient(x)) return {mutable_gradient_of(x), true};
  Node& root = root_of(x.node());
  root.gradient = hold_gradient(Scratch(*ctx_, root.value.shape(), DType::F32, MemoryTag::Activations, "gradient"));
  return {gradient_of(x), false};
}

kernels::GradTarget BackwardContext::target_for(const Parameter& parameter) {
  if (!parameter.is_trainable) return {};
  return ctx_->binding.gradient(parameter);
}

void BackwardContext::pass_gradient(const Edge& y, const Edge& x) {
  if (!x.requires_grad() || !has_gradient(y)) return;
  Node& from = root_of(y.node());
  Node& to = root_of(x.node());
  if (to.gradient == nullptr) {
    to.gradient = from.gradient;
    ++to.gradient->num_holders;
    return;
  }
  const Tensor sum = mutable_gradient_of(x);
  kernels::add(stream(), sum, from.gradient->memory.tensor(), sum);
}

void BackwardContext::set_gradient(const Edge& x, Scratch gradient) {
  if (!x.requires_grad()) return;
  if (!has_gradient(x)) {
    root_of(x.node()).gradient = hold_gradient(std::move(gradient));
    return;
  }
  const Tensor sum = mutable_gradient_of(x);
  kernels::add(stream(), sum, gradient.tensor(), sum);
}

void BackwardContext::drop_gradient(const Edge& y) {
  let_go(std::exchange(checked_root(y, "drop_gradient").gradient, nullptr));
}

}  // namespace shoal::nn
