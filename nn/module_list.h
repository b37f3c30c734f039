#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "shoal/nn/module.h"

namespace shoal::nn {

/// Modules of one type, named by their position: "blocks.0", "blocks.1", ... It has no forward of its own: loop over
/// it.
template <typename T>
class ModuleList : public Module {
 public:
  ModuleList(Module* parent, std::string name) : Module(parent, std::move(name), "ModuleList") {}

  /// Adds T(this, position, args...).
  template <typename... Args>
  T& add(Args&&... args) {
    items_.push_back(std::make_unique<T>(this, std::to_string(items_.size()), std::forward<Args>(args)...));
    return *items_.back();
  }

  std::size_t size() const { return items_.size(); }
  T& operator[](std::size_t position) { return *items_[position]; }

 private:
  std::vector<std::unique_ptr<T>> items_;
};

}  // namespace shoal::nn
