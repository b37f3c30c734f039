#include "shoal/tests/kernels/tested_sets.h"

#include <array>

namespace shoal::kernels::host {
namespace {

constexpr std::array kSets{Isa::Baseline, Isa::Avx2, Isa::Avx512};

}  // namespace

std::vector<TestedSet> tested_sets() {
  std::vector<TestedSet> sets;
  for (const Isa isa : kSets) {
    if (is_supported(isa)) sets.push_back({isa_name(isa), &kernel_table(isa), &dense_kernels(isa)});
  }
  append_wide_set(sets);
  return sets;
}

std::vector<std::string> untested_sets() {
  std::vector<std::string> names;
  for (const Isa isa : kSets) {
    if (!is_supported(isa)) names.push_back(isa_name(isa));
  }
  return names;
}

}  // namespace shoal::kernels::host
