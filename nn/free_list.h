#pragma once

namespace shoal::nn {

/// Objects that this thread made and got back, kept for the next one who needs one, so that a pass allocates nothing
/// once it has seen a pass of the same length. T has a member `T* next_free` for the list's use and comes back as if
/// new. An object may be given back on another thread than it was taken on, and after its thread's list is gone.
template <typename T>
class FreeList {
 public:
  static T* take() {
    if (first_ == nullptr) {
      at_thread_exit_.arm();
      return new T();
    }
    T* object = first_;
    first_ = object->next_free;
    object->next_free = nullptr;
    return object;
  }

  static void give(T* object) noexcept {
    if (is_closed_) {
      delete object;
      return;
    }
    at_thread_exit_.arm();
    object->next_free = first_;
    first_ = object;
  }

 private:
  class AtThreadExit {
   public:
    AtThreadExit() {}
    void arm() { is_armed_ = true; }  // the first use makes the thread run the destructor
    ~AtThreadExit() {
      is_closed_ = true;
      while (first_ != nullptr) {
        T* object = first_;
        first_ = object->next_free;
        delete object;
      }
    }

   private:
    bool is_armed_ = false;
  };

  // The first two need no destruction, so they may be read while other objects of the thread are destroyed.
  static inline thread_local T* first_ = nullptr;
  static inline thread_local bool is_closed_ = false;
  static inline thread_local AtThreadExit at_thread_exit_;
};

}  // namespace shoal::nn
