#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "shoal/runtime/fsdp/plan_check_parts.h"

namespace shoal::fsdp {
namespace {

std::vector<int> collectives_of(const Plan& plan) {
  std::vector<int> ops;
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    if (is_collective(plan.ops[i].kind)) ops.push_back(static_cast<int>(i));
  }
  return ops;
}

/// Operations of all ranks and what must come before what. The n-th collective of one kind on one flat parameter is one
/// node for all ranks, since none can finish it alone.
class JointGraph {
 public:
  explicit JointGraph(std::span<const PlanSubject> ranks) : ranks_(ranks) {
    for (std::size_t r = 0; r < ranks.size(); ++r) add_rank(r);
  }

  /// Nodes that wait for each other in a circle; empty: there is none.
  std::vector<int> find_cycle() const {
    std::vector<int> num_before(labels_.size(), 0);
    for (const auto& [from, to] : edges_) ++num_before[static_cast<std::size_t>(to)];
    std::vector<std::vector<int>> after(labels_.size()), before(labels_.size());
    for (const auto& [from, to] : edges_) {
      after[static_cast<std::size_t>(from)].push_back(to);
      before[static_cast<std::size_t>(to)].push_back(from);
    }
    std::vector<int> ready;
    for (std::size_t n = 0; n < num_before.size(); ++n) {
      if (num_before[n] == 0) ready.push_back(static_cast<int>(n));
    }
    std::size_t num_done = 0;
    for (; num_done < ready.size(); ++num_done) {
      for (const int next : after[static_cast<std::size_t>(ready[num_done])]) {
        if (--num_before[static_cast<std::size_t>(next)] == 0) ready.push_back(next);
      }
    }
    if (num_done == labels_.size()) return {};
    // Whatever is left has something left before it: walking backwards comes round.
    const auto is_left = [&](int n) { return num_before[static_cast<std::size_t>(n)] > 0; };
    int at = 0;
    while (!is_left(at)) ++at;
    std::vector<int> walk;
    while (std::find(walk.begin(), walk.end(), at) == walk.end()) {
      walk.push_back(at);
      const std::vector<int>& candidates = before[static_cast<std::size_t>(at)];
      at = *std::find_if(candidates.begin(), candidates.end(), is_left);
    }
    return {std::find(walk.begin(), walk.end(), at), walk.end()};
  }

  const std::string& label(int node) const { return labels_[static_cast<std::size_t>(node)]; }

 private:
  int add_node(std::string label) {
    labels_.push_back(std::move(label));
    return static_cast<int>(labels_.size()) - 1;
  }

  int node_of(std::size_t r, int index, std::map<std::pair<OpKind, int>, int>& occurrences) {
    const PlanSubject& subject = ranks_[r];
    const PlanOp& op = subject.op(index);
    if (!is_collective(op.kind)) return add_node(fmt::format("rank {}: {}", r, subject.describe(index)));
    const int occurrence = occurrences[{op.kind, op.flat}]++;
    const auto [at, is_new] = shared_.try_emplace({op.kind, op.flat, occurrence}, -1);
    if (is_new) at->second = add_node(fmt::format("all ranks: {}", subject.describe(index)));
    return at->second;
  }

  void add_rank(std::size_t r) {
    const Plan& plan = ranks_[r].plan;
    std::map<std::pair<OpKind, int>, int> occurrences;
    std::map<int, int> last_of_stream;
    std::vector<int> nodes;
    std::map<int, int> recorder;
    int last_collective = -1;
    for (std::size_t i = 0; i < plan.ops.size(); ++i) {
      nodes.push_back(node_of(r, static_cast<int>(i), occurrences));
      if (plan.ops[i].records >= 0) recorder[plan.ops[i].records] = nodes.back();
    }
    for (std::size_t i = 0; i < plan.ops.size(); ++i) {
      const PlanOp& op = plan.ops[i];
      const auto [last, is_first] = last_of_stream.try_emplace(static_cast<int>(op.stream), nodes[i]);
      if (!is_first) edges_.emplace_back(last->second, nodes[i]);
      last->second = nodes[i];
      for (const int event : op.waits) {
        if (recorder.contains(event)) edges_.emplace_back(recorder[event], nodes[i]);
      }
      if (!is_collective(op.kind)) continue;
      if (last_collective >= 0) edges_.emplace_back(last_collective, nodes[i]);
      last_collective = nodes[i];
    }
  }

  std::span<const PlanSubject> ranks_;
  std::vector<std::string> labels_;
  std::vector<std::pair<int, int>> edges_;
  std::map<std::tuple<OpKind, int, int>, int> shared_;
};

}  // namespace

void check_same_collectives(std::span<const PlanSubject> ranks) {
  const std::vector<int> first = collectives_of(ranks.front().plan);
  for (const PlanSubject& subject : ranks.subspan(1)) {
    const std::vector<int> own = collectives_of(subject.plan);
    for (std::size_t i = 0; i < std::max(first.size(), own.size()); ++i) {
      if (i >= first.size() || i >= own.size()) {
        subject.reject(fmt::format("it issues {} collectives, rank 0 {}", own.size(), first.size()));
      }
      const PlanOp& a = ranks.front().op(first[i]);
      const PlanOp& b = subject.op(own[i]);
      if (a.kind == b.kind && a.flat == b.flat) continue;
      subject.reject(fmt::format("collective {} is {}, and on rank 0 {}", i, subject.describe(own[i]),
                                 ranks.front().describe(first[i])));
    }
  }
}

void check_no_cycle(std::span<const PlanSubject> ranks) {
  const JointGraph graph(ranks);
  const std::vector<int> cycle = graph.find_cycle();
  if (cycle.empty()) return;
  std::string text = graph.label(cycle.front());
  for (std::size_t i = 1; i < std::min<std::size_t>(cycle.size(), 8); ++i)
    text += " waits for " + graph.label(cycle[i]);
  ranks.front().reject(fmt::format("operations wait for each other in a circle of {}: {}", cycle.size(), text));
}

}  // namespace shoal::fsdp
