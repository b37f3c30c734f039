#include "shoal/tests/lint/source_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace shoal::lint {
namespace {

constexpr std::array<std::string_view, 9> kFolders = {"runtime", "kernels", "nn",  "optim", "collectives",
                                                      "tests",   "bench",   ".ci", "."};
constexpr std::array<std::string_view, 4> kCppExtensions = {".h", ".cpp", ".cu", ".cuh"};
constexpr std::array<std::string_view, 8> kTextExtensions = {".md", ".txt",  ".cmake", ".in",
                                                             ".sh", ".json", ".map",   ".py"};
constexpr std::array<std::string_view, 2> kTextNames = {"shoal", "run"};  // and names with a dot first

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Blanks comments and the insides of string and character literals, keeping line breaks.
class CodeStripper {
 public:
  explicit CodeStripper(std::string_view text) : text_(text) { out_.reserve(text.size()); }

  std::string strip() {
    while (at_ < text_.size()) {
      if (starts("//")) {
        skip_to('\n');
      } else if (starts("/*")) {
        skip_past("*/", 2);
      } else if (starts("R\"") && !follows_word()) {
        const std::string_view rest = text_.substr(at_);
        out_ += "\"\"";
        skip_past(")" + std::string(rest.substr(2, std::min(rest.find('('), rest.size()) - 2)) + "\"", 2);
      } else if (text_[at_] == '"' || (text_[at_] == '\'' && !follows_word())) {
        skip_literal(text_[at_]);
      } else {
        out_ += text_[at_++];
      }
    }
    return out_;
  }

 private:
  bool starts(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  bool follows_word() const {  // then a ' separates digits, and an R ends a name
    return at_ > 0 && (std::isalnum(static_cast<unsigned char>(text_[at_ - 1])) != 0 || text_[at_ - 1] == '_');
  }
  void skip_to(char end) {
    while (at_ < text_.size() && text_[at_] != end) ++at_;
  }
  void skip_past(const std::string& end, std::size_t from) {
    const std::size_t found = text_.find(end, at_ + from);
    const std::size_t stop = found == std::string_view::npos ? text_.size() : found + end.size();
    for (; at_ < stop; ++at_) {
      if (text_[at_] == '\n') out_ += '\n';
    }
  }
  void skip_literal(char quote) {
    out_ += quote;
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    out_ += quote;
    if (at_ < text_.size() && text_[at_] == quote) ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
};

bool is_text(const std::filesystem::path& path) {
  const auto has = [](const auto& list, const std::string& what) {
    return std::find(list.begin(), list.end(), what) != list.end();
  };
  const std::string extension = path.extension().string();
  const std::string name = path.filename().string();
  return has(kCppExtensions, extension) || has(kTextExtensions, extension) || has(kTextNames, name) ||
         name.starts_with(".");
}

SourceFile load(const std::filesystem::path& root, const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw std::runtime_error("can't read " + path.string());
  return {std::filesystem::relative(path, root).generic_string(), text.str()};
}

}  // namespace

SourceFile::SourceFile(std::string path_in, std::string_view text)
    : path(std::move(path_in)), lines(split_lines(text)) {
  if (!is_cpp()) return;
  code = split_lines(CodeStripper(text).strip());
  code.resize(lines.size());
}

bool SourceFile::is_cpp() const {
  const std::string extension = std::filesystem::path(path).extension().string();
  return std::find(kCppExtensions.begin(), kCppExtensions.end(), extension) != kCppExtensions.end();
}

bool SourceFile::is_header() const { return path.ends_with(".h") || path.ends_with(".cuh"); }
std::string SourceFile::folder() const { return std::filesystem::path(path).parent_path().generic_string(); }
std::string SourceFile::stem() const { return std::filesystem::path(path).stem().string(); }
std::string SourceFile::path_without_extension() const {
  return std::filesystem::path(path).replace_extension().generic_string();
}

std::string Violation::to_string() const {
  return line == 0 ? fmt::format("{}: {}", path, message) : fmt::format("{}:{}: {}", path, line, message);
}

std::vector<SourceFile> load_tree(const std::filesystem::path& root) {
  std::vector<SourceFile> files;
  const auto add = [&](const std::filesystem::directory_entry& entry) {
    if (entry.is_regular_file() && is_text(entry.path())) files.push_back(load(root, entry.path()));
  };
  for (const std::string_view folder : kFolders) {
    const std::filesystem::path path = root / folder;
    if (folder == ".") {
      for (const auto& entry : std::filesystem::directory_iterator(root)) add(entry);
    } else if (std::filesystem::exists(path)) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) add(entry);
    }
  }
  std::sort(files.begin(), files.end(), [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

bool lies_in(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

std::size_t find_word(std::string_view line, std::string_view word, std::size_t from) {
  const auto is_part = [&](std::size_t at) {
    return at < line.size() && (std::isalnum(static_cast<unsigned char>(line[at])) != 0 || line[at] == '_');
  };
  for (std::size_t at = line.find(word, from); at != std::string_view::npos; at = line.find(word, at + 1)) {
    if ((at == 0 || !is_part(at - 1)) && !is_part(at + word.size())) return at;
  }
  return std::string_view::npos;
}

}  // namespace shoal::lint
