#include "shoal/tests/lint/include_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

namespace shoal::lint {
namespace {

struct Include {
  std::string target;
  std::size_t line = 0;
  bool is_quoted = false;
};

// What stands between the quotes or brackets of each #include. Read from `lines`, because `code` blanks the quotes.
std::vector<Include> includes_of(const SourceFile& file) {
  std::vector<Include> includes;
  for (std::size_t i = 0; i < file.code.size(); ++i) {
    if (!file.code[i].starts_with("#include")) continue;
    const std::string& line = file.lines[i];
    const std::size_t begin = line.find_first_of("\"<");
    const std::size_t end = line.find_last_of("\">");
    if (begin == std::string::npos || end <= begin) continue;
    includes.push_back({line.substr(begin + 1, end - begin - 1), i + 1, line[begin] == '"'});
  }
  return includes;
}

struct Row {
  std::string_view folder;
  std::string_view may_include;  // other rows' folders, separated by spaces
};

constexpr std::array<Row, 13> kRows = {{
    {"runtime/base", ""},
    {"runtime/device", "runtime/base"},
    {"runtime/tensor", "runtime/base runtime/device"},
    {"kernels", "runtime/base runtime/device runtime/tensor"},
    {"collectives", "runtime/base runtime/device runtime/tensor kernels"},
    {"nn", "runtime/base runtime/device runtime/tensor kernels"},
    {"optim", "runtime/base runtime/device runtime/tensor kernels"},
    {"runtime/fsdp", "runtime/base runtime/device runtime/tensor kernels collectives nn optim"},
    {"runtime/checkpoint", "runtime/base runtime/device runtime/tensor kernels collectives nn optim runtime/fsdp"},
    {"runtime/train",
     "runtime/base runtime/device runtime/tensor kernels collectives nn optim runtime/fsdp runtime/checkpoint"},
    {"runtime/tools",
     "runtime/base runtime/device runtime/tensor kernels collectives nn optim runtime/fsdp runtime/checkpoint "
     "runtime/train bench"},
    {"tests", "runtime kernels collectives nn optim bench"},
    {"bench", "runtime kernels collectives nn optim tests"},
}};

const Row* row_of(std::string_view path) {
  const auto found =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& row) { return lies_in(path, row.folder); });
  return found == kRows.end() ? nullptr : found;
}

bool may_include(const Row& row, std::string_view target) {
  if (lies_in(target, row.folder)) return true;
  std::string_view rest = row.may_include;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (lies_in(target, rest.substr(0, end))) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

constexpr std::array<std::string_view, 11> kBackends = {"host", "cuda", "sim",        "single", "threads", "gloo",
                                                        "nccl", "emu",  "local_cuda", "isa",    "no_cuda"};

// "runtime/device/host" of "runtime/device/host/sanitizer/none/ranges.h": up to the first folder named after a backend.
std::optional<std::string> backend_folder(std::string_view path) {
  std::filesystem::path so_far;
  for (const auto& part : std::filesystem::path(path).parent_path()) {
    so_far /= part;
    if (std::find(kBackends.begin(), kBackends.end(), part.string()) != kBackends.end()) return so_far.generic_string();
  }
  return std::nullopt;
}

bool is_test_or_bench(std::string_view path) { return lies_in(path, "tests") || lies_in(path, "bench"); }

struct Vendor {
  std::string_view prefix;  // of what is included
  std::string_view places;  // folders that may include it, separated by spaces
};

constexpr std::array<Vendor, 16> kVendors = {{
    {"dnnl", "kernels/host"},
    {"oneapi/dnnl", "kernels/host"},
    {"omp.h", "kernels/host"},
    {"Eigen/", "kernels/host tests"},
    {"nlohmann/", "runtime/tools tests/runtime/tools"},
    {"CLI/", "runtime/tools"},
    {"zlib.h", "runtime/train runtime/checkpoint tests/runtime/train"},
    {"zstd.h", "runtime/checkpoint"},
    {"xxhash.h", "runtime/base"},
    {"gloo/", "collectives/gloo"},
    {"nccl.h", "collectives/nccl"},
    {"cuda", "runtime/device/cuda kernels/cuda collectives/nccl collectives/local_cuda"},
    {"cublas", "kernels/cuda"},
    {"cudnn", "kernels/cuda"},
    {"gtest/", "tests"},
    {"benchmark/", "bench"},
}};

bool is_placed(std::string_view path, std::string_view places) { return may_include({"(nowhere)", places}, path); }

}  // namespace

Violations check_layers(std::span<const SourceFile> files) {
  Violations found;
  for (const SourceFile& file : files) {
    if (!file.is_cpp()) continue;
    const Row* row = row_of(file.path);
    if (row == nullptr) {
      found.push_back({file.path, 0, "lies in no row of the layer table"});
      continue;
    }
    for (const Include& include : includes_of(file)) {
      if (!include.is_quoted) continue;
      const bool is_generated = include.target.starts_with("shoal_build/") && lies_in(file.path, "runtime/tools");
      if (is_generated) continue;
      if (!include.target.starts_with("shoal/")) {
        found.push_back(
            {file.path, include.line,
             fmt::format("includes \"{}\"; our own headers are included as \"shoal/...\"", include.target)});
      } else if (!may_include(*row, std::string_view(include.target).substr(6))) {
        found.push_back({file.path, include.line, fmt::format("{} may not include {}", row->folder, include.target)});
      }
    }
  }
  return found;
}

Violations check_backends(std::span<const SourceFile> files) {
  Violations found;
  std::map<std::string, std::set<std::string>> outside_users;  // by backend header
  for (const SourceFile& file : files) {
    if (is_test_or_bench(file.path)) continue;
    for (const Include& include : includes_of(file)) {
      if (!include.target.starts_with("shoal/")) continue;
      const std::string target = include.target.substr(6);
      const std::optional<std::string> backend = backend_folder(target);
      if (!backend || lies_in(file.path, *backend)) continue;
      const std::string above = std::filesystem::path(*backend).parent_path().generic_string();
      if (file.folder() != above || file.is_header()) {
        found.push_back({file.path, include.line,
                         fmt::format("includes {}, which only a source file in {} may", include.target, above)});
        continue;
      }
      if (outside_users[target].insert(file.path).second && outside_users[target].size() == 2) {
        found.push_back({file.path, include.line,
                         fmt::format("is the second file above {} that includes {}", *backend, include.target)});
      }
    }
  }
  return found;
}

Violations check_vendor_headers(std::span<const SourceFile> files) {
  Violations found;
  for (const SourceFile& file : files) {
    for (const Include& include : includes_of(file)) {
      if (include.target.starts_with("fmt/") && file.is_header() && !lies_in(file.path, "tests") &&
          !lies_in(file.path, "runtime/tools")) {
        found.push_back({file.path, include.line, "a header includes fmt; only sources may"});
      }
      for (const Vendor& vendor : kVendors) {
        if (include.target.starts_with(vendor.prefix) && !is_placed(file.path, vendor.places)) {
          found.push_back(
              {file.path, include.line, fmt::format("includes {}, whose place is {}", include.target, vendor.places)});
        }
      }
    }
  }
  return found;
}

Violations check_own_header_first(std::span<const SourceFile> files) {
  std::set<std::string> headers;
  for (const SourceFile& file : files) {
    if (file.is_header()) headers.insert(file.path_without_extension());
  }
  Violations found;
  for (const SourceFile& file : files) {
    if (!file.is_cpp() || file.is_header() || !headers.contains(file.path_without_extension())) continue;
    const std::string own = fmt::format("shoal/{}.h", file.path_without_extension());
    const std::vector<Include> includes = includes_of(file);
    if (includes.empty() || includes.front().target != own) {
      found.push_back(
          {file.path, includes.empty() ? 0 : includes.front().line, fmt::format("{} does not come first", own)});
    }
  }
  return found;
}

}  // namespace shoal::lint
