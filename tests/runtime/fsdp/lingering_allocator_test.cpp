#include "shoal/runtime/fsdp/lingering_allocator.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "shoal/runtime/base/error.h"

namespace shoal::test {
namespace {

/// Notes what it is told.
class NotingAllocator final : public fsdp::LingeringAllocator {
 public:
  explicit NotingAllocator(std::vector<std::string>& notes) : notes_(notes) {}
  ~NotingAllocator() override { notes_.push_back("deleted"); }

  using LingeringAllocator::refuse_held;

 private:
  Leased lease(const Shape&, DType, MemoryTag, const char*) override { return {Tensor(), next_++}; }
  void give_back(std::int64_t id) noexcept override { notes_.push_back("back " + std::to_string(id)); }
  void leave() noexcept override { notes_.push_back("left"); }

  std::vector<std::string>& notes_;
  std::int64_t next_ = 0;
};

std::int64_t take(TensorAllocator& allocator) {
  return allocator.acquire({1}, DType::F32, MemoryTag::Activations, "x").id;
}

using Notes = std::vector<std::string>;

TEST(LingeringAllocator, WithNothingHeld_GoesWithItsOwner) {
  Notes notes;
  fsdp::Lingering<NotingAllocator> owner(new NotingAllocator(notes));
  owner->release(take(*owner));
  owner.reset();
  EXPECT_EQ(notes, (Notes{"back 0", "left", "deleted"}));
}

TEST(LingeringAllocator, GoesWithTheLastLease_WhichIsGivenBackToNobody) {
  Notes notes;
  fsdp::Lingering<NotingAllocator> owner(new NotingAllocator(notes));
  TensorAllocator& lingering = *owner;
  const std::int64_t first = take(lingering);
  const std::int64_t second = take(lingering);
  owner.reset();
  EXPECT_EQ(notes, Notes{"left"});
  lingering.release(second);
  EXPECT_EQ(notes, Notes{"left"});
  lingering.release(first);
  EXPECT_EQ(notes, (Notes{"left", "deleted"}));
}

TEST(LingeringAllocator, RefusesWhatIsHeldByName) {
  NotingAllocator::refuse_held(nullptr);
  try {
    NotingAllocator::refuse_held("logits");
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Unsupported);
    EXPECT_NE(std::string(error.what()).find("[logits] its memory is still held"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace shoal::test
