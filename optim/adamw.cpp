#include "shoal/optim/adamw.h"

#include "shoal/kernels/adamw.h"
#include "shoal/optim/option_check.h"

namespace shoal::optim {
namespace {

class AdamW : public Rule {
 public:
  explicit AdamW(const AdamWOptions& options) : options_(options) {
    const OptionCheck check(options.is_decoupled ? "adamw" : "adam");
    check.fraction("beta1", options.beta1);
    check.fraction("beta2", options.beta2);
    check.positive("epsilon", options.epsilon);
    check.not_negative("weight_decay", options.weight_decay);
  }

  std::string name() const override { return options_.is_decoupled ? "adamw" : "adam"; }
  Needs needs(const ParameterInfo&) const override { return Needs::Elementwise; }
  int num_state_tensors() const override { return 2; }
  bool treats_alike(const ParameterInfo& a, const ParameterInfo& b) const override { return decay(a) == decay(b); }

  void update(Stream& stream, const SliceUpdate& slice) const override {
    check_slice(*this, slice);
    kernels::adamw_update(stream, {.w = slice.w,
                                   .g = slice.g,
                                   .m = slice.state[0],
                                   .v = slice.state[1],
                                   .block = slice.block,
                                   .beta1 = options_.beta1,
                                   .beta2 = options_.beta2,
                                   .epsilon = options_.epsilon,
                                   .weight_decay = decay(*slice.parameter),
                                   .is_decoupled = options_.is_decoupled});
  }

 private:
  double decay(const ParameterInfo& parameter) const { return parameter.decays ? options_.weight_decay : 0; }

  AdamWOptions options_;
};

}  // namespace

std::unique_ptr<Rule> make_adamw(const AdamWOptions& options) { return std::make_unique<AdamW>(options); }

}  // namespace shoal::optim
