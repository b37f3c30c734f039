#pragma once

#include <span>
#include <string>
#include <string_view>

namespace shoal {

/// The known name that takes the fewest edits (insert, delete, replace, swap two neighbours) to reach from `name`, the
/// earlier one of equals; empty where none is within half of `name`'s length, because then it is no help.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known);

/// "'adamv' is unknown; did you mean 'adamw'? Known: adamw, adam, sgd", for messages.
std::string describe_unknown(std::string_view name, std::span<const std::string_view> known);

}  // namespace shoal
