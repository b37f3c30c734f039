#include "shoal/runtime/base/error.h"

#include <array>

namespace shoal {

std::string_view error_code_name(ErrorCode code) {
  static constexpr std::array<std::string_view, 9> kNames = {"InvalidArgument", "Unsupported", "OutOfMemory",
                                                             "DeviceFailure",   "CommFailure", "Timeout",
                                                             "Aborted",         "Corrupt",     "Internal"};
  return kNames[static_cast<std::size_t>(code)];
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
