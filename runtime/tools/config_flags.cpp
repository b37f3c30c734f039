#include "shoal/runtime/tools/config_flags.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/base/nearest_name.h"

namespace shoal::tools {
namespace {

using train::TrainConfig;

[[noreturn]] void refuse(std::string_view flag, const std::string& text, std::string_view wanted) {
  fail(ErrorCode::InvalidArgument, fmt::format("[config] {} '{}' is not {}", flag, text, wanted));
}

template <typename T>
T parse_number(std::string_view flag, const std::string& text, std::string_view wanted) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stopped, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc() || stopped != end) refuse(flag, text, wanted);
  return value;
}

template <typename T>
struct Parse {
  static T from(std::string_view flag, const std::string& text) {
    if constexpr (std::is_same_v<T, std::string>) {
      if (text.empty()) refuse(flag, text, "a name");
      return text;
    } else if constexpr (std::is_floating_point_v<T>) {
      return parse_number<T>(flag, text, "a number");
    } else if constexpr (std::is_unsigned_v<T>) {
      return parse_number<T>(flag, text, "a whole number from 0");
    } else {
      return parse_number<T>(flag, text, "a whole number");
    }
  }
};

template <typename T>
struct Parse<std::optional<T>> {
  static std::optional<T> from(std::string_view flag, const std::string& text) { return Parse<T>::from(flag, text); }
};

template <typename T>
FlagValue to_value(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return value.empty() ? FlagValue{} : FlagValue{value};
  } else if constexpr (std::is_floating_point_v<T>) {
    return FlagValue{value};
  } else if constexpr (std::is_unsigned_v<T>) {
    return FlagValue{static_cast<std::uint64_t>(value)};
  } else {
    return FlagValue{static_cast<std::int64_t>(value)};
  }
}

template <typename T>
FlagValue to_value(const std::optional<T>& value) {
  return value.has_value() ? to_value(*value) : FlagValue{};
}

template <auto Member>
void set_member(TrainConfig& config, std::string_view called, const std::string& text) {
  config.*Member = Parse<std::remove_reference_t<decltype(config.*Member)>>::from(called, text);
}

template <auto Member>
FlagValue get_member(const TrainConfig& config) {
  return to_value(config.*Member);
}

void set_memory_limit(TrainConfig& config, std::string_view called, const std::string& text) {
  config.memory_limit = parse_bytes(called, text);
}

template <auto Member>
constexpr ConfigFlag flag(std::string_view name, std::string_view value_name, std::string_view help) {
  return {name, value_name, help, &set_member<Member>, &get_member<Member>};
}

constexpr std::array kFlags = {
    flag<&TrainConfig::model>("model", "NAME",
                              "mlp, resnet9[-WIDTH], resnet18, gpt-LxD, gpt2-124m|355m|774m|1.5b, chain-NxD"),
    flag<&TrainConfig::data>("data", "NAME",
                             "fashion-mnist[:DIR], cifar10:DIR, text[:FILE], synthetic; what suits the model"),
    flag<&TrainConfig::ranks>("ranks", "N", "members of the run, threads of this process; 2"),
    flag<&TrainConfig::threads>("threads", "N", "workers per rank; cores / ranks, at least 1"),
    flag<&TrainConfig::device>("device", "NAME", "host"),
    flag<&TrainConfig::backend>("backend", "NAME", "single or threads; what suits the number of ranks"),
    flag<&TrainConfig::strategy>("strategy", "NAME", "none: everything held in full; full (default): nothing"),
    flag<&TrainConfig::wrap>("wrap", "HOW",
                             "block: units as the model marks them; type:A,B: modules of these types too"),
    flag<&TrainConfig::dtype>("dtype", "NAME", "fp32"),
    flag<&TrainConfig::batch>("batch", "N", "samples in a step, of all ranks together; what suits the model"),
    flag<&TrainConfig::steps>("steps", "N", "how long to train, or"),
    flag<&TrainConfig::epochs>("epochs", "N", "how often to see all training samples; what suits the model"),
    flag<&TrainConfig::lr>("lr", "RATE", "learning rate; what suits the model"),
    flag<&TrainConfig::lr_schedule>("lr-schedule", "NAME", "constant, linear, cosine or steps; what suits the model"),
    flag<&TrainConfig::warmup>("warmup", "N", "steps in which the learning rate grows; what suits the model"),
    flag<&TrainConfig::optimizer>("optimizer", "NAME", "adamw, adam or sgd; what suits the model"),
    flag<&TrainConfig::weight_decay>("weight-decay", "X", "of matrices, not of norms and biases"),
    flag<&TrainConfig::momentum>("momentum", "X", "of sgd, in Nesterov's form; 0.9"),
    flag<&TrainConfig::clip_norm>("clip-norm", "X", "longest gradient; 0: any"),
    flag<&TrainConfig::seed>("seed", "N", "of the weights and of the order of samples; 0"),
    flag<&TrainConfig::prefetch>("prefetch", "N", "units gathered ahead; 1"),
    flag<&TrainConfig::deadline_s>("deadline", "SECONDS", "nothing waits longer without progress; 30"),
    ConfigFlag{"memory-limit", "BYTES", "per rank, as 2000000 or 512MiB; no limit", &set_memory_limit,
               &get_member<&TrainConfig::memory_limit>},
};

}  // namespace

std::span<const ConfigFlag> config_flags() { return kFlags; }

void set_config_flag(TrainConfig& config, const std::string& name, const std::string& text, std::string_view where) {
  std::vector<std::string_view> known;
  for (const ConfigFlag& flag : kFlags) {
    if (flag.name == name) return flag.set(config, fmt::format("{}{}", where, name), text);
    known.push_back(flag.name);
  }
  fail(ErrorCode::InvalidArgument, fmt::format("[config] {}{}", where, describe_unknown(name, known)));
}

std::int64_t parse_whole_number(std::string_view flag, const std::string& text) {
  return parse_number<std::int64_t>(flag, text, "a whole number");
}

std::int64_t parse_bytes(std::string_view flag, const std::string& text) {
  struct Unit {
    std::string_view name;
    int shift;
  };
  constexpr std::array<Unit, 4> kUnits = {{{"", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}}};
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view unit_name = std::string_view(text).substr(digits);
  for (const Unit& unit : kUnits) {
    if (unit.name != unit_name || digits == 0) continue;
    const auto number = parse_number<std::int64_t>(flag, text.substr(0, digits), "a number of bytes");
    if (number <= (std::numeric_limits<std::int64_t>::max() >> unit.shift)) return number << unit.shift;
  }
  refuse(flag, text, "a number of bytes; 2000000, 64KiB, 512MiB or 2GiB would be");
}

}  // namespace shoal::tools
