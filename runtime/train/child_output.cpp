#include "shoal/runtime/train/child_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "shoal/runtime/base/error.h"

extern char** environ;

namespace shoal::train {
namespace {

using Clock = std::chrono::steady_clock;

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Descriptor() { close(); }
  int get() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

// A started process, killed and reaped unless it was waited for.
class Child {
 public:
  Child(pid_t id, const std::stop_token& stop) : id_(id), killer_(std::in_place, stop, Kill{id}) {}
  Child(const Child&) = delete;
  ~Child() {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    reap();
  }

  // Whether it has ended. Then `status` is its wait status, or 0 where this process ignores how its children end, so
  // that nobody knows.
  bool has_ended(int& status) {
    siginfo_t ended{};
    const int result = ::waitid(P_PID, static_cast<id_t>(id_), &ended, WEXITED | WNOHANG | WNOWAIT);
    const bool is_unknown = result < 0 && errno == ECHILD;
    if (!is_unknown && (result < 0 || ended.si_pid != id_)) return false;
    status = reap();
    return true;
  }

 private:
  struct Kill {
    pid_t id;
    void operator()() const { ::kill(id, SIGKILL); }
  };

  // Once it is reaped its number may be another's, which no stop request may kill.
  int reap() {
    killer_.reset();
    int status = 0;
    while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    id_ = -1;
    return status;
  }

  pid_t id_;
  std::optional<std::stop_callback<Kill>> killer_;
};

struct SpawnActions {
  SpawnActions() { posix_spawn_file_actions_init(&actions); }
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions); }
  posix_spawn_file_actions_t actions;
};

// What this process does with signals is its own business: the child starts with none blocked and these as usual.
struct UsualSignals {
  UsualSignals() {
    sigset_t none;
    sigemptyset(&none);
    sigset_t usual = none;
    for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&usual, signal);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~UsualSignals() { posix_spawnattr_destroy(&attributes); }
  posix_spawnattr_t attributes;
};

pid_t spawn(const std::vector<std::string>& arguments, int output, const std::string& advice) {
  SpawnActions spawned;
  const UsualSignals usual;
  posix_spawn_file_actions_addopen(&spawned.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&spawned.actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&spawned.actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t id = -1;
  const int code = ::posix_spawnp(&id, argv[0], &spawned.actions, &usual.attributes, argv.data(), environ);
  if (code != 0) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[read_child] '{}' cannot be started: {}; {}", arguments[0], std::strerror(code), advice));
  }
  return id;
}

[[noreturn]] void fail_late(const std::string& program, std::chrono::milliseconds deadline) {
  fail(ErrorCode::Timeout, fmt::format("[read_child] '{}' had not ended after {} ms", program, deadline.count()));
}

// Waits for readable bytes or the end; false at the deadline.
bool wait_readable(int fd, Clock::time_point end) {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    pollfd waited{fd, POLLIN, 0};
    const int result = ::poll(&waited, 1, static_cast<int>(left));
    if (result > 0) return true;
    if (result < 0 && errno != EINTR) return true;  // the read will say what is wrong
  }
}

}  // namespace

std::vector<std::uint8_t> read_child_output(const std::vector<std::string>& arguments, const ChildLimits& limits,
                                            const std::string& advice) {
  const auto end = Clock::now() + limits.deadline;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    fail(ErrorCode::InvalidArgument, fmt::format("[read_child] no pipe: {}", std::strerror(errno)));
  }
  Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  Child child(spawn(arguments, writing.get(), advice), limits.stop);
  writing.close();

  std::vector<std::uint8_t> output;
  std::vector<std::uint8_t> piece(1 << 16);
  while (true) {
    if (!wait_readable(reading.get(), end)) fail_late(arguments[0], limits.deadline);
    const ssize_t got = ::read(reading.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    output.insert(output.end(), piece.begin(), piece.begin() + got);
    if (static_cast<std::int64_t>(output.size()) > limits.max_bytes) {
      fail(ErrorCode::Corrupt,
           fmt::format("[read_child] '{}' printed more than {} bytes", arguments[0], limits.max_bytes));
    }
  }
  // A process that has closed its output is about to end; looking again each millisecond works on every kernel.
  int status = 0;
  while (!child.has_ended(status)) {
    if (Clock::now() >= end) fail_late(arguments[0], limits.deadline);
    ::poll(nullptr, 0, 1);
  }
  if (limits.stop.stop_requested()) {
    fail(ErrorCode::Aborted, fmt::format("[read_child] a stop was requested while '{}' ran", arguments[0]));
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[read_child] '{}' failed with wait status {}; {}", arguments[0], status, advice));
  }
  return output;
}

}  // namespace shoal::train
