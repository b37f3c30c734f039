#pragma once

#include <span>

#include "shoal/tests/lint/source_file.h"

namespace shoal::lint {

/// Arrows between the rows of the layer table only point up: base, device, tensor, then kernels and collectives, then
/// nn and optim, then fsdp, checkpoint, train, tools; tests and bench may include anything. What CMake writes is for
/// tools only.
Violations check_layers(std::span<const SourceFile> files);

/// A backend's header is included inside its own folder and, outside of it, by one source file in the folder above: the
/// dispatch or factory. Tests and benchmarks may include it too.
Violations check_backends(std::span<const SourceFile> files);

/// Third-party headers appear only where they have their place, and in no public header.
Violations check_vendor_headers(std::span<const SourceFile> files);

/// A source includes its own header before anything else, which proves that the header compiles alone.
Violations check_own_header_first(std::span<const SourceFile> files);

}  // namespace shoal::lint
