#include "shoal/tests/runtime/tools/child_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <sstream>
#include <stdexcept>

extern char** environ;

namespace shoal::test {
namespace {

constexpr std::chrono::seconds kLimit{60};

struct Pipe {
  Pipe() {
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  }
  ~Pipe() {
    ::close(ends[0]);
    if (ends[1] >= 0) ::close(ends[1]);
  }
  void close_writing() {
    ::close(ends[1]);
    ends[1] = -1;
  }
  int ends[2];
};

pid_t start(const std::vector<std::string>& arguments, const std::string& stdout_path, int out, int err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (stdout_path.empty()) {
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, stdout_path.c_str(), O_WRONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
  std::vector<std::string> words = {SHOAL_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t id = -1;
  const int code = ::posix_spawn(&id, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) throw std::runtime_error("cannot start " + words[0]);
  return id;
}

// Reads what is there; false at the end.
bool read_some(int descriptor, std::string& text) {
  std::array<char, 65536> piece;
  const ssize_t got = ::read(descriptor, piece.data(), piece.size());
  if (got > 0) text.append(piece.data(), static_cast<std::size_t>(got));
  return got > 0;
}

}  // namespace

std::vector<std::string> ProgramRun::out_lines() const {
  std::vector<std::string> lines;
  std::istringstream stream(out);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

ProgramRun run_shoal(const std::vector<std::string>& arguments, const ProgramOptions& options) {
  Pipe out;
  Pipe err;
  const pid_t id = start(arguments, options.stdout_path, out.ends[1], err.ends[1]);
  out.close_writing();
  err.close_writing();
  ProgramRun run;
  const auto end = std::chrono::steady_clock::now() + kLimit;
  bool is_interrupted = false;
  bool has_out = true;
  bool has_err = true;
  while (has_out || has_err) {
    std::array<pollfd, 2> waited = {{{has_out ? out.ends[0] : -1, POLLIN, 0}, {has_err ? err.ends[0] : -1, POLLIN, 0}}};
    ::poll(waited.data(), waited.size(), 1000);
    if (std::chrono::steady_clock::now() > end) ::kill(id, SIGKILL);
    if (waited[0].revents != 0) has_out = read_some(out.ends[0], run.out);
    if (waited[1].revents != 0) has_err = read_some(err.ends[0], run.err);
    if (!is_interrupted && options.interrupts_at && options.interrupts_at(run.out)) {
      is_interrupted = true;
      ::kill(id, SIGINT);
    }
  }
  int status = 0;
  ::waitpid(id, &status, 0);
  run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  return run;
}

}  // namespace shoal::test
