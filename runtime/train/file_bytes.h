#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shoal::train {

/// Throws InvalidArgument, naming the file and `advice` (what would work), unless `path` is a regular file: opening
/// another kind may wait for ever.
void check_regular_file(const std::string& path, const std::string& advice);

/// All bytes of a regular file of at most `max_bytes`. Throws InvalidArgument, naming the file and `advice` (what would
/// work), where it cannot be opened, is no regular file or is larger; Corrupt where it cannot be read to its end.
std::vector<std::uint8_t> read_file_bytes(const std::string& path, std::int64_t max_bytes, const std::string& advice);

}  // namespace shoal::train
