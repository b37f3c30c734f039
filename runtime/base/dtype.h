#pragma once

#include <cstdint>
#include <string_view>

namespace shoal {

/// Element types. F32 is what every op computes in; the others are storage, indices and control values.
enum class DType : std::uint8_t { F32, BF16, F16, F64, I64, I32, U8 };

/// Bytes of one element.
std::int64_t dtype_bytes(DType dtype);

/// "fp32", "bf16", "fp16", "fp64", "i64", "i32", "u8".
std::string_view dtype_name(DType dtype);

}  // namespace shoal
