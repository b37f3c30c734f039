#pragma once

#include <vector>

#include "shoal/nn/module.h"
#include "shoal/nn/variable.h"
#include "shoal/runtime/base/inline_function.h"

namespace shoal::nn {

/// What undoes one operation. Captures Variables whose value it reads, Edges of those it does not, and Parameter
/// pointers (handles, never parameter memory); destroyed right after it ran, so that activations go back as the
/// backward proceeds.
using BackwardFunction = InlineFunction<void(BackwardContext&), 256>;

/// The define-by-run tape: operations and module marks in recording order, replayed in strict reverse. Keeps its memory
/// between passes, so recording does not allocate once it has seen a pass of the same length.
class Tape {
 public:
  /// `y` is the operation's result: its gradient is given back after `backward`. Skipped when y does not require a
  /// gradient.
  void record(const Edge& y, BackwardFunction backward);
  /// A loss: replayed unconditionally (it has no result whose gradient could be missing).
  void record_loss(BackwardFunction backward);
  void record_enter(const Module& module);
  void record_exit(const Module& module);

  /// Replays everything in reverse and leaves the tape empty. Operations whose result received no gradient are passed
  /// over, their marks are not. An exception leaves the tape empty too.
  void backward(Context& ctx);

  /// Drops everything recorded.
  void clear();
  bool is_empty() const { return nodes_.empty(); }

 private:
  struct Node {
    enum class Kind { Operation, Loss, Enter, Exit } kind = Kind::Operation;
    Edge y;
    BackwardFunction backward;
    const Module* module = nullptr;
  };
  static void replay(Node& node, Context& ctx);

  std::vector<Node> nodes_;
};

}  // namespace shoal::nn
