#pragma once

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>

namespace shoal::test {

/// While it exists, this process has room for one more thread, and little more; later ones cannot be started. (Every
/// stack takes a GiB of address space, of which one and a half are left; none of it is touched.)
class RoomForOneThread {
 public:
  RoomForOneThread() {
    constexpr std::uint64_t kStackBytes = std::uint64_t{1} << 30;
    pthread_getattr_default_np(&attributes_);
    pthread_attr_t large = attributes_;
    pthread_attr_setstacksize(&large, kStackBytes);
    pthread_setattr_default_np(&large);
    getrlimit(RLIMIT_AS, &limit_);
    std::uint64_t num_pages = 0;
    std::ifstream("/proc/self/statm") >> num_pages;
    rlimit low = limit_;
    low.rlim_cur = num_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + kStackBytes + kStackBytes / 2;
    setrlimit(RLIMIT_AS, &low);
  }
  ~RoomForOneThread() {
    setrlimit(RLIMIT_AS, &limit_);
    pthread_setattr_default_np(&attributes_);
  }
  RoomForOneThread(const RoomForOneThread&) = delete;
  RoomForOneThread& operator=(const RoomForOneThread&) = delete;

 private:
  pthread_attr_t attributes_{};
  rlimit limit_{};
};

}  // namespace shoal::test
