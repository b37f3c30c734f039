#pragma once

#include <functional>
#include <string_view>

namespace shoal {

enum class LogLevel { Info, Warning };

/// Where the words of Runtime::log go. The library itself never prints; without a sink they are dropped.
/// May be called from any rank's thread, one call at a time per Runtime and its copies.
using LogSink = std::function<void(LogLevel, std::string_view)>;

}  // namespace shoal
