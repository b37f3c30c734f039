#pragma once

#include <mutex>
#include <string_view>

namespace shoal::tools {

/// Where a program's text goes: standard output, written at once and checked. May be used from any thread.
class Output {
 public:
  /// `descriptor` stays open and belongs to the caller.
  explicit Output(int descriptor);

  /// Writes all of `text`. Throws DeviceFailure, "[output] ...", with the system's reason (a full disk, a closed pipe).
  void write(std::string_view text);
  /// `text` and a line end.
  void write_line(std::string_view text);

  bool is_terminal() const { return is_terminal_; }

 private:
  void write_all(std::string_view text);

  int descriptor_;
  bool is_terminal_;
  std::mutex turn_;
};

}  // namespace shoal::tools
