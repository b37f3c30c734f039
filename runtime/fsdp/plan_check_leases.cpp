#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "shoal/runtime/base/dtype.h"
#include "shoal/runtime/fsdp/plan_check_parts.h"

namespace shoal::fsdp {
namespace {

std::string describe_lease(const PlanSubject& subject, int index) {
  const Lease& lease = subject.plan.leases[static_cast<std::size_t>(index)];
  const std::string range = fmt::format("bytes [{}, {})", lease.offset, lease.offset + lease.bytes);
  if (lease.unit < 0) return fmt::format("lease {} ({}, {})", index, memory_tag_name(lease.tag), range);
  return fmt::format("lease {} ({} of '{}', {})", index, memory_tag_name(lease.tag), subject.unit(lease.unit).name,
                     range);
}

void check_activation_leases(const PlanSubject& subject) {
  const Plan& plan = subject.plan;
  const int end = static_cast<int>(subject.trace.events.size());
  std::vector<Lease> expected;
  for (int i = 0; i < end && plan.kind != PassKind::Update; ++i) {
    const TraceEvent& event = subject.trace.events[static_cast<std::size_t>(i)];
    if (event.kind == TraceKind::Acquire) {
      expected.push_back({.tag = event.tag, .bytes = event.bytes, .begin = i, .end = end});
    } else if (event.kind == TraceKind::Release) {
      expected.at(static_cast<std::size_t>(event.id)).end = i;
    }
  }
  if (static_cast<int>(expected.size()) != plan.num_activation_leases || expected.size() > plan.leases.size()) {
    subject.reject(fmt::format("the trace has {} leases, the plan {}", expected.size(), plan.num_activation_leases));
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Lease& lease = plan.leases[i];
    if (lease.tag == expected[i].tag && lease.bytes == expected[i].bytes && lease.unit == -1 && lease.flat == -1 &&
        lease.begin == expected[i].begin && lease.end == expected[i].end) {
      continue;
    }
    subject.reject(fmt::format("{} is not the trace's", describe_lease(subject, static_cast<int>(i))));
  }
}

/// Operations that take and give back a unit's lease.
struct Holders {
  int acquire = -1;
  int release = -1;
};

void note_holder(const PlanSubject& subject, int index, std::vector<Holders>& holders) {
  const PlanOp& op = subject.op(index);
  const bool acquires = op.kind == OpKind::Gather || op.kind == OpKind::HoldGradients;
  const bool releases = op.kind == OpKind::ReleaseValues || op.kind == OpKind::ReleaseGradients;
  if (!acquires && !releases) return;
  Holders& entry = holders[static_cast<std::size_t>(op.lease)];
  int& place = acquires ? entry.acquire : entry.release;
  if (place >= 0) {
    subject.reject(fmt::format("{} and {} both {} lease {}", subject.describe(place), subject.describe(index),
                               acquires ? "acquire" : "give back", op.lease));
  }
  place = index;
}

void check_unit_leases(const PlanSubject& subject) {
  const Plan& plan = subject.plan;
  std::vector<Holders> holders(plan.leases.size());
  for (std::size_t i = 0; i < plan.ops.size(); ++i) note_holder(subject, static_cast<int>(i), holders);
  for (std::size_t i = 0; i < plan.leases.size(); ++i) {
    const Lease& lease = plan.leases[i];
    const Holders& entry = holders[i];
    const int index = static_cast<int>(i);
    if (index < plan.num_activation_leases) {
      if (entry.acquire >= 0) subject.reject(fmt::format("{} takes an activation", subject.describe(entry.acquire)));
      continue;
    }
    if (entry.acquire < 0 || entry.release < entry.acquire) {
      subject.reject(fmt::format("lease {} is not acquired and given back once", index));
    }
    const bool is_values = subject.op(entry.acquire).kind == OpKind::Gather;
    const OpKind release = is_values ? OpKind::ReleaseValues : OpKind::ReleaseGradients;
    const int flat = subject.op(entry.acquire).flat;
    const bool is_right = lease.begin == entry.acquire && lease.end == entry.release && lease.flat == flat &&
                          lease.unit == subject.flat(flat).unit && subject.op(entry.release).kind == release &&
                          subject.op(entry.release).flat == flat &&
                          lease.tag == (is_values ? MemoryTag::UnshardedParameters : MemoryTag::UnshardedGradients) &&
                          lease.bytes == subject.flat(flat).layout.full_numel() * dtype_bytes(DType::F32);
    if (!is_right) {
      subject.reject(fmt::format("lease {} is not what {} acquires and {} gives back", index,
                                 subject.describe(entry.acquire), subject.describe(entry.release)));
    }
  }
}

void check_bytes(const PlanSubject& subject, const EnqueueOrder& order) {
  struct Change {
    int place;
    bool acquires;
    int lease;
  };
  std::vector<Change> changes;
  for (std::size_t i = 0; i < subject.plan.leases.size(); ++i) {
    const Lease& lease = subject.plan.leases[i];
    const int index = static_cast<int>(i);
    if (lease.offset < 0 || lease.offset % kLeaseAlignment != 0 || lease.bytes < 0 ||
        lease.offset + lease.bytes > subject.plan.arena_bytes) {
      subject.reject(fmt::format("{} is unaligned or outside of the arena of {} bytes", describe_lease(subject, index),
                                 subject.plan.arena_bytes));
    }
    if (lease.bytes == 0) continue;
    changes.push_back({order.begin_of(subject.plan, index), true, index});
    changes.push_back({order.end_of(subject.plan, index), false, index});
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.place < b.place; });
  std::map<std::int64_t, int> held;  // lease by offset
  for (const Change& change : changes) {
    const Lease& lease = subject.plan.leases[static_cast<std::size_t>(change.lease)];
    if (!change.acquires) {
      held.erase(lease.offset);
      continue;
    }
    const auto [at, is_new] = held.emplace(lease.offset, change.lease);
    const auto end_of = [&](int other) {
      const Lease& taken = subject.plan.leases[static_cast<std::size_t>(other)];
      return taken.offset + taken.bytes;
    };
    int other = is_new ? -1 : at->second;
    if (is_new && at != held.begin() && end_of(std::prev(at)->second) > lease.offset) other = std::prev(at)->second;
    if (is_new && std::next(at) != held.end() && std::next(at)->first < end_of(change.lease)) {
      other = std::next(at)->second;
    }
    if (other >= 0) {
      subject.reject(fmt::format("{} and {} are held together and share bytes", describe_lease(subject, other),
                                 describe_lease(subject, change.lease)));
    }
  }
}

}  // namespace

void check_leases(const PlanSubject& subject, const EnqueueOrder& order) {
  check_activation_leases(subject);
  check_unit_leases(subject);
  check_bytes(subject, order);
}

}  // namespace shoal::fsdp
