#include "shoal/runtime/fsdp/wait_reduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/fsdp/plan_accesses.h"

namespace shoal::fsdp {
namespace {

constexpr std::size_t kNumStreams = 4;

/// By stream: the last of its operations that is known to be done; -1: none.
using Known = std::array<int, kNumStreams>;
constexpr Known kNothing = {-1, -1, -1, -1};

std::size_t slot(StreamRole stream) { return static_cast<std::size_t>(stream); }

/// What each operation must wait for, before anything is left out.
class Requirements {
 public:
  explicit Requirements(const Plan& plan) : plan_(plan), needs_(plan.ops.size(), kNothing) {}

  const Known& of(std::size_t op) const { return needs_[op]; }

  /// Stream `stream` up to and including `earlier` must be done before `op`.
  void require(int op, StreamRole stream, int earlier) {
    int& need = needs_[static_cast<std::size_t>(op)][slot(stream)];
    need = std::max(need, earlier);
  }

  void order(const Access& earlier, const Access& later) {
    if (earlier.done_by < 0 || earlier.done_by >= later.starts_after) {
      fail(ErrorCode::Internal,
           fmt::format("[plan_pass] nothing can order {} of bytes [{}, {}) by {} before {}",
                       resource_name(later.resource), later.begin, later.end, describe(earlier), describe(later)));
    }
    require(later.starts_after, earlier.stream, earlier.done_by);
  }

 private:
  std::string describe(const Access& access) const {
    if (access.op < 0) return fmt::format("compute at trace position {}", access.trace_position);
    return fmt::format("operation {} ({})", access.op,
                       op_kind_name(plan_.ops[static_cast<std::size_t>(access.op)].kind));
  }

  const Plan& plan_;
  std::vector<Known> needs_;
};

void require_conflicts(Requirements& needs, const std::vector<Access>& accesses) {
  std::vector<const Access*> sent;  // those of streams other than compute; compute never conflicts with itself
  for (const Access& access : accesses) {
    if (access.stream != StreamRole::Compute) sent.push_back(&access);
  }
  for (const Access* x : sent) {
    for (const Access& y : accesses) {
      // Pairs of which neither is compute come by twice; once is enough.
      if (y.stream == x->stream || (y.stream != StreamRole::Compute && y.op < x->op) || !is_conflict(*x, y)) continue;
      if (y.first > x->first) {
        needs.order(*x, y);
      } else {
        needs.order(y, *x);
      }
    }
  }
}

void require_fork_and_join(Requirements& needs, const Plan& plan, const std::vector<Access>& accesses) {
  const int end = static_cast<int>(plan.ops.size()) - 1;
  for (const Access& access : accesses) {
    if (access.stream == StreamRole::Compute) continue;
    const OpKind kind = plan.ops[static_cast<std::size_t>(access.op)].kind;
    if (follows_earlier_passes(kind)) needs.require(access.op, StreamRole::Compute, 0);
    needs.require(end, access.stream, access.op);
  }
}

void join(Known& known, const Known& other) {
  for (std::size_t s = 0; s < kNumStreams; ++s) known[s] = std::max(known[s], other[s]);
}

/// Walks the operations with what each stream knows and adds the waits that bring something new.
void add_waits(Plan& plan, const Requirements& needs, std::vector<std::vector<int>>& awaited_ops) {
  std::array<Known, kNumStreams> streams;
  streams.fill(kNothing);
  std::vector<Known> after(plan.ops.size(), kNothing);  // known once the operation is done
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    Known& known = streams[slot(plan.ops[i].stream)];
    const Known& need = needs.of(i);
    Known missing = kNothing;
    for (std::size_t s = 0; s < kNumStreams; ++s) {
      if (need[s] > known[s]) missing[s] = need[s];
    }
    for (std::size_t s = 0; s < kNumStreams; ++s) {
      if (missing[s] < 0) continue;
      // Left out where another of these waits brings it too. (They cannot imply each other in a circle: what an
      // operation knows lies before it.)
      const bool is_implied = std::any_of(missing.begin(), missing.end(), [&](int other) {
        return other >= 0 && other != missing[s] && after[static_cast<std::size_t>(other)][s] >= missing[s];
      });
      if (!is_implied) awaited_ops[i].push_back(missing[s]);
    }
    for (const int op : awaited_ops[i]) join(known, after[static_cast<std::size_t>(op)]);
    known[slot(plan.ops[i].stream)] = static_cast<int>(i);
    after[i] = known;
  }
}

}  // namespace

void synchronize_plan(Plan& plan, const Trace& trace, const UnitTable& units) {
  const EnqueueOrder order = enqueue_order(plan, trace);
  const std::vector<Access> accesses = list_accesses(plan, trace, units, order);
  Requirements needs(plan);
  require_conflicts(needs, accesses);
  require_fork_and_join(needs, plan, accesses);
  std::vector<std::vector<int>> awaited_ops(plan.ops.size());
  add_waits(plan, needs, awaited_ops);

  // Events are numbered as they are recorded.
  for (const std::vector<int>& awaited : awaited_ops) {
    for (const int op : awaited) plan.ops[static_cast<std::size_t>(op)].records = 0;
  }
  for (PlanOp& op : plan.ops) {
    if (op.records >= 0) op.records = plan.num_events++;
  }
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    for (const int op : awaited_ops[i]) {
      plan.ops[i].waits.push_back(plan.ops[static_cast<std::size_t>(op)].records);
    }
    std::sort(plan.ops[i].waits.begin(), plan.ops[i].waits.end());
  }
}

}  // namespace shoal::fsdp
