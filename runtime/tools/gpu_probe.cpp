#include "shoal/runtime/tools/gpu_probe.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "shoal/runtime/tools/text_format.h"

namespace shoal::tools {
namespace {

constexpr std::string_view kSpace = " \t";

// What follows `label` on the first line of the file that begins with it; empty where there is no such file or line.
std::string labelled_line(const std::filesystem::path& path, std::string_view label) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(label)) continue;
    const std::size_t begin = line.find_first_not_of(kSpace, label.size());
    return begin == std::string::npos ? std::string() : printable(std::string_view(line).substr(begin));
  }
  return {};
}

}  // namespace

std::vector<DoctorReport::Part> find_gpus(const std::string& folder) {
  const std::filesystem::path root(folder);
  const std::string version = labelled_line(root / "version", "NVRM version:");
  if (version.empty()) {
    return {{"nvidia driver", false, "none is loaded; this build needs none, since it has no device cuda"}};
  }
  std::vector<DoctorReport::Part> parts = {{"nvidia driver", true, version}};
  std::error_code ignored;  // a driver without GPUs has no such folder
  for (const auto& entry : std::filesystem::directory_iterator(root / "gpus", ignored)) {
    const std::string model = labelled_line(entry.path() / "information", "Model:");
    parts.push_back({"gpu " + entry.path().filename().string(), true, model.empty() ? "of an unknown model" : model});
  }
  std::sort(parts.begin() + 1, parts.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return parts;
}

}  // namespace shoal::tools
