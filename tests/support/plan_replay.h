#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shoal/runtime/device/hazard_checker.h"
#include "shoal/tests/support/plan_cases.h"

namespace shoal::test {

/// Plays plans through the device's happens-before checker: what an executor would enqueue, with the byte ranges that
/// it would declare, and no memory behind them.
class PlanReplay {
 public:
  explicit PlanReplay(const PlanCase& planned);

  /// One pass. Throws what the checker throws.
  void run(const fsdp::Plan& plan);

 private:
  void follow_event(const fsdp::Plan& plan, std::size_t position);
  void follow_op(const fsdp::Plan& plan, std::size_t index);
  void touch(StreamRole stream, const char* name, ByteRanges reads, ByteRanges writes);
  ByteRange lease_range(const fsdp::Plan& plan, int lease) const;
  ByteRange parameters(int flat) const { return parameter_ranges_[static_cast<std::size_t>(flat)]; }
  ByteRange gradients(int flat) const { return gradient_ranges_[static_cast<std::size_t>(flat)]; }

  const PlanCase& planned_;
  HazardChecker checker_;
  std::vector<int> streams_;  // by role
  std::vector<HazardChecker::Clock> events_;
  std::vector<ByteRange> parameter_ranges_, gradient_ranges_;  // by flat parameter, of this rank
  ByteRange sums_, staged_, words_;
  std::vector<int> values_lease_, gradients_lease_;  // by flat parameter; -1: none
};

}  // namespace shoal::test
