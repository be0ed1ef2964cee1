// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of libdevice, IEEE arithmetic in all roundings, conversions. CORPUS_FAST: what -use_fast_math makes of some.
#include "rows.h"

#ifdef CORPUS_FAST
extern "C" __global__ void fast_functions(const float* a, const float* b, float* out, int n) {
  const int i = index();
  if (i >= n) return;
  const float x = a[i], y = b[i];
  Rows<float> o(out, i, n);
  o << sinf(x) << cosf(x) << expf(x) << exp2f(x) << logf(y) << log2f(y) << sqrtf(y) << rsqrtf(y) << x / y << 1.0f / y << powf(y, 1.5f) << tanhf(x) << __saturatef(x) << x * 1e-30f * 1e-9f;
}
#else

extern "C" __global__ void functions_32(const float* a, const float* b, float* out, int n) {  // a: about -100 to 100, b: positive
  const int i = index();
  if (i >= n) return;
  const float x = a[i], p = b[i], u = x / 101;  // u: -1 to 1
  Rows<float> o(out, i, n);
  o << sinf(x) << cosf(x) << tanf(x) << asinf(u) << acosf(u) << atanf(x) << sinhf(x) << coshf(x) << tanhf(u) << asinhf(x) << acoshf(1 + p) << atanhf(u);
  o << expf(x) << exp2f(x) << exp10f(x * 0.25f) << expm1f(x) << logf(p) << log2f(p) << log10f(p) << log1pf(u) << rsqrtf(p) << cbrtf(x) << rcbrtf(p) << erff(u * 3) << erfcf(u * 5);
  o << tgammaf(u * 30) << lgammaf(p) << powf(p, u * 8) << powf(x, float(int(u * 5))) << atan2f(x, u) << hypotf(x, p) << sinpif(u) << cospif(x) << normcdff(u * 4) << sinf(x * 1e6f) << cosf(p * 1e20f);
}
extern "C" __global__ void exact_32(const float* a, const float* b, float* out, int n) {  // results that are defined to the bit
  const int i = index();
  if (i >= n) return;
  const float x = a[i], y = b[i];
  Rows<float> o(out, i, n);
  o << sqrtf(x) << fmodf(x, y) << remainderf(x, y) << fdimf(x, y) << copysignf(x, y) << nextafterf(x, y) << ldexpf(x, int(i % 40) - 20) << roundf(x) << rintf(x) << truncf(x) << floorf(x) << ceilf(x);
  o << fmaf(x, y, x) << fminf(x, y) << fmaxf(x, y) << fabsf(x) << -x << x + y << x - y << x * y << x / y << 1.0f / x;
  int e;
  o << frexpf(x, &e);
  o << (isfinite(x) ? float(e) : 0.0f) << float(isnan(x)) << float(isinf(x)) << float(signbit(x)) << float(isfinite(x)) << float(x < y) << float(x != y) << float(!(x <= y));
}
extern "C" __global__ void rounded_32(const float* a, const float* b, const float* c, float* out, int n) {
  const int i = index();
  if (i >= n) return;
  const float x = a[i], y = b[i], z = c[i];
  Rows<float> o(out, i, n);
  o << __fadd_rn(x, y) << __fadd_rz(x, y) << __fadd_ru(x, y) << __fadd_rd(x, y) << __fsub_rz(x, y) << __fsub_ru(x, y) << __fmul_rn(x, y) << __fmul_rz(x, y) << __fmul_ru(x, y) << __fmul_rd(x, y);
  o << __fmaf_rn(x, y, z) << __fmaf_rz(x, y, z) << __fmaf_ru(x, y, z) << __fmaf_rd(x, y, z) << __fdiv_rn(x, y) << __fdiv_rz(x, y) << __fdiv_ru(x, y) << __fdiv_rd(x, y);
  o << __frcp_rn(x) << __frcp_rz(x) << __frcp_ru(x) << __frcp_rd(x) << __fsqrt_rn(x) << __fsqrt_rz(x) << __fsqrt_ru(x) << __fsqrt_rd(x);
}

extern "C" __global__ void functions_64(const double* a, const double* b, double* out, int n) {
  const int i = index();
  if (i >= n) return;
  const double x = a[i], p = b[i], u = x / 101;
  Rows<double> o(out, i, n);
  o << sin(x) << cos(x) << tan(x) << asin(u) << acos(u) << atan(x) << sinh(x) << cosh(x) << tanh(u) << asinh(x) << acosh(1 + p) << atanh(u);
  o << exp(x) << exp2(x) << exp10(x * 0.25) << expm1(x) << log(p) << log2(p) << log10(p) << log1p(u) << rsqrt(p) << cbrt(x) << erf(u * 3) << erfc(u * 5);
  o << tgamma(u * 30) << lgamma(p) << pow(p, u * 8) << atan2(x, u) << hypot(x, p) << sin(x * 1e9) << cos(p * 1e25);
}
extern "C" __global__ void exact_64(const double* a, const double* b, const double* c, double* out, int n) {
  const int i = index();
  if (i >= n) return;
  const double x = a[i], y = b[i], z = c[i];
  Rows<double> o(out, i, n);
  o << sqrt(x) << fmod(x, y) << fdim(x, y) << copysign(x, y) << rint(x) << trunc(x) << floor(x) << ceil(x) << round(x) << fmin(x, y) << fmax(x, y) << -x << fabs(x);
  o << x + y << x - y << x * y << x / y << fma(x, y, z) << __dadd_rz(x, y) << __dadd_ru(x, y) << __dmul_rd(x, y) << __fma_ru(x, y, z) << __ddiv_rz(x, y) << __dsqrt_rd(x) << __drcp_ru(x);
}

extern "C" __global__ void to_integers(const float* f, const double* d, long long* out, int n) {
  const int i = index();
  if (i >= n) return;
  const float x = f[i];
  const double y = d[i];
  Rows<long long> o(out, i, n);
  o << __float2int_rn(x) << __float2int_rz(x) << __float2int_ru(x) << __float2int_rd(x) << __float2uint_rn(x) << __float2uint_rz(x) << __float2ll_rn(x) << __float2ll_rd(x) << (long long)__float2ull_ru(x);
  o << __double2int_rn(y) << __double2int_rd(y) << __double2uint_rz(y) << __double2ll_rn(y) << __double2ll_ru(y) << (long long)__double2ull_rz(y) << __float_as_int(x) << __double_as_longlong(y);
  o << __double2hiint(y) << __double2loint(y);
}
extern "C" __global__ void from_integers(const int* k, const long long* l, const double* d, float* out, double* wide, int n) {
  const int i = index();
  if (i >= n) return;
  Rows<float> o(out, i, n);
  o << __int2float_rn(k[i]) << __int2float_rz(k[i]) << __int2float_ru(k[i]) << __int2float_rd(k[i]) << __uint2float_rn(unsigned(k[i])) << __uint2float_ru(unsigned(k[i]));
  o << __ll2float_rn(l[i]) << __ll2float_rz(l[i]) << __ull2float_ru((unsigned long long)l[i]) << __double2float_rn(d[i]) << __double2float_rz(d[i]) << __double2float_ru(d[i]) << __double2float_rd(d[i]);
  Rows<double> w(wide, i, n);
  w << __int2double_rn(k[i]) << __uint2double_rn(unsigned(k[i])) << __ll2double_rn(l[i]) << __ll2double_rd(l[i]) << __ull2double_ru((unsigned long long)l[i]) << __hiloint2double(k[i], int(l[i])) << double(float(d[i]));
}
#endif
