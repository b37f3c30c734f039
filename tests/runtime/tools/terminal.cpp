#include "shoal/tests/runtime/tools/terminal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <utility>

namespace shoal::test {

Terminal::Terminal() : screen_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
  if (screen_ < 0 || ::grantpt(screen_) != 0 || ::unlockpt(screen_) != 0) throw std::runtime_error("no terminal");
  user_end_ = ::open(::ptsname(screen_), O_RDWR | O_NOCTTY | O_CLOEXEC);
  termios settings{};
  if (user_end_ < 0 || ::tcgetattr(user_end_, &settings) != 0) throw std::runtime_error("no terminal");
  ::cfmakeraw(&settings);
  if (::tcsetattr(user_end_, TCSANOW, &settings) != 0) throw std::runtime_error("no raw terminal");
}

Terminal::~Terminal() {
  close_user_end();
  ::close(screen_);
}

void Terminal::close_user_end() {
  if (user_end_ >= 0) ::close(std::exchange(user_end_, -1));
}

std::string Terminal::read_rest() {
  close_user_end();
  std::string text;
  std::array<char, 4096> piece;
  for (ssize_t got = 1; got > 0;) {
    got = ::read(screen_, piece.data(), piece.size());
    if (got > 0) text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace shoal::test
