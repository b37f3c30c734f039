#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "shoal/runtime/fsdp/plan_accesses.h"
#include "shoal/runtime/fsdp/plan_check_parts.h"

namespace shoal::fsdp {
namespace {

constexpr std::size_t kNumRoles = 4;

/// A vector clock over operations: by stream, how far it is known to be done.
using Clock = std::array<int, kNumRoles>;

/// What has happened before each operation, from stream order and events alone.
std::vector<Clock> happened_before(const Plan& plan) {
  std::vector<Clock> before(plan.ops.size());
  std::vector<std::size_t> recorder(static_cast<std::size_t>(plan.num_events));
  Clock last = {-1, -1, -1, -1};  // the latest operation of each stream
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    const auto stream = static_cast<std::size_t>(plan.ops[i].stream);
    Clock clock = {-1, -1, -1, -1};
    const auto join_end_of = [&](std::size_t op) {
      for (std::size_t s = 0; s < kNumRoles; ++s) clock[s] = std::max(clock[s], before[op][s]);
      int& own = clock[static_cast<std::size_t>(plan.ops[op].stream)];
      own = std::max(own, static_cast<int>(op));
    };
    if (last[stream] >= 0) join_end_of(static_cast<std::size_t>(last[stream]));
    for (const int event : plan.ops[i].waits) join_end_of(recorder[static_cast<std::size_t>(event)]);
    before[i] = clock;
    last[stream] = static_cast<int>(i);
    if (plan.ops[i].records >= 0) recorder[static_cast<std::size_t>(plan.ops[i].records)] = i;
  }
  return before;
}

class ConflictCheck {
 public:
  ConflictCheck(const PlanSubject& subject, const EnqueueOrder& order)
      : subject_(subject),
        before_(happened_before(subject.plan)),
        accesses_(list_accesses(subject.plan, subject.trace, subject.input.units, order)) {}

  std::int64_t run() {
    std::vector<const Access*> sent;
    for (const Access& access : accesses_) {
      if (access.stream != StreamRole::Compute) sent.push_back(&access);
    }
    std::int64_t num_ordered = 0;
    for (const Access* a : sent) {
      for (const Access& b : accesses_) {
        const bool comes_again = b.stream != StreamRole::Compute && b.op < a->op;
        if (b.stream == a->stream || comes_again || !is_conflict(*a, b)) continue;
        check_pair(*a, b);
        ++num_ordered;
      }
      check_fork_and_join(*a);
    }
    return num_ordered;
  }

 private:
  std::string describe(const Access& access) const {
    const char* verb = access.writes ? "writes" : "reads";
    if (access.op >= 0) return fmt::format("{} {}", subject_.describe(access.op), verb);
    const std::string owner =
        access.flat >= 0 ? fmt::format(" of '{}'", subject_.unit(subject_.flat(access.flat).unit).name) : "";
    return fmt::format("compute{} at trace position {} {}", owner, access.trace_position, verb);
  }

  bool is_before(const Access& a, const Access& b) const {
    if (a.done_by < 0 || b.starts_after < 0 || a.last >= b.first) return false;
    return before_[static_cast<std::size_t>(b.starts_after)][static_cast<std::size_t>(a.stream)] >= a.done_by;
  }

  void check_pair(const Access& a, const Access& b) const {
    if (is_before(a, b) || is_before(b, a)) return;
    subject_.reject(fmt::format("{} {} bytes [{}, {}) and {} [{}, {}), and nothing orders the two", describe(a),
                                resource_name(a.resource), a.begin, a.end, describe(b), b.begin, b.end));
  }

  // What other streams touch may have been touched by compute in an earlier pass, and may be in a later one.
  void check_fork_and_join(const Access& access) const {
    const auto compute = static_cast<std::size_t>(StreamRole::Compute);
    if (follows_earlier_passes(subject_.op(access.op).kind) &&
        before_[static_cast<std::size_t>(access.op)][compute] < 0) {
      subject_.reject(fmt::format("{} {}, and nothing orders it after earlier passes", describe(access),
                                  resource_name(access.resource)));
    }
    if (before_.back()[static_cast<std::size_t>(access.stream)] < access.op) {
      subject_.reject(fmt::format("{} {}, and the end of the pass does not wait for it", describe(access),
                                  resource_name(access.resource)));
    }
  }

  const PlanSubject& subject_;
  std::vector<Clock> before_;
  std::vector<Access> accesses_;
};

/// The stages of an update, which follow one another.
int update_stage(OpKind kind) {
  switch (kind) {
    case OpKind::GradientNorm:
      return 1;
    case OpKind::ReduceNorm:
      return 2;
    case OpKind::FinishNorm:
      return 3;
    case OpKind::Update:
      return 4;
    case OpKind::Publish:
      return 5;
    default:
      return 0;  // AwaitReaders comes anywhere before the updates, which its reads see to
  }
}

void check_stages(const PlanSubject& subject) {
  int stage = 0;
  for (std::size_t i = 0; i < subject.plan.ops.size(); ++i) {
    const int own = update_stage(subject.plan.ops[i].kind);
    if (own == 0) continue;
    if (own < stage) subject.reject(subject.describe(static_cast<int>(i)) + " comes too late in the update");
    stage = own;
  }
}

}  // namespace

std::int64_t check_conflicts(const PlanSubject& subject, const EnqueueOrder& order) {
  check_stages(subject);
  return ConflictCheck(subject, order).run();
}

}  // namespace shoal::fsdp
