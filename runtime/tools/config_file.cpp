#include "shoal/runtime/tools/config_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/tools/config_flags.h"
#include "shoal/runtime/train/file_bytes.h"

namespace shoal::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMaxConfigBytes = 1 << 20;

Json parse(const std::string& path) {
  const std::vector<std::uint8_t> bytes =
      train::read_file_bytes(path, kMaxConfigBytes, "--config wants a JSON file of flags");
  try {
    return Json::parse(bytes.begin(), bytes.end());
  } catch (const Json::exception& error) {
    fail(ErrorCode::InvalidArgument, fmt::format("[config] '{}' is no JSON: {}", path, error.what()));
  }
}

// A value as it would be typed.
std::string as_typed(const std::string& path, const std::string& key, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return value.dump();
  fail(ErrorCode::InvalidArgument,
       fmt::format("[config] '{}' gives '{}' as {}; a string or a number works", path, key, value.type_name()));
}

}  // namespace

void read_config_file(const std::string& path, train::TrainConfig& config) {
  const Json json = parse(path);
  if (!json.is_object()) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[config] '{}' holds {}; one object such as {{\"model\": \"mlp\", \"ranks\": 2}} works", path,
                     json.type_name()));
  }
  for (const auto& [key, value] : json.items()) {
    set_config_flag(config, key, as_typed(path, key, value), fmt::format("'{}': key ", path));
  }
}

}  // namespace shoal::tools
