#pragma once

#include <memory>
#include <string>

#include "shoal/runtime/train/labelled_images.h"

namespace shoal::train {

ImageFormat cifar10_format();

/// CIFAR-10 (Krizhevsky 2009) in its binary form: 32 x 32 colour images of ten classes, records of one label and 3072
/// pixels (planes of red, green, blue) in data_batch_1.bin to data_batch_5.bin and test_batch.bin of `folder`. Throws
/// InvalidArgument where a file is missing, Corrupt where it is no whole number of records or a label is out of range.
std::unique_ptr<Dataset> load_cifar10(const std::string& folder);

}  // namespace shoal::train
