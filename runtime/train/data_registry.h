#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "shoal/nn/models/registry.h"
#include "shoal/runtime/train/dataset.h"

namespace shoal::train {

/// The parts of a data name: "text:FILE" is {"text", "FILE"}.
struct DataName {
  std::string kind;
  std::string argument;
};

/// Throws InvalidArgument for an unknown kind, with the nearest match, and where an argument is missing or superfluous.
DataName parse_data_name(const std::string& data);

/// Throws InvalidArgument, naming data that would work, where the data's form is not the one that the model takes.
/// Reads nothing.
void check_data_fits_model(const std::string& data, const std::string& model);

/// Loads the data in the form that the model takes: windows of its context, synthetic samples of its shape. A stop
/// request ends a program that prints the data. Throws what the loaders throw.
std::unique_ptr<Dataset> load_data(const std::string& data, const std::string& model, std::uint64_t seed,
                                   const std::stop_token& stop = {});

/// What a model must fit to be trained on such samples.
nn::ModelInputs model_inputs_for(const SampleSpec& sample);

/// What a sample of the data will look like to the model; reads nothing. Throws as check_data_fits_model.
SampleSpec expected_sample(const std::string& data, const std::string& model);

}  // namespace shoal::train
