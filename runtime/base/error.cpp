#include "shoal/runtime/base/error.h"

#include <array>

namespace shoal {

std::string_view error_code_name(ErrorCode code) {
  static constexpr std::array<std::string_view, 9> kNames = {"InvalidArgument", "Unsupported", "OutOfMemory",
                                                             "DeviceFailure",   "CommFailure", "Timeout",
                                                             "Aborted",         "Corrupt",     "Internal"};
  return kNames[static_cast<std::size_t>(code)];
}

int distance_from_cause(ErrorCode code) {
  switch (code) {
    case ErrorCode::CommFailure:
      return 1;
    case ErrorCode::Timeout:
      return 2;
    case ErrorCode::Aborted:
      return 3;
    default:
      return 0;
  }
}

std::string_view Error::operation() const {
  const std::string_view message = what();
  if (message.empty() || message.front() != '[') return {};
  const std::size_t end = message.find(']');
  if (end == std::string_view::npos) return {};
  return message.substr(1, end - 1);
}

void fail(ErrorCode code, const std::string& message) { throw Error(code, message); }

}  // namespace shoal
