#include "shoal/nn/models/model_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include "shoal/nn/models/registry.h"
#include "shoal/runtime/base/error.h"

namespace shoal::nn {
namespace {

using Family = ModelName::Family;

/// No model has more layers or is wider; it keeps products of the two far from overflow.
constexpr std::int64_t kMaxNumber = 1'000'000;

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

/// Levenshtein's distance.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// Compared letter by letter first; names that only differ in their numbers are told apart by their forms.
const ModelInfo& nearest(const std::string& spec) {
  const auto distance = [&](const ModelInfo& info) {
    return std::min(edit_distance(spec, info.example), edit_distance(form_of(spec), form_of(info.example)));
  };
  const auto& models = known_models();
  return *std::min_element(models.begin(), models.end(),
                           [&](const ModelInfo& a, const ModelInfo& b) { return distance(a) < distance(b); });
}

}  // namespace

ModelName parse_model_name(const std::string& spec) {
  if (const auto name = parse(spec)) return *name;
  std::string list;
  for (const ModelInfo& info : known_models()) list += (list.empty() ? "" : ", ") + info.name;
  const ModelInfo& info = nearest(spec);
  const std::string suggestion = info.name == info.example ? info.name : info.name + ", such as " + info.example;
  fail(ErrorCode::InvalidArgument,
       fmt::format("[make_model] no model is named '{}'; the nearest is {}; known: {}", spec, suggestion, list));
}

}  // namespace shoal::nn
