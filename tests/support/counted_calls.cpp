#include "shoal/tests/support/counted_calls.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

constinit std::atomic<bool> is_counting{false};
constinit std::atomic<int> allocations{0};
constinit std::atomic<int> mutex_locks{0};

using LockFunction = int (*)(pthread_mutex_t*);
constinit std::atomic<LockFunction> next_lock{nullptr};

void count(std::atomic<int>& calls) {
  if (is_counting.load(std::memory_order_relaxed)) calls.fetch_add(1);
}

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  count(allocations);
  void* data = nullptr;
  const std::size_t least = bytes == 0 ? 1 : bytes;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(least);
  return posix_memalign(&data, alignment, least) == 0 ? data : nullptr;
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  if (void* data = allocate(bytes, alignment)) return data;
  throw std::bad_alloc();
}

std::size_t value(std::align_val_t alignment) { return static_cast<std::size_t>(alignment); }

}  // namespace

// Whatever calls the C library's function from outside of it, std::mutex included, finds this one first.
extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  count(mutex_locks);
  LockFunction next = next_lock.load(std::memory_order_acquire);
  if (next == nullptr) {
    next = reinterpret_cast<LockFunction>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
    next_lock.store(next, std::memory_order_release);
  }
  return next(mutex);
}

// Not inlined, so that the compiler does not take the pairs for mismatched.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return allocate_or_throw(bytes, 1); }
[[gnu::noinline]] void* operator new[](std::size_t bytes) { return allocate_or_throw(bytes, 1); }
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, 1); }
[[gnu::noinline]] void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, 1); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, value(alignment));
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, value(alignment));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(bytes, value(alignment));
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(bytes, value(alignment));
}
[[gnu::noinline]] void operator delete(void* data) noexcept { std::free(data); }
[[gnu::noinline]] void operator delete[](void* data) noexcept { std::free(data); }
[[gnu::noinline]] void operator delete(void* data, std::size_t) noexcept { std::free(data); }
[[gnu::noinline]] void operator delete[](void* data, std::size_t) noexcept { std::free(data); }
[[gnu::noinline]] void operator delete(void* data, const std::nothrow_t&) noexcept { std::free(data); }
[[gnu::noinline]] void operator delete[](void* data, const std::nothrow_t&) noexcept { std::free(data); }
[[gnu::noinline]] void operator delete(void* data, std::align_val_t) noexcept { std::free(data); }
[[gnu::noinline]] void operator delete[](void* data, std::align_val_t) noexcept { std::free(data); }
[[gnu::noinline]] void operator delete(void* data, std::size_t, std::align_val_t) noexcept { std::free(data); }
[[gnu::noinline]] void operator delete[](void* data, std::size_t, std::align_val_t) noexcept { std::free(data); }
[[gnu::noinline]] void operator delete(void* data, std::align_val_t, const std::nothrow_t&) noexcept {
  std::free(data);
}
[[gnu::noinline]] void operator delete[](void* data, std::align_val_t, const std::nothrow_t&) noexcept {
  std::free(data);
}

namespace shoal::test {

CountedCalls::CountedCalls() {
  allocations = 0;
  mutex_locks = 0;
  is_counting = true;
}
CountedCalls::~CountedCalls() { is_counting = false; }

int CountedCalls::num_allocations() { return allocations; }
int CountedCalls::num_mutex_locks() { return mutex_locks; }

}  // namespace shoal::test
