#include "shoal/runtime/base/dtype.h"

#include <gtest/gtest.h>

#include "shoal/runtime/base/error.h"

namespace shoal {
namespace {

TEST(DType, BytesAndNames) {
  struct Row {
    DType dtype;
    std::int64_t bytes;
    std::string_view name;
  };
  for (const Row& row :
       {Row{DType::F32, 4, "fp32"}, Row{DType::BF16, 2, "bf16"}, Row{DType::F16, 2, "fp16"}, Row{DType::F64, 8, "fp64"},
        Row{DType::I64, 8, "i64"}, Row{DType::I32, 4, "i32"}, Row{DType::U8, 1, "u8"}}) {
    EXPECT_EQ(dtype_bytes(row.dtype), row.bytes) << row.name;
    EXPECT_EQ(dtype_name(row.dtype), row.name);
  }
}

TEST(DType, ValueOutsideTheList_IsInternal) {
  const auto bad = static_cast<DType>(99);
  EXPECT_THROW(dtype_bytes(bad), Error);
  EXPECT_THROW(dtype_name(bad), Error);
}

}  // namespace
}  // namespace shoal
