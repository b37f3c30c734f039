#include "shoal/tests/runtime/tools/child_program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "shoal/tests/runtime/tools/terminal.h"

extern char** environ;

namespace shoal::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLimit{60};
constexpr int kNapMs = 20;
constexpr int kSmallPipe = 4096;
constexpr int kRoomForNoSummary = 300;  // in that pipe; two steps' lines fit, a run's last lines don't

struct Pipe {
  Pipe() {
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  }
  ~Pipe() {
    ::close(ends[0]);
    close_writing();
  }
  void close_writing() {
    if (ends[1] >= 0) ::close(std::exchange(ends[1], -1));
  }
  bool is_stuffed() const {
    int unread = 0;
    return ::ioctl(ends[0], FIONREAD, &unread) == 0 && unread > kSmallPipe - kRoomForNoSummary;
  }
  int ends[2];
};

// What the program inherits, with a folder before the others on PATH.
std::vector<std::string> environment_with(const std::string& folder) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    variables.push_back(!folder.empty() && text.starts_with("PATH=") ? "PATH=" + folder + ":" + text.substr(5) : text);
  }
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

pid_t start(const std::vector<std::string>& arguments, const ProgramOptions& options, int out, int err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (options.stdout_path.empty()) {
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, options.stdout_path.c_str(), O_WRONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
  std::vector<std::string> words = {SHOAL_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = environment_with(options.program_folder);
  pid_t id = -1;
  const int code =
      ::posix_spawn(&id, SHOAL_PROGRAM, &actions, nullptr, pointers_to(words).data(), pointers_to(variables).data());
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
  std::optional<Terminal> terminal;
  if (options.has_terminal) terminal.emplace();
  if (options.is_read_late) ::fcntl(out.ends[1], F_SETPIPE_SZ, kSmallPipe);
  const pid_t id = start(arguments, options, terminal ? terminal->user_end() : out.ends[1], err.ends[1]);
  if (terminal) terminal->close_user_end();
  out.close_writing();
  err.close_writing();
  const int out_end = terminal ? terminal->screen() : out.ends[0];
  ProgramRun run;
  const auto end = Clock::now() + kLimit;
  bool was_interrupted = false;
  bool has_out = true;
  bool has_err = true;
  while (has_out || has_err) {
    const bool reads_out = has_out && (was_interrupted || !options.is_read_late);
    std::array<pollfd, 2> waited = {{{reads_out ? out_end : -1, POLLIN, 0}, {has_err ? err.ends[0] : -1, POLLIN, 0}}};
    ::poll(waited.data(), waited.size(), kNapMs);
    if (Clock::now() > end) ::kill(id, SIGKILL);
    if (waited[0].revents != 0) has_out = read_some(out_end, run.out);
    if (waited[1].revents != 0) has_err = read_some(err.ends[0], run.err);
    if (was_interrupted) continue;
    was_interrupted =
        options.is_read_late ? out.is_stuffed() || !has_err : options.interrupts_at && options.interrupts_at(run.out);
    if (!was_interrupted) continue;
    for (const int signal : options.signals) ::kill(id, signal);
  }
  int status = 0;
  ::waitpid(id, &status, 0);
  run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  return run;
}

}  // namespace shoal::test
