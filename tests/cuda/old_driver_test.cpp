// A driver of CUDA 11: kernels run, tensor maps are an error, contexts are told apart by their handles.
#include <ashlar/codegen/jit.h>

#include "tests/cuda/driver.h"
#include "tests/cuda/programs.h"
#include "tests/interp/launch_matmul.h"

using namespace ashlar;
using cuda::OnDevice;

TEST_CASE("what a driver of CUDA 11 can, and what it cannot") {
  const cuda::Standin& driver = cuda::Standin::open(ASHLAR_STANDIN_OLD);
  driver.standin_reset();
  const auto f = codegen::compile(cuda::kernel_of<gpu_operators::AddBias>("cuda-sm_90a"), Target::parse("cuda-sm_90a"));
  OnDevice x(f32, {3, 70}), b(f32, {70}), y(f32, {3, 70});
  const std::vector<const void*> list = {&x.tensor, &b.tensor, &y.tensor};
  auto loads = [&] {
    const std::string before = driver.standin_calls();
    REQUIRE_MESSAGE(f.call(list) == ASHLAR_OK, cuda::sentence(*ashlar_last_error()));
    return std::string(driver.standin_calls()).find("cuModuleLoadData", before.size()) != std::string::npos;
  };
  for (int n = 0; n < 2; ++n) {
    driver.standin_set_current(driver.standin_new_context(0));
    CHECK(loads());
    CHECK(!loads());
  }
  CHECK(std::string(driver.standin_calls()).find("cuCtxGetId") == std::string::npos);

  const auto product = codegen::compile(launches::persistent::matmul().k, Target::parse("cuda-sm_90a"));
  OnDevice a(bf16, {64, 64}), w(bf16, {64, 64}), c(bf16, {64, 64});
  for (OnDevice* t : {&a, &w, &c}) t->tensor.data = reinterpret_cast<void*>((t->address() + 63) / 64 * 64);
  const std::vector<const void*> operands = {&a.tensor, &w.tensor, &c.tensor};
  CHECK(product.call(operands) == ASHLAR_E_TARGET);
  CHECK(cuda::sentence(*ashlar_last_error()) == "matmul: the driver has no cuTensorMapEncodeTiled, which CUDA 12 demands");
  CHECK(std::string(driver.standin_complaints()) == "");
}
