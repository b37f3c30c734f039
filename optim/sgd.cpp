#include "shoal/optim/sgd.h"

#include "shoal/kernels/sgd.h"
#include "shoal/optim/option_check.h"
#include "shoal/runtime/base/error.h"

namespace shoal::optim {
namespace {

class Sgd : public Rule {
 public:
  explicit Sgd(const SgdOptions& options) : options_(options) {
    const OptionCheck check("sgd");
    check.fraction("momentum", options.momentum);
    check.not_negative("weight_decay", options.weight_decay);
    if (options.is_nesterov && options.momentum == 0) {
      fail(ErrorCode::InvalidArgument, "[sgd] Nesterov needs a momentum, which is 0; 0.9 would work");
    }
  }

  std::string name() const override { return "sgd"; }
  Needs needs(const ParameterInfo&) const override { return Needs::Elementwise; }
  int num_state_tensors() const override { return options_.momentum == 0 ? 0 : 1; }
  bool treats_alike(const ParameterInfo& a, const ParameterInfo& b) const override { return decay(a) == decay(b); }

  void update(Stream& stream, const SliceUpdate& slice) const override {
    check_slice(*this, slice);
    kernels::sgd_update(stream, {.w = slice.w,
                                 .g = slice.g,
                                 .m = slice.state.empty() ? Tensor() : slice.state[0],
                                 .block = slice.block,
                                 .momentum = options_.momentum,
                                 .weight_decay = decay(*slice.parameter),
                                 .is_nesterov = options_.is_nesterov});
  }

 private:
  double decay(const ParameterInfo& parameter) const { return parameter.decays ? options_.weight_decay : 0; }

  SgdOptions options_;
};

}  // namespace

std::unique_ptr<Rule> make_sgd(const SgdOptions& options) { return std::make_unique<Sgd>(options); }

}  // namespace shoal::optim
