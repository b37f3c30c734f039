#pragma once

#include <string>

#include "shoal/runtime/fsdp/plan.h"

namespace shoal::fsdp {

/// Follows what a pass does, lease by lease and parameter by parameter, and compares it with the trace that its plan
/// was made from: the plan is right for nothing else.
class TraceCursor {
 public:
  /// The pass that follows uses `plan`, which must outlive it.
  void begin(const Plan& plan) {
    plan_ = &plan;
    next_ = 0;
  }

  /// Whether this is what the traced pass did next; then it is passed.
  bool follow(TraceKind kind, int id) {
    if (next_ >= plan_->steps.size() || plan_->steps[next_].kind != kind || plan_->steps[next_].id != id) return false;
    ++next_;
    return true;
  }

  bool is_at_end() const { return next_ == plan_->steps.size(); }

  /// "uses 'blocks.1.up.weight'", "acquires lease 3", "ends": what the traced pass did next.
  std::string describe_next(const UnitTable& units) const;

 private:
  const Plan* plan_ = nullptr;
  std::size_t next_ = 0;
};

}  // namespace shoal::fsdp
