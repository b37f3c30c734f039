#include "shoal/runtime/device/drop_reason.h"

#include <utility>

namespace shoal {
namespace {

std::exception_ptr& reason_of_thread() {
  thread_local std::exception_ptr reason;
  return reason;
}

}  // namespace

DropReason::DropReason(std::exception_ptr error) : outer_(std::exchange(reason_of_thread(), std::move(error))) {}
DropReason::~DropReason() { reason_of_thread() = std::move(outer_); }

std::exception_ptr DropReason::current() { return reason_of_thread(); }

}  // namespace shoal
