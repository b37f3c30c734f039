#include "shoal/nn/free_list.h"

#include <gtest/gtest.h>

#include <thread>

namespace shoal::test {
namespace {

int live = 0;

struct Counted {
  Counted() { ++live; }
  ~Counted() { --live; }
  Counted* next_free = nullptr;
};

using List = nn::FreeList<Counted>;

TEST(FreeList, ReturnsWhatWasGivenBack) {
  Counted* a = List::take();
  Counted* b = List::take();
  EXPECT_NE(a, b);
  List::give(a);
  EXPECT_EQ(List::take(), a);
  EXPECT_EQ(a->next_free, nullptr);
  List::give(a);
  List::give(b);
}

TEST(FreeList, EndOfThread_DeletesWhatItKept) {
  const int before = live;
  Counted* taken_here = List::take();
  std::thread([&] {
    List::give(List::take());
    List::give(taken_here);
  }).join();
  EXPECT_LE(live, before);
}

/// Given back by another object of the thread that is destroyed after the list.
struct Late {
  Counted* held = nullptr;
  ~Late() {
    if (held != nullptr) List::give(held);
  }
};

TEST(FreeList, GivenBackAfterTheEnd_IsDeleted) {
  const int before = live;
  std::thread([] {
    static thread_local Late late;  // made before the list's own end is arranged, so destroyed after it
    late.held = nullptr;
    late.held = List::take();
  }).join();
  EXPECT_EQ(live, before);
}

}  // namespace
}  // namespace shoal::test
