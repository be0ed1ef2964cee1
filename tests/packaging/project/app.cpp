// A C++11 program that calls the same kernel, one for another target where the CPU has it, with plain pointers, and one for
// several targets.
#include <cstdio>

#include <ashlar/runtime/cpu.h>
#include <ashlar/runtime/runtime.h>

#include "scale.h"
#include "scale_avx2.h"
#include "scale_levels.h"

#define BIT(feature) (UINT64_C(1) << ASHLAR_X86_##feature)

int main() {
  float in[7] = {1, 2, 3, 4, 5, 6, 7}, out[7] = {}, twice[7] = {}, by5[7] = {};
  int64_t seven[] = {7};
  ashlar_tensor x{};
  x.data = in, x.device_type = 1, x.ndim = 1, x.type_code = 2, x.type_bits = 32, x.type_lanes = 1, x.shape = seven;
  ashlar_tensor y = x;
  y.data = out;
  ashlar_context context;
  ashlar_default_context(&context);
  if (scale_with(&x, &y, &context) != ASHLAR_OK) return 1;
  scale_avx2_args args{};
  args.x = in, args.y = twice, args.N = 7;
  const bool avx2 = ashlar_cpu_missing(BIT(AVX2) | BIT(F16C) | BIT(FMA) | BIT(LZCNT) | BIT(BMI) | BIT(BMI2) | BIT(MOVBE)) == 0;
  const int code = avx2 ? scale_avx2_run(&args, &context) : ASHLAR_OK;
  if (code != ASHLAR_OK) return 2;
  ashlar_tensor z = x;
  z.data = by5;
  if (scale_levels(&x, &z) != ASHLAR_OK) return 4;
  for (int i = 0; i < 7; ++i)
    if (by5[i] != 5 * in[i] || out[i] != 3 * in[i] || (avx2 && twice[i] != 2 * in[i])) return 3;
  std::puts("same kernel");
  return 0;
}
