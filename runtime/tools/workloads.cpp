#include "shoal/runtime/tools/workloads.h"

#include <fmt/format.h>

#include <array>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/base/nearest_name.h"

namespace shoal::tools {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"gpt-6x384", "resnet18", "gpt-2x128", "chain-100x64", "gpt2-124m"};
// Forward, gradient of the input, gradient of the weights; the first layer's input needs no gradient.
constexpr std::int64_t kAllThree = 3;
constexpr std::int64_t kWithoutInput = 2;

struct GptShape {
  std::int64_t layers, width, heads, context, vocabulary, batch;
};

Workload make_gpt(const std::string& name, const GptShape& shape) {
  const std::int64_t rows = shape.batch * shape.context;
  const std::int64_t c = shape.width;
  const std::int64_t per_step = kAllThree * shape.layers;
  Workload workload;
  workload.name = name;
  // GPT-2's own tables are larger than the peers' shapes, so it is asked for by its numbers.
  workload.model = fmt::format("gpt-{}x{}", shape.layers, shape.width);
  workload.inputs.vocabulary = shape.vocabulary;
  workload.inputs.context = shape.context;
  workload.inputs.heads = shape.heads;
  workload.sample = {{shape.context}, DType::I32, {shape.context}, DType::I32, shape.vocabulary};
  workload.batch = shape.batch;
  workload.products = {{rows, c, 3 * c, per_step},
                       {rows, c, c, per_step},
                       {rows, c, 4 * c, per_step},
                       {rows, 4 * c, c, per_step},
                       {rows, c, shape.vocabulary, kAllThree}};
  return workload;
}

// A convolution as the product that it is: a row per output pixel, the window's values as the inner dimension.
Product convolution(std::int64_t side, std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t per_step) {
  constexpr std::int64_t kBatch = 64;
  return {kBatch * side * side, kernel * kernel * in, out, per_step};
}

Workload make_resnet18() {
  constexpr std::int64_t kSide = 32;
  Workload workload;
  workload.name = "resnet18";
  workload.model = "resnet18";
  workload.inputs.height = kSide;
  workload.inputs.width = kSide;
  workload.inputs.channels = 3;
  workload.sample = {{kSide, kSide, 3}, DType::F32, {}, DType::I32, 10};
  workload.batch = 64;
  workload.products.push_back(convolution(kSide, 3, 64, 3, kWithoutInput));
  std::int64_t in = 64;
  std::int64_t side = kSide;
  for (const std::int64_t out : {64, 128, 256, 512}) {
    if (in != out) side /= 2;
    // Two blocks of two convolutions; the first of a stage may change the width, and then has a shortcut of its own.
    if (in != out) workload.products.push_back(convolution(side, in, out, 1, kAllThree));
    workload.products.push_back(convolution(side, in, out, 3, kAllThree));
    workload.products.push_back(convolution(side, out, out, 3, 3 * kAllThree));
    in = out;
  }
  workload.products.push_back({workload.batch, 512, 10, kAllThree});
  return workload;
}

Workload make_chain() {
  constexpr std::int64_t kLayers = 100;
  constexpr std::int64_t kWidth = 64;
  Workload workload;
  workload.name = "chain-100x64";
  workload.model = "chain-100x64";
  workload.inputs.features = kWidth;
  workload.sample = {{kWidth}, DType::F32, {kWidth}, DType::F32, 0};
  workload.batch = 8;
  workload.products = {{workload.batch, kWidth, kWidth, kAllThree * (kLayers - 1) + kWithoutInput}};
  return workload;
}

}  // namespace

std::span<const std::string_view> workload_names() { return kNames; }

Workload make_workload(const std::string& name) {
  if (name == "gpt-6x384") return make_gpt(name, {6, 384, 6, 256, 512, 8});
  if (name == "gpt-2x128") return make_gpt(name, {2, 128, 4, 64, 512, 8});
  if (name == "gpt2-124m") return make_gpt(name, {12, 768, 12, 256, 50304, 1});
  if (name == "resnet18") return make_resnet18();
  if (name == "chain-100x64") return make_chain();
  fail(ErrorCode::InvalidArgument, fmt::format("[bench] --workload {}", describe_unknown(name, kNames)));
}

}  // namespace shoal::tools
