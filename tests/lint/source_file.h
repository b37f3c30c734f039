#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::lint {

/// One text file of the project. `path` is relative to the root, with forward slashes.
struct SourceFile {
  SourceFile(std::string path_in, std::string_view text);

  std::string path;
  std::vector<std::string> lines;
  /// C++ files only: the lines without comments and without what strings and characters hold; of equal number.
  std::vector<std::string> code;

  bool is_cpp() const;     // .h, .cpp, .cu, .cuh
  bool is_header() const;  // .h, .cuh
  /// "kernels/host" of "kernels/host/add.h"; empty at the top level.
  std::string folder() const;
  /// "add" of "kernels/host/add.h".
  std::string stem() const;
  /// "kernels/host/add" of "kernels/host/add.h".
  std::string path_without_extension() const;
};

struct Violation {
  std::string path;
  std::size_t line = 0;  // 0: the whole file
  std::string message;

  std::string to_string() const;
};
using Violations = std::vector<Violation>;

/// Every text file of the project's own folders and top level, sorted by path.
std::vector<SourceFile> load_tree(const std::filesystem::path& root);

/// Whether `path` is `folder` or lies in it.
bool lies_in(std::string_view path, std::string_view folder);

/// Where `word` occurs in `line` as a whole word from `from` on, or npos. Letters, digits and _ make words.
std::size_t find_word(std::string_view line, std::string_view word, std::size_t from = 0);

}  // namespace shoal::lint
