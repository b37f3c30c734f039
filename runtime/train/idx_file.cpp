#include "shoal/runtime/train/idx_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/train/file_bytes.h"

namespace shoal::train {
namespace {

constexpr std::int64_t kPieceBytes = 1 << 20;
constexpr std::uint32_t kMagicOfBytes = 0x00000800;

struct CloseGzip {
  void operator()(gzFile_s* file) const { gzclose_r(file); }
};
using GzipFile = std::unique_ptr<gzFile_s, CloseGzip>;

[[noreturn]] void fail_corrupt(const std::string& path, const std::string& what) {
  fail(ErrorCode::Corrupt, fmt::format("[read_idx] '{}' {}", path, what));
}

// Appends up to `wanted` bytes to `data`; returns how many the file still had.
std::int64_t read_some(gzFile_s* file, const std::string& path, std::int64_t wanted, std::vector<std::uint8_t>& data) {
  std::int64_t got = 0;
  while (got < wanted) {
    const std::int64_t piece = std::min(kPieceBytes, wanted - got);
    const std::size_t begin = data.size();
    data.resize(begin + static_cast<std::size_t>(piece));
    const int result = gzread(file, data.data() + begin, static_cast<unsigned>(piece));
    data.resize(begin + static_cast<std::size_t>(std::max(result, 0)));
    if (result < 0) {
      int code = 0;
      const std::string reason = gzerror(file, &code);
      fail_corrupt(path, fmt::format("is damaged after {} bytes: {}", data.size(), reason));
    }
    got += result;
    if (result < piece) break;
  }
  return got;
}

std::uint32_t big_endian(const std::vector<std::uint8_t>& bytes, std::size_t at) {
  return (std::uint32_t{bytes[at]} << 24) | (std::uint32_t{bytes[at + 1]} << 16) | (std::uint32_t{bytes[at + 2]} << 8) |
         std::uint32_t{bytes[at + 3]};
}

std::vector<std::int64_t> read_header(gzFile_s* file, const std::string& path, int num_dims) {
  const std::int64_t header_bytes = 4 + 4 * num_dims;
  std::vector<std::uint8_t> header;
  const std::int64_t got = read_some(file, path, header_bytes, header);
  if (got < header_bytes)
    fail_corrupt(path, fmt::format("ends in its header, after {} of {} bytes", got, header_bytes));
  const std::uint32_t magic = big_endian(header, 0);
  const std::uint32_t expected = kMagicOfBytes + static_cast<std::uint32_t>(num_dims);
  if (magic != expected) {
    fail_corrupt(path, fmt::format("begins with {:#010x}; an IDX file of bytes with {} dimensions begins with {:#010x}",
                                   magic, num_dims, expected));
  }
  std::vector<std::int64_t> dims;
  for (int dim = 0; dim < num_dims; ++dim) dims.push_back(big_endian(header, 4 + 4 * static_cast<std::size_t>(dim)));
  return dims;
}

// The product of the extents, which lie in [0, 2^32); `limit` keeps it from overflowing.
std::int64_t bounded_product(const std::string& path, const std::vector<std::int64_t>& dims, std::int64_t limit) {
  std::int64_t product = 1;
  for (const std::int64_t extent : dims) {
    if (extent != 0 && product > limit / extent) {
      fail_corrupt(path, fmt::format("claims {} elements; at most {} are read", fmt::join(dims, " x "), limit));
    }
    product *= extent;
  }
  return product;
}

}  // namespace

IdxFile read_idx_file(const std::string& path, int num_dims, std::int64_t max_bytes, const std::string& advice) {
  check_regular_file(path, advice);
  errno = 0;
  const GzipFile file(gzopen(path.c_str(), "rb"));
  if (file == nullptr) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[read_idx] '{}' cannot be opened: {}; {}", path, std::strerror(errno), advice));
  }
  IdxFile idx;
  idx.dims = read_header(file.get(), path, num_dims);
  const std::int64_t expected = bounded_product(path, idx.dims, max_bytes);
  const std::int64_t got = read_some(file.get(), path, expected, idx.data);
  if (got < expected) fail_corrupt(path, fmt::format("ends after {} of {} elements", got, expected));
  // Reading on to the end also makes zlib check its checksum.
  std::vector<std::uint8_t> rest;
  if (read_some(file.get(), path, 1, rest) != 0) {
    fail_corrupt(path, fmt::format("goes on after its {} elements", expected));
  }
  int code = 0;
  const std::string reason = gzerror(file.get(), &code);
  if (code != Z_OK && code != Z_STREAM_END) fail_corrupt(path, fmt::format("is damaged at its end: {}", reason));
  return idx;
}

}  // namespace shoal::train
