#pragma once

#include <memory>
#include <string>

#include "shoal/runtime/train/labelled_images.h"

namespace shoal::train {

/// Where the Debian package dataset-fashion-mnist puts its files.
inline constexpr const char* kFashionMnistFolder = "/usr/share/datasets/fashion-mnist";

ImageFormat fashion_mnist_format();

/// Fashion-MNIST (Xiao et al. 2017): 28 x 28 grey images of ten classes, read from {train,t10k}-images-idx3-ubyte and
/// -labels-idx1-ubyte in `folder`, gzipped or not. Throws InvalidArgument where a file is missing, Corrupt where one is
/// damaged or does not hold what it should, naming the file.
std::unique_ptr<Dataset> load_fashion_mnist(const std::string& folder);

}  // namespace shoal::train
