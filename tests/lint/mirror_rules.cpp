#include "shoal/tests/lint/mirror_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace shoal::lint {
namespace {

constexpr std::array<TestedElsewhere, 7> kTestedElsewhere = {{
    {"runtime/device/buffer", "device_test.cpp: buffers are made by a device only"},
    {"runtime/device/stream", "stream_conformance_test.cpp: on every device"},
    {"runtime/device/stream_checks", "stream_conformance_test.cpp: what every stream refuses"},
    {"runtime/fsdp/pass_executor", "sharded_model_test.cpp, dropped_wait_test.cpp: it needs everything around it"},
    {"runtime/fsdp/rank_state", "sharded_model_test.cpp: it is that class's memory"},
    {"runtime/tools/machine_info", "program_test.cpp: doctor and the start of a run print it"},
    {"runtime/tools/product_timer", "step_bench_test.cpp: a row's share of its products"},
}};

// What a library's user or the program's has before him.
constexpr std::array<std::string_view, 12> kPublicFolders = {
    "runtime/base",  "runtime/device", "runtime/tensor", "runtime/fsdp", "runtime/checkpoint", "runtime/train",
    "runtime/tools", "kernels",        "collectives",    "nn",           "nn/models",          "optim",
};

bool is_public(const SourceFile& file) {
  return file.is_header() &&
         std::find(kPublicFolders.begin(), kPublicFolders.end(), file.folder()) != kPublicFolders.end();
}

}  // namespace

std::span<const TestedElsewhere> tested_elsewhere() { return kTestedElsewhere; }

Violations check_mirrored_tests(std::span<const SourceFile> files, std::span<const TestedElsewhere> elsewhere) {
  std::set<std::string> paths;
  for (const SourceFile& file : files) paths.insert(file.path);
  Violations found;
  std::set<std::string_view> used;
  for (const SourceFile& file : files) {
    const std::string path = file.path_without_extension();
    if (!is_public(file) || !paths.contains(path + ".cpp")) continue;
    const std::string test = fmt::format("tests/{}_test.cpp", path);
    if (paths.contains(test)) continue;
    const auto entry = std::find_if(elsewhere.begin(), elsewhere.end(),
                                    [&](const TestedElsewhere& candidate) { return candidate.path == path; });
    if (entry == elsewhere.end()) {
      found.push_back({file.path, 0, fmt::format("has no {}", test)});
    } else {
      used.insert(entry->path);
    }
  }
  for (const TestedElsewhere& entry : elsewhere) {
    if (!used.contains(entry.path)) {
      found.push_back({std::string(entry.path), 0, "is listed as tested elsewhere, which is not needed"});
    }
  }
  return found;
}

}  // namespace shoal::lint
