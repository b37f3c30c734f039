#include "shoal/nn/tape.h"

#include <utility>

namespace shoal::nn {

void Tape::record(const Edge& y, BackwardFunction backward) {
  if (!y.requires_grad()) return;
  Node& node = nodes_.emplace_back();
  node.kind = Node::Kind::Operation;
  node.y = y;
  node.backward = std::move(backward);
}

void Tape::record_loss(BackwardFunction backward) {
  Node& node = nodes_.emplace_back();
  node.kind = Node::Kind::Loss;
  node.backward = std::move(backward);
}

void Tape::record_enter(const Module& module) {
  Node& node = nodes_.emplace_back();
  node.kind = Node::Kind::Enter;
  node.module = &module;
}

void Tape::record_exit(const Module& module) {
  Node& node = nodes_.emplace_back();
  node.kind = Node::Kind::Exit;
  node.module = &module;
}

void Tape::replay(Node& node, Context& ctx) {
  BackwardContext bctx(ctx);
  switch (node.kind) {
    case Node::Kind::Operation:
      if (bctx.has_gradient(node.y)) node.backward(bctx);
      node.backward.reset();
      bctx.drop_gradient(node.y);
      break;
    case Node::Kind::Loss:
      node.backward(bctx);
      break;
    case Node::Kind::Exit:
      ctx.binding.enter(*node.module, Phase::Backward);
      break;
    case Node::Kind::Enter:
      ctx.binding.exit(*node.module, Phase::Backward);
      break;
  }
}

void Tape::backward(Context& ctx) {
  try {
    while (!nodes_.empty()) {
      Node node = std::move(nodes_.back());
      nodes_.pop_back();
      replay(node, ctx);
    }
  } catch (...) {
    clear();
    throw;
  }
}

void Tape::clear() {
  while (!nodes_.empty()) nodes_.pop_back();  // last first, as a backward would
}

}  // namespace shoal::nn
