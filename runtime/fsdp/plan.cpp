#include "shoal/runtime/fsdp/plan.h"

#include <array>

namespace shoal::fsdp {
namespace {

constexpr std::array<std::string_view, 22> kOpNames = {
    "pass_begin",        "enter_forward", "exit_forward",   "forward_end",    "enter_backward",   "exit_backward",
    "pass_end",          "gather",        "release_values", "hold_gradients", "finish_gradients", "reduce",
    "release_gradients", "reduce_sums",   "reduce_state",   "update_state",   "gradient_norm",    "reduce_norm",
    "finish_norm",       "await_readers", "update",         "publish"};

}  // namespace

std::string_view op_kind_name(OpKind kind) { return kOpNames[static_cast<std::size_t>(kind)]; }

bool is_mark(OpKind kind) { return kind <= OpKind::PassEnd; }

}  // namespace shoal::fsdp
