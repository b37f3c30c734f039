#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "shoal/runtime/base/error.h"

namespace shoal::test {

/// The exit status of a forked child that calls `child`; -1 where it did not end by itself.
inline int status_of_child(const std::function<int()>& child) {
  const pid_t id = fork();
  if (id == 0) _exit(child());
  int status = -1;
  waitpid(id, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// 0 where `call` throws Internal with `word` and "forked child" in its text, 1 where it throws nothing, else 2.
inline int zero_if_refused(const std::function<void()>& call, const std::string& word) {
  try {
    call();
  } catch (const Error& error) {
    const bool is_named = std::string(error.what()).find(word) != std::string::npos &&
                          std::string(error.what()).find("forked child") != std::string::npos;
    return error.code() == ErrorCode::Internal && is_named ? 0 : 2;
  }
  return 1;
}

}  // namespace shoal::test
