#include "shoal/tests/lint/code_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace shoal::lint {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

// A file that may do what others may not, and why.
struct Exception {
  std::string_view path;
  std::string_view word;
  std::string_view reason;
};

constexpr std::array<Exception, 3> kCallExceptions = {{
    {"runtime/base/env.cpp", "getenv", "the one place that reads the environment"},
    {"runtime/device/host/stream_threads.cpp", "sleep_for", "seeded delays are what the race tests' mode is for"},
    {"tests/runtime/device/parallel_for_test.cpp", "sleep_for", "a caller that does not wait has to be gone by then"},
}};

constexpr std::array<Exception, 1> kPreprocessorExceptions = {{
    {"tests/lint/code_rules.cpp", "", "names the directives that it looks for"},
}};

template <std::size_t N>
bool is_excepted(const std::array<Exception, N>& exceptions, std::string_view path, std::string_view word) {
  return std::any_of(exceptions.begin(), exceptions.end(), [&](const Exception& exception) {
    return exception.path == path && (exception.word.empty() || exception.word == word);
  });
}

bool is_library(std::string_view path) {
  return !lies_in(path, "tests") && !lies_in(path, "bench") && !lies_in(path, "runtime/tools");
}

// A call of, or a reference to, the function of the C or C++ library: not a member of that name, nor its declaration.
bool names_function(std::string_view line, std::string_view word) {
  for (std::size_t at = find_word(line, word); at != kNone; at = find_word(line, word, at + 1)) {
    const std::string_view before = line.substr(0, at);
    if (before.ends_with("std::")) return true;
    const bool is_global = before.ends_with("::") &&
                           (before.size() == 2 || !std::isalnum(static_cast<unsigned char>(before[before.size() - 3])));
    if (is_global) return true;
    if (before.ends_with(".") || before.ends_with("->") || before.ends_with("::")) continue;
    if (!line.substr(at + word.size()).starts_with("(")) continue;
    const std::size_t last = before.find_last_not_of(" \t");
    const bool follows_a_type = last != kNone && (std::isalnum(static_cast<unsigned char>(before[last])) != 0 ||
                                                  std::string_view("_&*>").find(before[last]) != kNone);
    const bool follows_a_keyword = before.ends_with("return ") || before.ends_with("else ") || before.ends_with("do ");
    if (!follows_a_type || follows_a_keyword) return true;
  }
  return false;
}

constexpr std::array<std::string_view, 26> kBannedFunctions = {
    "abort",   "quick_exit", "_exit",     "_Exit",  "atexit", "terminate",     "set_terminate", "printf",  "fprintf",
    "dprintf", "vprintf",    "vfprintf",  "puts",   "fputs",  "fputc",         "fwrite",        "putchar", "perror",
    "system",  "signal",     "sigaction", "getenv", "setenv", "secure_getenv", "syslog",        "popen",
};
constexpr std::array<std::string_view, 5> kBannedStreams = {"std::cout", "std::cerr", "std::clog", "<iostream>",
                                                            "fmt::print"};
constexpr std::array<std::string_view, 5> kSleeps = {"sleep_for", "sleep_until", "usleep", "nanosleep", "sleep"};

// exit is also the word for leaving a module, so an unqualified call counts only where it passes a status.
bool exits(std::string_view line) {
  if (line.find("std::exit") != kNone) return true;
  for (std::size_t at = find_word(line, "exit"); at != kNone; at = find_word(line, "exit", at + 1)) {
    const std::string_view argument = line.substr(at + 4);
    if (argument.starts_with("(EXIT_") || (argument.starts_with("(") && argument.size() > 1 &&
                                           std::isdigit(static_cast<unsigned char>(argument[1])) != 0)) {
      return true;
    }
  }
  return false;
}

void check_library_line(const SourceFile& file, std::size_t i, Violations& found) {
  const std::string& line = file.code[i];
  for (const std::string_view word : kBannedFunctions) {
    if (names_function(line, word) && !is_excepted(kCallExceptions, file.path, word)) {
      found.push_back({file.path, i + 1, fmt::format("the library calls {}", word)});
    }
  }
  for (const std::string_view word : kBannedStreams) {
    if (line.find(word) != kNone) found.push_back({file.path, i + 1, fmt::format("the library uses {}", word)});
  }
  if (exits(line)) found.push_back({file.path, i + 1, "the library calls exit"});
}

std::string_view directive_of(std::string_view line) {
  const std::size_t hash = line.find_first_not_of(" \t");
  if (hash == kNone || line[hash] != '#') return {};
  const std::size_t begin = line.find_first_not_of(" \t", hash + 1);
  if (begin == kNone) return {};
  const std::string_view rest = line.substr(begin);
  return rest.substr(0, rest.find_first_of(" \t("));
}

// The last argument of the call whose opening parenthesis is at `open` of `text`.
std::string_view last_argument(std::string_view text, std::size_t open) {
  int depth = 0;
  std::size_t begin = open + 1;
  for (std::size_t at = open; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '(' || c == '{' || c == '[') ++depth;
    if (c == ')' || c == '}' || c == ']') --depth;
    if (depth == 0) return text.substr(begin, at - begin);
    if (c == ',' && depth == 1) begin = at + 1;
  }
  return {};
}

bool has_number(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(text[at])) != 0;
    const bool is_in_name =
        at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0 || text[at - 1] == '_');
    if (is_digit && !is_in_name) return true;
  }
  return false;
}

}  // namespace

Violations check_calls(std::span<const SourceFile> files) {
  Violations found;
  for (const SourceFile& file : files) {
    for (std::size_t i = 0; i < file.code.size(); ++i) {
      if (is_library(file.path)) check_library_line(file, i, found);
      for (const std::string_view word : kSleeps) {
        if (names_function(file.code[i], word) && !is_excepted(kCallExceptions, file.path, word)) {
          found.push_back(
              {file.path, i + 1, fmt::format("calls {}; wait for what you wait for, with a deadline", word)});
        }
        if (file.code[i].find("this_thread::" + std::string(word) + "(") != kNone &&
            !is_excepted(kCallExceptions, file.path, word)) {
          found.push_back(
              {file.path, i + 1, fmt::format("calls {}; wait for what you wait for, with a deadline", word)});
        }
      }
    }
  }
  return found;
}

Violations check_preprocessor(std::span<const SourceFile> files) {
  Violations found;
  std::size_t num_lines = 0, num_conditions = 0, num_macros = 0;
  for (const SourceFile& file : files) {
    num_lines += file.code.size();
    for (std::size_t i = 0; i < file.code.size(); ++i) {
      const std::string_view directive = directive_of(file.code[i]);
      const bool is_condition = directive.starts_with("if") || directive == "elif";
      const bool is_macro = directive == "define";
      if (!is_condition && !is_macro) continue;
      (is_condition ? num_conditions : num_macros) += 1;
      if (!is_excepted(kPreprocessorExceptions, file.path, directive)) {
        found.push_back({file.path, i + 1, fmt::format("has an #{}; compile another file instead", directive)});
      }
    }
  }
  const std::size_t budget = num_lines / 1000 + 1;
  if (num_conditions > budget)
    found.push_back({"", 0, fmt::format("{} conditions; {} allowed", num_conditions, budget)});
  if (num_macros > budget) found.push_back({"", 0, fmt::format("{} macros; {} allowed", num_macros, budget)});
  return found;
}

Violations check_tolerances(std::span<const SourceFile> files) {
  Violations found;
  for (const SourceFile& file : files) {
    if (!lies_in(file.path, "tests") || file.path == "tests/support/tolerance.h") continue;
    std::string text;
    for (const std::string& line : file.code) text += line + '\n';
    const auto line_of = [&](std::size_t at) {
      return static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n')) +
             1;
    };
    for (const std::string_view macro : {"EXPECT_NEAR", "ASSERT_NEAR"}) {
      for (std::size_t at = find_word(text, macro); at != kNone; at = find_word(text, macro, at + 1)) {
        const std::string_view last = last_argument(text, at + macro.size());
        if (has_number(last)) {
          found.push_back({file.path, line_of(at), fmt::format("{} with a number; name it in tolerance.h", macro)});
        }
      }
    }
    for (std::size_t at = find_word(text, "Tolerance"); at != kNone; at = find_word(text, "Tolerance", at + 1)) {
      const std::size_t brace = text.find_first_not_of(" \n", at + 9);
      if (brace != kNone && (text[brace] == '{' || text[brace] == '(') && has_number(last_argument(text, brace))) {
        found.push_back({file.path, line_of(at), "makes a Tolerance; name it in tolerance.h"});
      }
    }
  }
  return found;
}

}  // namespace shoal::lint
