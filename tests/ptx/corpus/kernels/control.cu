// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls, branches, memories of a thread, parameters, initialized variables, printf.
#include <cstdio>

#include "rows.h"

// ---- calls
__device__ __noinline__ int weighed(int a, int b, int c) { return 3 * a - 5 * b + (c ^ a); }
__device__ __noinline__ double mixed(float a, long long b, short c, unsigned char d) { return double(a) * double(b) + c - d; }

struct Triple {
  int a;
  double b;
  short c[3];
};
__device__ __noinline__ Triple moved(Triple t, int by) {
  t.a += by, t.b *= 2, t.c[1] = short(t.c[0] + t.c[2]);
  return t;
}

extern "C" __global__ void calls(const int* a, const float* f, long long* out, int n) {
  const int i = index();
  if (i >= n) return;
  Rows<long long> o(out, i, n);
  o << weighed(a[i], i, 7) << (long long)mixed(f[i], a[i] & 0xffff, short(i), (unsigned char)a[i]);
  Triple t = {a[i], f[i], {short(i), 5, short(a[i])}};
  t = moved(t, i);
  if (a[i] & 1) t = moved(t, 1000);  // some lanes
  o << t.a << (long long)t.b << t.c[1];
}

__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}
__device__ __noinline__ unsigned fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

extern "C" __global__ void recursion(unsigned* out, int n) {
  const int i = index();
  if (i >= n) return;
  out[i] = fibonacci(unsigned(i % 13));
  out[n + i] = ackermann(unsigned(i % 3), unsigned(i % 5));
}

using Operation = int (*)(int, int);
__device__ int plus_of(int a, int b) { return a + b; }
__device__ int times_of(int a, int b) { return a * b; }
__device__ int larger_of(int a, int b) { return a > b ? a : b; }
__device__ Operation operations[3] = {plus_of, times_of, larger_of};  // addresses of functions in global memory

struct Shape {
  __device__ virtual int area(int scale) const = 0;
};
struct Square : Shape {
  int side;
  __device__ explicit Square(int s) : side(s) {}
  __device__ int area(int scale) const override { return side * side * scale; }
};
struct Strip : Shape {
  int width, height;
  __device__ Strip(int w, int h) : width(w), height(h) {}
  __device__ int area(int scale) const override { return width * height + scale; }
};
extern "C" __global__ void function_pointers(const int* a, const int* b, int* out, int n) {
  const int i = index();
  if (i >= n) return;
  out[i] = operations[unsigned(a[i]) % 3](a[i], b[i]);
  Square square(a[i] & 63);
  Strip strip(b[i] & 31, i);
  const Shape* shape = b[i] % 2 == 0 ? static_cast<const Shape*>(&square) : &strip;
  out[n + i] = shape->area(i);
}

// ---- branches
extern "C" __global__ void cases(const int* a, const int* b, int* out, int n) {
  const int i = index();
  if (i >= n) return;
  int r = b[i];
  switch (a[i]) {
    case 0: r = int(unsigned(r) * 3u); break;
    case 1: r = r ^ 0x55;  // falls through
    case 2: r = r - 9; break;
    case 3: r = __popc(r); break;
    case 4: out[n + i] = r; r = 11; break;
    case 5: r = r < 0 ? int(-unsigned(r)) : r; break;
    case 6: r = r >> 3; break;
    case 7: r = __brev(r); break;
    case 8: r = r & a[i]; break;
    case 9: r = int(unsigned(r) << 4); break;
    case 100: r = 1; break;
    default: r = -1;
  }
  out[i] = r;
}

extern "C" __global__ void indexed(const unsigned* a, const unsigned* b, unsigned* out, int n) {  // brx.idx, which this nvcc makes of no switch
  const int i = index();
  if (i >= n) return;
  unsigned r;
  asm volatile(
      "{\n"
      ".reg .u32 t;\n"
      "ways: .branchtargets way0, way1, way2, way1;\n"
      "brx.idx %1, ways;\n"
      "way0: add.u32 t, %2, 5; bra.uni met;\n"
      "way1: mul.lo.u32 t, %2, 3; bra.uni met;\n"
      "way2: not.b32 t, %2;\n"
      "met: xor.b32 %0, t, %1;\n"
      "}"
      : "=r"(r)
      : "r"(a[i] & 3), "r"(b[i]));
  out[i] = r;
}

extern "C" __global__ void loops(const unsigned* a, int* out, int n) {  // break, continue, return from inside, goto
  const int i = index();
  if (i >= n) return;
  unsigned x = a[i];
  int steps = 0;
  while (x != 1) {  // Collatz
    if (++steps > 200) break;
    if (x % 2 == 0) {
      x /= 2;
      continue;
    }
    x = 3 * x + 1;
  }
  out[i] = steps;
  int found = -1;
  for (int p = 2; p < 40; ++p)
    for (int q = p; q < 40; ++q) {
      if (q % 3 == 0) continue;
      if (unsigned(p * q) == a[i] % 1000) {
        found = p * 100 + q;
        goto done;
      }
    }
done:
  out[n + i] = found;
  out[2 * n + i] = 0;
  if (a[i] % 7 == 0) return;
  do {
    out[2 * n + i] += int(x & 3);
    x >>= 1;
  } while (x > 0);
}

extern "C" __global__ void mandelbrot(int* out, int width, int height, int most) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  const float cx = __fadd_rn(__fmul_rn(float(px), 3.0f / 64), -2.0f), cy = __fadd_rn(__fmul_rn(float(py), 2.5f / 64), -1.25f);
  float x = 0, y = 0;
  int k = 0;
  for (; k < most; ++k) {
    const float xx = __fmul_rn(x, x), yy = __fmul_rn(y, y);
    if (__fadd_rn(xx, yy) > 4.0f) break;
    y = __fmaf_rn(2.0f * x, y, cy);
    x = __fadd_rn(__fsub_rn(xx, yy), cx);
  }
  out[py * width + px] = k;
}

// ---- memories
extern "C" __global__ void local_arrays(const int* a, int* out, int n) {
  const int i = index();
  if (i >= n) return;
  int stack[24];
  short small[5];
  for (int k = 0; k < 24; ++k) stack[k] = int(unsigned(a[i]) * unsigned(k + 1) + unsigned(k * k));
  for (int k = 0; k < 5; ++k) small[k] = short(a[(i + k) % n]);
  for (int k = 1; k < 24; ++k)  // sorts by insertion
    for (int m = k; m > 0 && stack[m - 1] > stack[m]; --m) {
      const int t = stack[m];
      stack[m] = stack[m - 1], stack[m - 1] = t;
    }
  out[i] = stack[a[i] & 15];
  out[n + i] = small[unsigned(a[i]) % 5];
  out[2 * n + i] = stack[23];
}

__constant__ float weights[7] = {0.5f, -1.25f, 3.0f, 0.0f, 7.75f, -0.125f, 2.0f};
__constant__ unsigned char names[] = "functional";
__constant__ double scale;  // set by the host
__device__ int counters[4] = {100, -7};
__device__ const int* second = counters + 1;
__device__ const char* const words[] = {"zero", "one", "two", "many"};
extern "C" __global__ void variables(const int* a, double* out, int n) {
  const int i = index();
  if (i >= n) return;
  out[i] = weights[unsigned(a[i]) % 7] * scale + names[unsigned(a[i]) % sizeof names];
  out[n + i] = double(words[unsigned(a[i]) % 4][unsigned(i) % 3]);
  out[2 * n + i] = *second;
  atomicAdd(&counters[2], i);
}

struct Packed {
  char tag;
  short half;
  int whole;
  double wide;
  unsigned char bytes[5];
};
struct Pair {
  Packed packed;
  float4 quad;
};
extern "C" __global__ void structures(Pair by_value, const Packed* in, Packed* out, float4* quads, int n) {
  const int i = index();
  if (i >= n) return;
  Packed p = in[i];
  p.tag = char(p.tag + by_value.packed.tag), p.half = short(p.half * by_value.packed.half), p.whole ^= by_value.packed.whole;
  p.wide += by_value.packed.wide;
  for (int k = 0; k < 5; ++k) p.bytes[k] = (unsigned char)(p.bytes[k] + by_value.packed.bytes[4 - k] + k);
  out[i] = p;
  float4 q = by_value.quad;
  q.x += float(i), q.w *= float(p.half);
  quads[i] = q;
}

extern "C" __global__ void bytes(const unsigned char* in, unsigned char* out, unsigned* packs, volatile int* seen, int n) {
  const int i = index();
  if (i >= n) return;
  unsigned v = 0;  // four bytes from an address of any alignment
  memcpy(&v, in + 3 * i + 1, 3);
  v = (v & 0xffffff) | unsigned(in[3 * i]) << 24;
  packs[i] = v;
  for (int k = 0; k < 3; ++k) out[3 * i + k] = (unsigned char)(v >> (8 * k));
  seen[i] = int(v);
  seen[i] = seen[i] + 1;
}

extern "C" __global__ void says(const int* a, int n) {
  const int i = index();
  if (i >= n) return;
  printf("%d: %5d|%-6x|%llu|%c|%s|%.3f|%%\n", i, a[i], unsigned(a[i]), (unsigned long long)a[i] * 1000000007ull, 'a' + i, i % 2 ? "odd" : "even", a[i] / 8.0);
}
