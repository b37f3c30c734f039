#pragma once

#include <string>
#include <vector>

#include "shoal/nn/binding.h"
#include "shoal/nn/module.h"

namespace shoal::test {

/// Passes everything on to another binding and writes down what was asked, in words: "forward enter blocks.0",
/// "value blocks.0.up.weight", "gradient blocks.0.up.weight".
class LoggingBinding final : public nn::Binding {
 public:
  explicit LoggingBinding(nn::Binding& inner) : inner_(inner) {}

  Tensor value(const nn::Parameter& parameter) override {
    words.push_back("value " + parameter.name);
    return inner_.value(parameter);
  }
  kernels::GradTarget gradient(const nn::Parameter& parameter) override {
    words.push_back("gradient " + parameter.name);
    return inner_.gradient(parameter);
  }
  Tensor running(const nn::StateBuffer& buffer) override { return inner_.running(buffer); }
  Tensor staged(const nn::StateBuffer& buffer) override { return inner_.staged(buffer); }
  void enter(const nn::Module& module, nn::Phase phase) override {
    words.push_back(phase_word(phase) + "enter " + module.path());
    inner_.enter(module, phase);
  }
  void exit(const nn::Module& module, nn::Phase phase) override {
    words.push_back(phase_word(phase) + "exit " + module.path());
    inner_.exit(module, phase);
  }

  std::vector<std::string> words;

 private:
  static std::string phase_word(nn::Phase phase) { return phase == nn::Phase::Forward ? "forward " : "backward "; }

  nn::Binding& inner_;
};

}  // namespace shoal::test
