#include "shoal/runtime/device/memory_ledger.h"

#include <gtest/gtest.h>

#include <string>

#include "shoal/runtime/base/error.h"

namespace shoal {
namespace {

TEST(MemoryLedger, CountsLiveAndPeakByTagAndInTotal) {
  MemoryLedger ledger;
  ledger.acquire(MemoryTag::Parameters, 100);
  ledger.acquire(MemoryTag::Activations, 30);
  ledger.release(MemoryTag::Activations, 30);
  ledger.acquire(MemoryTag::Workspace, 20);
  EXPECT_EQ(ledger.live()[MemoryTag::Parameters], 100);
  EXPECT_EQ(ledger.live()[MemoryTag::Activations], 0);
  EXPECT_EQ(ledger.live().total, 120);
  EXPECT_EQ(ledger.peak()[MemoryTag::Activations], 30);
  EXPECT_EQ(ledger.peak()[MemoryTag::Workspace], 20);
  EXPECT_EQ(ledger.peak().total, 130);  // less than the sum of the tags' peaks
}

TEST(MemoryLedger, GivingBackMoreThanIsHeld_IsInternalAtTheNextCheck) {
  MemoryLedger ledger;
  ledger.acquire(MemoryTag::Inputs, 10);
  ledger.acquire(MemoryTag::Control, 10);
  static_assert(noexcept(ledger.release(MemoryTag::Inputs, 11)));  // destructors call it
  ledger.check();
  ledger.release(MemoryTag::Inputs, 11);
  ledger.release(MemoryTag::Control, 12);
  EXPECT_EQ(ledger.live().total, 0);
  EXPECT_EQ(ledger.live()[MemoryTag::Inputs], 0);
  for (int round = 0; round < 2; ++round) {
    try {
      ledger.check();
      FAIL() << "did not throw";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Internal);
      const std::string text = error.what();
      EXPECT_NE(text.find("11 bytes of inputs were given back, but only 10"), std::string::npos) << text;
    }
  }
  EXPECT_THROW(ledger.acquire(MemoryTag::Inputs, 1), Error);
}

TEST(MemoryLedger, Table_HasALinePerTag) {
  MemoryLedger ledger;
  ledger.acquire(MemoryTag::UnshardedGradients, 123456);
  const std::string table = ledger.to_table();
  for (int i = 0; i < kNumMemoryTags; ++i) {
    const auto tag = static_cast<MemoryTag>(i);
    EXPECT_NE(table.find(std::string("\n").append(memory_tag_name(tag)).append(" ")), std::string::npos) << table;
  }
  EXPECT_NE(table.find("123456"), std::string::npos);
  EXPECT_EQ(memory_tag_name(MemoryTag::OptimizerState), "optimizer_state");
  EXPECT_EQ(memory_tag_name(MemoryTag::Workspace), "workspace");
}

}  // namespace
}  // namespace shoal
