#pragma once

#include "shoal/kernels/host/isa/activation.h"
#include "shoal/kernels/host/isa/add.h"
#include "shoal/kernels/host/isa/batch_norm.h"
#include "shoal/kernels/host/isa/cast.h"
#include "shoal/kernels/host/isa/cross_entropy.h"
#include "shoal/kernels/host/isa/embedding.h"
#include "shoal/kernels/host/isa/fill.h"
#include "shoal/kernels/host/isa/norm.h"
#include "shoal/kernels/host/isa/pooling.h"
#include "shoal/kernels/host/isa/sum_squares.h"
#include "shoal/kernels/host/isa/update.h"

namespace shoal::kernels::host {

/// The inner loops of all host ops, compiled for one instruction set. To add an op: a header with its struct of
/// functions, a .cpp that defines foo_kernels(), and a line here, in table_parts.h and in table.cpp.
struct KernelTable {
  ActivationKernels activation;
  AddKernels add;
  NormKernels norm;
  CrossEntropyKernels cross_entropy;
  EmbeddingKernels embedding;
  SumSquaresKernels sum_squares;
  UpdateKernels update;
  BatchNormKernels batch_norm;
  CastKernels cast;
  PoolingKernels pooling;
  FillKernels fill;
};

// kernels/host/isa_dispatch.h chooses among these.
namespace baseline {
const KernelTable& table();
}
namespace avx2 {
const KernelTable& table();
}
namespace avx512 {
const KernelTable& table();
}

}  // namespace shoal::kernels::host
