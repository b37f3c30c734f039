#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace shoal {

/// XXH64 with seed 0.
std::uint64_t hash_bytes(const void* data, std::size_t bytes);

/// XXH64 of the characters.
inline std::uint64_t hash_text(std::string_view text) { return hash_bytes(text.data(), text.size()); }

}  // namespace shoal
