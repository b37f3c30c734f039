#include "shoal/kernels/args_check.h"

#include <gtest/gtest.h>

#include "shoal/runtime/device/device.h"
#include "shoal/runtime/device/runtime.h"
#include "shoal/tests/support/guarded_tensor.h"
#include "shoal/tests/support/op_harness.h"

namespace shoal::kernels {
namespace {

constexpr ErrorCode kInvalid = ErrorCode::InvalidArgument;

TEST(ArgsCheck, MessagesNameOpTensorAndValues) {
  const ArgsCheck check("some_op");
  const test::GuardedTensor x({2, 3}, DType::F32);
  test::expect_error(kInvalid, {"[some_op] x is none", "fp32"}, [&] { check.dtype({"x", Tensor{}}, DType::F32); });
  test::expect_error(kInvalid, {"[some_op] x is fp32", "must be i32"}, [&] {
    check.dtype({"x", x.tensor()}, DType::I32);
  });
  test::expect_error(kInvalid, {"x has shape (2, 3)", "(3, 2)"}, [&] {
    check.shape({"x", x.tensor()}, DType::F32, {3, 2});
  });
  test::expect_error(kInvalid, {"x has shape (2, 3)", "3 dimensions"}, [&] {
    check.num_dims({"x", x.tensor()}, DType::F32, 3);
  });
  test::expect_error(kInvalid, {"6 elements", "have 7"}, [&] { check.numel({"x", x.tensor()}, DType::F32, 7); });
  test::expect_error(kInvalid, {"[some_op] window is 0.5; it must be odd"},
                     [&] { check.reject("window", 0.5, "odd"); });
}

TEST(ArgsCheck, GoodArgumentsPass) {
  const ArgsCheck check("some_op");
  const test::GuardedTensor x({2, 3}, DType::F32);
  check.dtype({"x", x.tensor()}, DType::F32);
  check.shape({"x", x.tensor()}, DType::F32, {2, 3});
  check.num_dims({"x", x.tensor()}, DType::F32, 2);
  check.numel({"x", x.tensor()}, DType::F32, 6);
}

TEST(ArgsCheck, OverlapIsFoundToTheByte) {
  const ArgsCheck check("some_op");
  const test::GuardedTensor holder({12}, DType::F32);
  const Tensor first = holder.tensor().flat_slice(0, 6);
  const Tensor second = holder.tensor().flat_slice(6, 6);
  const Tensor middle = holder.tensor().flat_slice(5, 2);
  check.apart({{"y", first}}, {{"x", second}});
  check.apart({{"y", first}, {"z", second}}, {});
  test::expect_error(kInvalid, {"y and x overlap"}, [&] { check.apart({{"y", middle}}, {{"x", first}}); });
  test::expect_error(kInvalid, {"y and x overlap"}, [&] { check.apart({{"y", middle}}, {{"x", second}}); });
  test::expect_error(kInvalid, {"y and z overlap"}, [&] { check.apart({{"y", first}, {"z", middle}}, {}); });
}

TEST(ArgsCheck, InputsMayOverlapAndEmptyTensorsNeverDo) {
  const ArgsCheck check("some_op");
  const test::GuardedTensor holder({12}, DType::F32);
  const Tensor all = holder.tensor();
  const Tensor nothing = all.flat_slice(3, 0);
  check.apart({}, {{"a", all}, {"b", all}});
  check.apart({{"y", nothing}}, {{"x", all}});
  check.apart({{"y", all}}, {{"x", nothing}, {"z", Tensor{}}});
}

TEST(ArgsCheck, InPlaceMeansTheSameBytes) {
  const ArgsCheck check("some_op");
  const test::GuardedTensor holder({12}, DType::F32);
  const Tensor first = holder.tensor().flat_slice(0, 6);
  check.same_or_apart({"y", first}, {"x", first});
  check.same_or_apart({"y", first}, {"x", holder.tensor().flat_slice(6, 6)});
  test::expect_error(kInvalid, {"y and x overlap"}, [&] {
    check.same_or_apart({"y", first}, {"x", holder.tensor().flat_slice(1, 6)});
  });
  test::expect_error(kInvalid, {"y and x overlap"}, [&] { check.same_or_apart({"y", first}, {"x", holder.tensor()}); });
}

TEST(ArgsCheck, HostAndSimStreamsAreServed) {
  for (const DeviceKind kind : {DeviceKind::Host, DeviceKind::Sim}) {
    const auto device = Runtime().open_device(kind);
    const auto stream = device->make_stream(StreamRole::Compute, "s");
    ArgsCheck("some_op").host_stream(*stream);
  }
}

}  // namespace
}  // namespace shoal::kernels
