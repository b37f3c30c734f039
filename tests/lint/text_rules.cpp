#include "shoal/tests/lint/text_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>

namespace shoal::lint {
namespace {

// UTF-8 continuation bytes take no column.
std::size_t columns(const std::string& line) {
  return static_cast<std::size_t>(
      std::count_if(line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

bool is_prose(const SourceFile& file) { return file.path.ends_with(".md") || file.path.ends_with(".txt"); }

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return text;
}

constexpr std::array<std::string_view, 6> kEmptyNames = {"util", "utils", "common", "misc", "helper", "helpers"};

// Written with a gap, so that this file passes its own check.
std::string join(std::string_view spaced) {
  std::string word;
  std::copy_if(spaced.begin(), spaced.end(), std::back_inserter(word), [](char c) { return c != ' '; });
  return word;
}

constexpr std::array<std::string_view, 10> kUnwantedWords = {
    "to do", "fix me", "x xx", "a gent", "a gents", "cl aude", "chat gpt", "anth ropic", "co pilot", "open ai",
};
constexpr std::array<std::string_view, 2> kUnwantedPaths = {"/wo rk/", "/ho me/"};

bool is_issue_number(const std::string& line) { return line.find(join("iss ue") + " #") != std::string::npos; }

}  // namespace

Violations check_sizes(std::span<const SourceFile> files) {
  Violations found;
  for (const SourceFile& file : files) {
    if (is_prose(file) && !file.path.ends_with("CMakeLists.txt")) continue;
    if (file.lines.size() > kMaxFileLines) {
      found.push_back({file.path, 0, fmt::format("has {} lines; {} are allowed", file.lines.size(), kMaxFileLines)});
    }
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::size_t width = columns(file.lines[i]);
      if (width > kMaxColumns) {
        found.push_back({file.path, i + 1, fmt::format("is {} columns wide; {} are allowed", width, kMaxColumns)});
      }
    }
  }
  return found;
}

Violations check_file_names(std::span<const SourceFile> files) {
  Violations found;
  for (const SourceFile& file : files) {
    if (!file.is_cpp()) continue;
    const std::string stem = file.stem();
    const bool is_snake = std::all_of(
        stem.begin(), stem.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
    if (!is_snake) found.push_back({file.path, 0, "is not named in snake_case"});
    std::string spaced = file.path_without_extension();
    std::replace(spaced.begin(), spaced.end(), '_', '/');
    for (const std::string_view empty : kEmptyNames) {
      if (find_word(spaced, empty) != std::string_view::npos) {
        found.push_back(
            {file.path, 0, fmt::format("'{}' says nothing; name the file after its main type or op", empty)});
      }
    }
  }
  return found;
}

Violations check_words(std::span<const SourceFile> files) {
  Violations found;
  for (const SourceFile& file : files) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string line = lower(file.lines[i]);
      for (const std::string_view word : kUnwantedWords) {
        if (find_word(line, join(word)) != std::string_view::npos) {
          found.push_back({file.path, i + 1, fmt::format("says '{}'", join(word))});
        }
      }
      for (const std::string_view path : kUnwantedPaths) {
        if (line.find(join(path)) != std::string::npos) {
          found.push_back({file.path, i + 1, fmt::format("names a path of one machine, '{}'", join(path))});
        }
      }
      if (is_issue_number(line)) found.push_back({file.path, i + 1, "refers to a tracker's number"});
    }
  }
  return found;
}

Violations check_headers(std::span<const SourceFile> files) {
  Violations found;
  for (const SourceFile& file : files) {
    if (!file.is_header()) continue;
    const auto first = std::find_if(file.code.begin(), file.code.end(), [](const std::string& line) {
      return line.find_first_not_of(" \t") != std::string::npos;
    });
    if (first == file.code.end() || *first != "#pragma once") {
      found.push_back({file.path, 0, "does not begin with #pragma once"});
    }
    for (std::size_t i = 0; i < file.code.size(); ++i) {
      if (file.code[i].find("using namespace") != std::string::npos) {
        found.push_back({file.path, i + 1, "a header says 'using namespace'"});
      }
    }
  }
  return found;
}

}  // namespace shoal::lint
