#include "shoal/runtime/tools/interrupt.h"

#include <csignal>
#include <cstdlib>
#include <ctime>

namespace shoal::tools {
namespace {

sigset_t watched_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
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
    if (source_.stop_requested()) std::_Exit(1);
    source_.request_stop();
  }
}

}  // namespace shoal::tools
