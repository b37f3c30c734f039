#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace shoal {

/// What went wrong, in the terms that decide what a caller can do about it.
/// CommFailure, Timeout and Aborted: rebuild the communicator. InvalidArgument and Unsupported: change the call.
/// OutOfMemory: recoverable, nothing was changed. DeviceFailure and Internal: stop. Corrupt: the bytes read are bad.
enum class ErrorCode {
  InvalidArgument,
  Unsupported,
  OutOfMemory,
  DeviceFailure,
  CommFailure,
  Timeout,
  Aborted,
  Corrupt,
  Internal,
};

/// "InvalidArgument", "Unsupported", ...
std::string_view error_code_name(ErrorCode code);

/// How far an error is from the cause where several ranks fail because of one: 0 for what a rank fails with by itself;
/// more, in this order, for CommFailure, Timeout and Aborted, which is how the others learn of it.
int distance_from_cause(ErrorCode code);

/// The one exception type. `what()` reads "[operation] what is wrong; the values; what would work".
/// `rank` is the rank on which it happened, or -1 where no rank is concerned.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message, int rank = -1)
      : std::runtime_error(message), code_(code), rank_(rank) {}

  ErrorCode code() const { return code_; }
  int rank() const { return rank_; }

  /// The text between the leading brackets, or an empty view.
  std::string_view operation() const;

 private:
  ErrorCode code_;
  int rank_;
};

/// Throws Error(code, message).
[[noreturn]] void fail(ErrorCode code, const std::string& message);

}  // namespace shoal
