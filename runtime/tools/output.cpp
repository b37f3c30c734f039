#include "shoal/runtime/tools/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "shoal/runtime/base/error.h"

namespace shoal::tools {

Output::Output(int descriptor) : descriptor_(descriptor), is_terminal_(::isatty(descriptor) == 1) {}

void Output::write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      fail(ErrorCode::DeviceFailure, fmt::format("[output] cannot write to standard output: {}", std::strerror(errno)));
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void Output::write(std::string_view text) {
  const std::lock_guard lock(turn_);
  write_all(text);
}

void Output::write_line(std::string_view text) {
  std::string line(text);
  line += '\n';
  write(line);
}

}  // namespace shoal::tools
