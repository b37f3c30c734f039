#pragma once

namespace shoal::host {

/// Counts, while it exists, the threads that a host device may keep busy.
class LiveThreads {
 public:
  explicit LiveThreads(int count);
  ~LiveThreads();
  LiveThreads(const LiveThreads&) = delete;
  LiveThreads& operator=(const LiveThreads&) = delete;

  /// True while all host devices of this process together have no more threads than there are cores: then a thread that
  /// looks for work a little longer keeps nobody from a core.
  static bool fit_the_cores();

 private:
  int count_;
};

}  // namespace shoal::host
