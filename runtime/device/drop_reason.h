#pragma once

#include <exception>

namespace shoal {

/// Why a stream drops operations on this thread, while it does: the stream's error. A task that others wait for, and
/// that is destroyed without having run, can tell them.
class DropReason {
 public:
  explicit DropReason(std::exception_ptr error);
  ~DropReason();
  DropReason(const DropReason&) = delete;
  DropReason& operator=(const DropReason&) = delete;

  /// Null where nothing is being dropped, or nobody knows why.
  static std::exception_ptr current();

 private:
  std::exception_ptr outer_;
};

}  // namespace shoal
