// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f16, bf16, their pairs, and f8 by the toolkit's headers. Results are bits: k of element i is out[k * n + i].
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "rows.h"

using u16 = unsigned short;

__device__ u16 bits(__half h) { return __half_as_ushort(h); }
__device__ u16 bits(__nv_bfloat16 h) { return __bfloat16_as_ushort(h); }

extern "C" __global__ void half_arithmetic(const u16* a, const u16* b, const u16* c, u16* out, int n) {
  const int i = index();
  if (i >= n) return;
  const __half x = __ushort_as_half(a[i]), y = __ushort_as_half(b[i]), z = __ushort_as_half(c[i]);
  Rows<u16> o(out, i, n);
  o << bits(__hadd_rn(x, y)) << bits(__hsub_rn(x, y)) << bits(__hmul_rn(x, y)) << bits(__hfma(x, y, z)) << bits(__hfma_relu(x, y, z)) << bits(__hdiv(x, y));
  o << bits(__hneg(x)) << bits(__habs(x)) << bits(__hmin(x, y)) << bits(__hmax(x, y)) << bits(__hmin_nan(x, y)) << bits(__hmax_nan(x, y));
  o << bits(__hadd_sat(x, y)) << bits(__hmul_sat(x, y)) << bits(__hfma_sat(x, y, z));
  o << u16(__heq(x, y)) << u16(__hlt(x, y)) << u16(__hge(x, y)) << u16(__hneu(x, y)) << u16(__hltu(x, y)) << u16(__hisnan(x)) << u16(__hisinf(x));
  o << bits(x + y * z);
}

extern "C" __global__ void half_functions(const u16* a, u16* out, int n) {
  const int i = index();
  if (i >= n) return;
  const __half x = __ushort_as_half(a[i]);
  Rows<u16> o(out, i, n);
  o << bits(hrcp(x)) << bits(hsqrt(x)) << bits(hrsqrt(x)) << bits(hexp(x)) << bits(hexp2(x)) << bits(hlog(x)) << bits(hlog2(x)) << bits(hlog10(x));
  o << bits(hsin(x)) << bits(hcos(x)) << bits(htanh(x)) << bits(hfloor(x)) << bits(hceil(x)) << bits(htrunc(x)) << bits(hrint(x));
}

extern "C" __global__ void half_conversions(const u16* a, const float* f, const double* d, const int* k, u16* out, float* wide, long long* whole, int n) {
  const int i = index();
  if (i >= n) return;
  const __half x = __ushort_as_half(a[i]);
  Rows<u16> o(out, i, n);
  o << bits(__float2half_rn(f[i])) << bits(__float2half_rz(f[i])) << bits(__float2half_ru(f[i])) << bits(__float2half_rd(f[i])) << bits(__double2half(d[i]));
  o << bits(__int2half_rn(k[i])) << bits(__int2half_rz(k[i])) << bits(__uint2half_ru(k[i])) << bits(__short2half_rd(short(k[i]))) << bits(__ll2half_rn((long long)k[i] * k[i]));
  wide[i] = __half2float(x);
  Rows<long long> w(whole, i, n);
  w << __half2int_rn(x) << __half2int_rz(x) << __half2int_ru(x) << __half2int_rd(x) << __half2uint_rn(x) << __half2short_rz(x) << __half2ushort_rd(x) << __half2ll_rn(x);
  w << (long long)__half2ull_rz(x) << __half2char_rz(x) << __half2uchar_rz(x);
}

extern "C" __global__ void half_pairs(const unsigned* a, const unsigned* b, const unsigned* c, unsigned* out, int n) {
  const int i = index();
  if (i >= n) return;
  const auto pair = [](unsigned v) { return __halves2half2(__ushort_as_half(u16(v)), __ushort_as_half(u16(v >> 16))); };
  const auto pack = [](__half2 h) { return unsigned(bits(__low2half(h))) | unsigned(bits(__high2half(h))) << 16; };
  const __half2 x = pair(a[i]), y = pair(b[i]), z = pair(c[i]);
  Rows<unsigned> o(out, i, n);
  o << pack(__hadd2_rn(x, y)) << pack(__hsub2_rn(x, y)) << pack(__hmul2_rn(x, y)) << pack(__hfma2(x, y, z)) << pack(__hfma2_relu(x, y, z)) << pack(__hmin2(x, y)) << pack(__hmax2_nan(x, y));
  o << pack(__hneg2(x)) << pack(__habs2(x)) << pack(__lowhigh2highlow(x)) << pack(__lows2half2(x, y)) << pack(__hgt2(x, y)) << __heq2_mask(x, y) << __hltu2_mask(x, y);
  o << unsigned(__hble2(x, y)) << pack(__floats2half2_rn(__low2float(x) * 0.37f, __high2float(y) * 3.0f)) << pack(__hfma2_sat(x, y, z));
}

extern "C" __global__ void bf16_arithmetic(const u16* a, const u16* b, const u16* c, const float* f, u16* out, float* wide, int n) {
  const int i = index();
  if (i >= n) return;
  const __nv_bfloat16 x = __ushort_as_bfloat16(a[i]), y = __ushort_as_bfloat16(b[i]), z = __ushort_as_bfloat16(c[i]);
  Rows<u16> o(out, i, n);
  o << bits(__hadd_rn(x, y)) << bits(__hsub_rn(x, y)) << bits(__hmul_rn(x, y)) << bits(__hfma(x, y, z)) << bits(__hfma_relu(x, y, z)) << bits(__hneg(x)) << bits(__habs(x));
  o << bits(__hmin(x, y)) << bits(__hmax(x, y)) << bits(__hmax_nan(x, y)) << bits(__float2bfloat16_rn(f[i])) << bits(__float2bfloat16_rz(f[i])) << bits(__float2bfloat16_ru(f[i]));
  o << u16(__hlt(x, y)) << u16(__hgeu(x, y)) << u16(__bfloat162short_rz(x));
  wide[i] = __bfloat162float(x);
}

extern "C" __global__ void bf16_pairs(const unsigned* a, const unsigned* b, const unsigned* c, const float* f, unsigned* out, int n) {
  const int i = index();
  if (i >= n) return;
  const auto pair = [](unsigned v) { return __halves2bfloat162(__ushort_as_bfloat16(u16(v)), __ushort_as_bfloat16(u16(v >> 16))); };
  const auto pack = [](__nv_bfloat162 h) { return unsigned(bits(__low2bfloat16(h))) | unsigned(bits(__high2bfloat16(h))) << 16; };
  const __nv_bfloat162 x = pair(a[i]), y = pair(b[i]), z = pair(c[i]);
  Rows<unsigned> o(out, i, n);
  o << pack(__hadd2_rn(x, y)) << pack(__hmul2_rn(x, y)) << pack(__hfma2(x, y, z)) << pack(__hfma2_relu(x, y, z)) << pack(__hmin2(x, y)) << pack(__hmax2_nan(x, y)) << pack(__hneg2(x)) << pack(__habs2(x));
  o << pack(__floats2bfloat162_rn(f[i], -f[i])) << __hgt2_mask(x, y) << pack(__bfloat162bfloat162(__high2bfloat16(x)));
}

// f8: software on sm_80, cvt.rn.satfinite.e4m3x2 and the like on sm_89 and newer.
extern "C" __global__ void f8_conversions(const float* f, const u16* a, const unsigned char* e, unsigned char* out, u16* wide, int n) {
  const int i = index();
  if (i >= n) return;
  Rows<unsigned char> o(out, i, n);
  o << __nv_cvt_float_to_fp8(f[i], __NV_SATFINITE, __NV_E4M3) << __nv_cvt_float_to_fp8(f[i], __NV_SATFINITE, __NV_E5M2);
  const __half_raw h{a[i]};
  o << __nv_cvt_halfraw_to_fp8(h, __NV_SATFINITE, __NV_E4M3) << __nv_cvt_halfraw_to_fp8(h, __NV_SATFINITE, __NV_E5M2);
  const __nv_fp8x2_storage_t two = __nv_cvt_float2_to_fp8x2(make_float2(f[i], -f[i]), __NV_SATFINITE, __NV_E4M3);
  o << (unsigned char)two << (unsigned char)(two >> 8);
  Rows<u16> w(wide, i, n);
  w << __nv_cvt_fp8_to_halfraw(e[i], __NV_E4M3).x << __nv_cvt_fp8_to_halfraw(e[i], __NV_E5M2).x;
}
