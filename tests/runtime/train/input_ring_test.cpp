#include "shoal/runtime/train/input_ring.h"

#include "shoal/runtime/device/runtime.h"
#include "shoal/tests/runtime/train/expect_error.h"

namespace shoal::train {
namespace {

const nn::BatchSpec kSpec{.inputs = {4, 3}, .inputs_dtype = DType::F32, .targets = {4}, .targets_dtype = DType::I32};

TEST(InputRing, Slots_AreApartAndCountedAsInputs) {
  const Runtime runtime;
  const auto device = runtime.open_device(DeviceKind::Host);
  {
    const InputRing ring(*device, kSpec, 3);
    EXPECT_EQ(ring.num_slots(), 3);
    EXPECT_EQ(batch_bytes(kSpec), 4 * 3 * 4 + 4 * 4);
    EXPECT_EQ(device->ledger().live()[MemoryTag::Inputs], 3 * batch_bytes(kSpec));
    for (int slot = 0; slot < 3; ++slot) {
      EXPECT_EQ(ring.slot(slot).inputs.shape(), kSpec.inputs);
      EXPECT_EQ(ring.slot(slot).targets.dtype(), DType::I32);
      for (std::int64_t i = 0; i < 4; ++i) ring.slot(slot).targets.as<std::int32_t>()[i] = slot;
    }
    for (int slot = 0; slot < 3; ++slot) EXPECT_EQ(ring.slot(slot).targets.as<std::int32_t>()[3], slot);
  }
  EXPECT_EQ(device->ledger().live()[MemoryTag::Inputs], 0);
}

TEST(InputRing, DeviceThatTheHostCannotWrite_IsUnsupported) {
  const auto device = Runtime().open_device(DeviceKind::Sim);
  test::expect_error(ErrorCode::Unsupported, {"host"}, [&] { InputRing(*device, kSpec, 1); });
}

}  // namespace
}  // namespace shoal::train
