#include "shoal/runtime/device/process_mark.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include "shoal/runtime/base/error.h"

namespace shoal {

ProcessMark::ProcessMark() : num_forks_(0), process_id_(getpid()) {
  static const int status = pthread_atfork(nullptr, nullptr, [] { num_forks().fetch_add(1); });
  if (status != 0) fail(ErrorCode::OutOfMemory, "[runtime] the system has no memory for a fork handler");
  num_forks_ = num_forks().load();
}

void ProcessMark::fail_in_child(const char* call, const char* kind, const std::string& name) const {
  fail(ErrorCode::Internal,
       fmt::format("[{}] {} '{}' was made in process {} and is used in its forked child {}; make a Runtime, and "
                   "everything else, in the child",
                   call, kind, name, process_id_, getpid()));
}

}  // namespace shoal
