#pragma once

#include <string>

namespace shoal::test {

/// A terminal that nobody sits at. What is written to `user_end()` comes out of it unchanged.
class Terminal {
 public:
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  int user_end() const { return user_end_; }
  /// Readable where something was written; at its end once every user end is closed.
  int screen() const { return screen_; }
  /// So that the screen is at its end once whoever has it too has closed it.
  void close_user_end();
  /// All that is written until every user end is closed; this one is closed now.
  std::string read_rest();

 private:
  int screen_ = -1;
  int user_end_ = -1;
};

}  // namespace shoal::test
