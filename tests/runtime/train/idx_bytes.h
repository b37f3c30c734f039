#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

namespace shoal::test {

/// An IDX file of unsigned bytes with these extents and elements.
inline std::vector<std::uint8_t> make_idx(const std::vector<std::uint32_t>& dims,
                                          const std::vector<std::uint8_t>& data) {
  std::vector<std::uint8_t> bytes = {0, 0, 8, static_cast<std::uint8_t>(dims.size())};
  for (const std::uint32_t extent : dims) {
    for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<std::uint8_t>(extent >> shift));
  }
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

/// Writes `bytes` gzipped.
inline void write_gzip(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
}

}  // namespace shoal::test
