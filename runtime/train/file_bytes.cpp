#include "shoal/runtime/train/file_bytes.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "shoal/runtime/base/error.h"

namespace shoal::train {

void check_regular_file(const std::string& path, const std::string& advice) {
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (status.type() == std::filesystem::file_type::not_found) {
    fail(ErrorCode::InvalidArgument, fmt::format("[read_file] '{}' does not exist; {}", path, advice));
  }
  if (!std::filesystem::status_known(status)) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[read_file] '{}' cannot be looked at: {}; {}", path, code.message(), advice));
  }
  if (!std::filesystem::is_regular_file(status)) {
    fail(ErrorCode::InvalidArgument, fmt::format("[read_file] '{}' is not a regular file; {}", path, advice));
  }
}

std::vector<std::uint8_t> read_file_bytes(const std::string& path, std::int64_t max_bytes, const std::string& advice) {
  check_regular_file(path, advice);
  std::error_code code;
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(path, code));
  if (code || bytes > max_bytes) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[read_file] '{}' has {} bytes; at most {} are read", path, bytes, max_bytes));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[read_file] '{}' cannot be opened: {}; {}", path, std::strerror(errno), advice));
  }
  std::vector<std::uint8_t> data(static_cast<std::size_t>(bytes));
  file.read(reinterpret_cast<char*>(data.data()), bytes);
  if (file.gcount() != bytes) {
    fail(ErrorCode::Corrupt, fmt::format("[read_file] '{}' ended after {} of {} bytes", path,
                                         static_cast<std::int64_t>(file.gcount()), bytes));
  }
  return data;
}

}  // namespace shoal::train
