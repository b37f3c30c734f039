#pragma once

// What one instruction set contributes to the table: one function per op file of this folder. Included by
// kernels/host/isa/*.cpp only.

#include "shoal/kernels/host/isa/table.h"

namespace shoal::kernels::host::SHOAL_ISA {

ActivationKernels activation_kernels();
AddKernels add_kernels();
NormKernels norm_kernels();
CrossEntropyKernels cross_entropy_kernels();
EmbeddingKernels embedding_kernels();
SumSquaresKernels sum_squares_kernels();
UpdateKernels update_kernels();
BatchNormKernels batch_norm_kernels();
CastKernels cast_kernels();
PoolingKernels pooling_kernels();
FillKernels fill_kernels();

}  // namespace shoal::kernels::host::SHOAL_ISA
