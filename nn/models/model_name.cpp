#include "shoal/nn/models/model_name.h"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shoal/nn/models/registry.h"
#include "shoal/runtime/base/error.h"
#include "shoal/runtime/base/nearest_name.h"

namespace shoal::nn {
namespace {

using Family = ModelName::Family;

/// No model is wider or has more layers than the next; products of the two stay far from overflow, and the time to plan
/// a model within minutes.
constexpr std::int64_t kMaxNumber = 1'000'000;
constexpr std::int64_t kMaxLayers = 10'000;

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1 || number > kMaxNumber) return {};
  return number;
}

std::optional<ModelName> parse_product(Family family, std::string_view text) {
  const std::size_t cross = text.find('x');
  if (cross == std::string_view::npos) return {};
  const auto layers = parse_number(text.substr(0, cross));
  const auto width = parse_number(text.substr(cross + 1));
  if (!layers || !width) return {};
  return ModelName{family, *layers, *width};
}

std::optional<ModelName> parse(std::string_view spec) {
  constexpr std::int64_t kResNet9Width = 16;
  if (spec == "mlp") return ModelName{Family::Mlp};
  if (spec == "resnet9") return ModelName{Family::ResNet9, 0, kResNet9Width};
  if (spec == "resnet18") return ModelName{Family::ResNet18};
  if (spec == "gpt2-124m") return ModelName{Family::Gpt2, 12, 768};
  if (spec == "gpt2-355m") return ModelName{Family::Gpt2, 24, 1024};
  if (spec == "gpt2-774m") return ModelName{Family::Gpt2, 36, 1280};
  if (spec == "gpt2-1.5b") return ModelName{Family::Gpt2, 48, 1600};
  if (spec.starts_with("resnet9-")) {
    if (const auto width = parse_number(spec.substr(8))) return ModelName{Family::ResNet9, 0, *width};
  }
  if (spec.starts_with("gpt-")) return parse_product(Family::Gpt, spec.substr(4));
  if (spec.starts_with("chain-")) return parse_product(Family::Chain, spec.substr(6));
  return {};
}

/// Runs of digits become '#', so that only the form of a name is compared.
std::string form_of(std::string_view name) {
  std::string form;
  for (const char c : name) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit) {
      form += c;
    } else if (form.empty() || form.back() != '#') {
      form += '#';
    }
  }
  return form;
}

/// "; the nearest is gpt-LxD, such as gpt-4x256", or nothing: the nearest form, and of its names the nearest.
std::string suggestion(const std::string& spec) {
  std::vector<std::string> forms;
  for (const ModelInfo& info : known_models()) forms.push_back(form_of(info.example));
  const std::vector<std::string_view> known(forms.begin(), forms.end());
  const std::string_view form = nearest_name(form_of(spec), known);
  if (form.empty()) return {};
  const ModelInfo* nearest = nullptr;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const ModelInfo& info = known_models()[i];
    if (forms[i] != form) continue;
    names.push_back(info.example);
    if (nearest == nullptr || nearest_name(spec, names) == info.example) nearest = &info;
  }
  return "; the nearest is " +
         (nearest->name == nearest->example ? nearest->name : nearest->name + ", such as " + nearest->example);
}

}  // namespace

ModelName parse_model_name(const std::string& spec) {
  if (const auto name = parse(spec)) {
    if (name->layers <= kMaxLayers) return *name;
    fail(ErrorCode::InvalidArgument,
         fmt::format("[make_model] '{}' has {} layers; up to {} are planned", spec, name->layers, kMaxLayers));
  }
  std::string list;
  for (const ModelInfo& info : known_models()) list += (list.empty() ? "" : ", ") + info.name;
  fail(ErrorCode::InvalidArgument,
       fmt::format("[make_model] no model is named '{}'{}; known: {}", spec, suggestion(spec), list));
}

}  // namespace shoal::nn
