#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shoal::train {

/// The contents of an IDX file of unsigned bytes (the MNIST format): big-endian magic 0x000008DD with DD dimensions,
/// one 32-bit extent each, then the elements.
struct IdxFile {
  std::vector<std::int64_t> dims;
  std::vector<std::uint8_t> data;
};

/// Reads an IDX file, gzipped or plain. Nothing that the header claims drives an allocation: elements are read in
/// pieces, and the file must hold exactly as many as its extents say. Throws InvalidArgument, naming the file and
/// `advice`, where it is no regular file or cannot be opened; Corrupt, naming the file and what was found, for a wrong
/// magic, extents whose product exceeds `max_bytes`, a truncated or damaged file, and bytes after the last element.
IdxFile read_idx_file(const std::string& path, int num_dims, std::int64_t max_bytes, const std::string& advice);

}  // namespace shoal::train
