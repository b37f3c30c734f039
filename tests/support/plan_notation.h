#pragma once

#include <string>

#include "shoal/runtime/fsdp/plan.h"

namespace shoal::test {

/// A plan's operations in short, for tests of their order: "[" and "]" begin and end the pass, "|" the forward's end;
/// f, /f, b, /b enter and leave a unit forward and backward; G gathers, V releases values, H holds gradients, Z
/// finishes, R reduces and X releases them, each with the number of its flat parameter (marks: unit); S reduces sums,
/// T state; U updates state; N, M, F add, reduce and finish the norm; A awaits readers; W updates, P publishes.
std::string plan_notation(const fsdp::Plan& plan);

}  // namespace shoal::test
