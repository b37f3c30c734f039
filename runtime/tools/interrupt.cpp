#include "shoal/runtime/tools/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <string_view>

namespace shoal::tools {
namespace {

sigset_t watched_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

[[noreturn]] void end_process(std::string_view why) {
  // Where standard error is closed there is nobody to tell.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, why.data(), why.size());
  std::_Exit(1);
}

}  // namespace

InterruptWatch::InterruptWatch() {
  const sigset_t signals = watched_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  thread_ = std::thread([this] { watch(); });
}

InterruptWatch::~InterruptWatch() {
  ends_.store(true);
  thread_.join();
  const sigset_t signals = watched_signals();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

void InterruptWatch::watch() {
  const sigset_t signals = watched_signals();
  const timespec nap{0, 20'000'000};  // 20 ms: how long the end of the watch may take
  while (!ends_.load()) {
    if (sigtimedwait(&signals, nullptr, &nap) < 0) continue;
    if (!source_.request_stop()) end_process("shoal: ended at once by a second signal\n");
    if (!has_started_.load()) end_process("shoal: ended by a signal before the run began\n");
  }
}

}  // namespace shoal::tools
