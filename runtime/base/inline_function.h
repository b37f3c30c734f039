#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace shoal {

template <typename Signature, std::size_t Capacity>
class InlineFunction;

/// A move-only callable stored in place, so that enqueueing an operation never allocates.
/// A callable larger than Capacity does not compile.
template <typename R, typename... Args, std::size_t Capacity>
class InlineFunction<R(Args...), Capacity> {
 public:
  InlineFunction() = default;

  template <typename F, typename = std::enable_if_t<!std::is_same_v<std::decay_t<F>, InlineFunction>>>
  InlineFunction(F&& f) {  // NOLINT(google-explicit-constructor): a lambda is passed where a task is expected
    using Callable = std::decay_t<F>;
    static_assert(sizeof(Callable) <= Capacity, "the captured state does not fit; capture less or raise the capacity");
    static_assert(alignof(Callable) <= alignof(std::max_align_t));
    ::new (static_cast<void*>(storage_)) Callable(std::forward<F>(f));
    call_ = [](void* self, Args... args) -> R { return (*static_cast<Callable*>(self))(std::forward<Args>(args)...); };
    manage_ = [](void* self, void* to) {
      auto* from = static_cast<Callable*>(self);
      if (to != nullptr) ::new (to) Callable(std::move(*from));
      from->~Callable();
    };
  }

  InlineFunction(InlineFunction&& other) noexcept { take(other); }
  InlineFunction& operator=(InlineFunction&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  InlineFunction(const InlineFunction&) = delete;
  InlineFunction& operator=(const InlineFunction&) = delete;
  ~InlineFunction() { reset(); }

  explicit operator bool() const { return call_ != nullptr; }
  R operator()(Args... args) { return call_(storage_, std::forward<Args>(args)...); }

  /// Destroys the callable and what it captured.
  void reset() {
    if (manage_ != nullptr) manage_(storage_, nullptr);
    call_ = nullptr;
    manage_ = nullptr;
  }

 private:
  void take(InlineFunction& other) {
    if (other.manage_ != nullptr) other.manage_(other.storage_, storage_);
    call_ = std::exchange(other.call_, nullptr);
    manage_ = std::exchange(other.manage_, nullptr);
  }

  alignas(std::max_align_t) unsigned char storage_[Capacity];
  R (*call_)(void*, Args...) = nullptr;
  void (*manage_)(void* self, void* to) = nullptr;
};

}  // namespace shoal
