#pragma once

namespace shoal::test {

/// Counts, while it exists, what steady states must not call, on every thread of the program: operator new in all its
/// forms, and pthread_mutex_lock (which std::mutex is). One at a time. Using it replaces these in the executable.
class CountedCalls {
 public:
  CountedCalls();
  ~CountedCalls();
  CountedCalls(const CountedCalls&) = delete;
  CountedCalls& operator=(const CountedCalls&) = delete;

  static int num_allocations();
  static int num_mutex_locks();
};

}  // namespace shoal::test
