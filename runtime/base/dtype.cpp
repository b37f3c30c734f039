#include "shoal/runtime/base/dtype.h"

#include <fmt/format.h>

#include "shoal/runtime/base/error.h"

namespace shoal {

std::int64_t dtype_bytes(DType dtype) {
  switch (dtype) {
    case DType::F32:
    case DType::I32:
      return 4;
    case DType::BF16:
    case DType::F16:
      return 2;
    case DType::F64:
    case DType::I64:
      return 8;
    case DType::U8:
      return 1;
  }
  fail(ErrorCode::Internal, fmt::format("[dtype_bytes] no element type has the value {}", static_cast<int>(dtype)));
}

std::string_view dtype_name(DType dtype) {
  switch (dtype) {
    case DType::F32:
      return "fp32";
    case DType::BF16:
      return "bf16";
    case DType::F16:
      return "fp16";
    case DType::F64:
      return "fp64";
    case DType::I64:
      return "i64";
    case DType::I32:
      return "i32";
    case DType::U8:
      return "u8";
  }
  fail(ErrorCode::Internal, fmt::format("[dtype_name] no element type has the value {}", static_cast<int>(dtype)));
}

}  // namespace shoal
