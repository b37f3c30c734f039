#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace shoal {

/// The process that an object was made in. A forked child has a copy of the object, but not the threads that it needs:
/// this tells the two apart, for the price of a relaxed load.
class ProcessMark {
 public:
  /// The first one registers a fork handler, which counts.
  ProcessMark();

  bool is_forked_copy() const { return num_forks_ != num_forks().load(std::memory_order_relaxed); }

  /// Throws Internal, naming call and object ("device 'host:0'"), in a forked child.
  void check(const char* call, const char* kind, const std::string& name) const {
    if (is_forked_copy()) fail_in_child(call, kind, name);
  }

 private:
  // How often this process came out of a fork, its ancestors' times included.
  static std::atomic<std::uint32_t>& num_forks() {
    static std::atomic<std::uint32_t> count{0};
    return count;
  }
  [[noreturn]] void fail_in_child(const char* call, const char* kind, const std::string& name) const;

  std::uint32_t num_forks_;
  long process_id_;
};

}  // namespace shoal
