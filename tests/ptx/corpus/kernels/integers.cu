// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers of all widths: result k of element i is out[k * n + i].
#include "rows.h"

#define ASM3(text, x, y, z)                                                           \
  ([](unsigned a, unsigned b, unsigned c) {                                           \
    unsigned d;                                                                       \
    asm(text " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));                  \
    return d;                                                                         \
  }(x, y, z))
#define ASM2(text, x, y)                                        \
  ([](unsigned a, unsigned b) {                                 \
    unsigned d;                                                 \
    asm(text " %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));        \
    return d;                                                   \
  }(x, y))
#define ASM1(text, x)                                  \
  ([](unsigned a) {                                    \
    unsigned d;                                        \
    asm(text " %0, %1;" : "=r"(d) : "r"(a));           \
    return d;                                          \
  }(x))

extern "C" __global__ void signed_32(const int* a, const int* b, const int* c, int* out, int n) {
  const int i = index();
  if (i >= n) return;
  const int x = a[i], y = b[i], z = c[i];
  Rows<int> o(out, i, n);
  o << int(unsigned(x) + unsigned(y)) << int(unsigned(x) - unsigned(y)) << int(unsigned(x) * unsigned(y)) << int(unsigned(x) * unsigned(y) + unsigned(z));
  const bool divides = y != 0 && !(x == int(0x80000000) && y == -1);
  o << (divides ? x / y : 0) << (divides ? x % y : 0) << x / 7 << x % 1000 << x / -8;
  o << min(x, y) << max(x, z) << (x < 0 ? int(-unsigned(x)) : x);
  o << __mulhi(x, y) << __mul24(x, y) << int(__sad(x, y, z)) << __hadd(x, y) << __rhadd(x, y);
  o << (x >> (y & 31)) << int(unsigned(x) << (y & 31));
  o << int(ASM2("shr.s32", x, y)) << int(ASM3("mad24.lo.s32", x, y, z)) << int(ASM3("mad.hi.s32", x, y, z));
  o << int(ASM3("bfe.s32", x, y, z)) << int(ASM1("bfind.s32", x)) << int(ASM1("bfind.shiftamt.s32", x));
  o << int(ASM2("add.sat.s32", x, y)) << int(ASM2("sub.sat.s32", x, y)) << int(ASM2("mul24.hi.s32", x, y));
  o << __dp4a(x, y, z) << __dp2a_lo(x, y, z) << __dp2a_hi(x, y, z) << int(ASM3("dp4a.s32.u32", x, y, z)) << int(ASM3("dp2a.hi.u32.s32", x, y, z));
  o << (x < y ? z : y) << (z >= 0 ? x : y) << int(ASM3("slct.b32.s32", x, y, z)) << int(ASM2("set.lt.s32.s32", x, y)) << int(ASM1("cnot.b32", x));
  o << int(ASM2("szext.wrap.s32", x, y & 31)) << int(ASM2("szext.clamp.s32", x, y));
}

extern "C" __global__ void unsigned_32(const unsigned* a, const unsigned* b, const unsigned* c, unsigned* out, int n) {
  const int i = index();
  if (i >= n) return;
  const unsigned x = a[i], y = b[i], z = c[i];
  Rows<unsigned> o(out, i, n);
  o << (y ? x / y : 0) << (y ? x % y : 0) << x / 10 << x % 641;
  o << min(x, y) << max(x, y) << __umulhi(x, y) << __umul24(x, y) << __usad(x, y, z) << __uhadd(x, y) << __urhadd(x, y);
  o << ((x & y) ^ ~z) << ((x | y) & (y | z) & (x | z)) << (x ^ y ^ z) << ASM2("shl.b32", x, y) << ASM2("shr.u32", x, y);
  o << __clz(x) << __popc(x) << __ffs(x) << __brev(x) << ASM1("bfind.u32", x);
  o << __byte_perm(x, y, z) << ASM3("prmt.b32.f4e", x, y, z) << ASM3("prmt.b32.b4e", x, y, z) << ASM3("prmt.b32.rc8", x, y, z);
  o << ASM3("prmt.b32.ecl", x, y, z) << ASM3("prmt.b32.ecr", x, y, z) << ASM3("prmt.b32.rc16", x, y, z);
  o << __funnelshift_l(x, y, z) << __funnelshift_r(x, y, z) << __funnelshift_lc(x, y, z) << __funnelshift_rc(x, y, z);
  o << __dp4a(x, y, z) << __dp2a_lo(x, y, z) << ASM3("bfe.u32", x, y, z) << ASM3("mad.hi.u32", x, y, z) << ASM3("sad.u32", x, y, z);
  unsigned inserted;
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(inserted) : "r"(x), "r"(y), "r"(z), "r"(x >> 13));
  o << inserted << ASM2("bmsk.clamp.b32", y, z) << ASM2("bmsk.wrap.b32", y & 31, z & 31);
  o << (x << 7 | x >> 25) << ASM2("set.hs.u32.u32", x, y) << ASM2("szext.clamp.u32", x, y) << ASM2("mul24.hi.u32", x, y);
  unsigned lookup;
  asm("lop3.b32 %0, %1, %2, %3, 0x5c;" : "=r"(lookup) : "r"(x), "r"(y), "r"(z));
  o << lookup;
}

extern "C" __global__ void signed_64(const long long* a, const long long* b, const long long* c, long long* out, int n) {
  using U = unsigned long long;
  const int i = index();
  if (i >= n) return;
  const long long x = a[i], y = b[i], z = c[i];
  Rows<long long> o(out, i, n);
  o << (long long)(U(x) + U(y)) << (long long)(U(x) - U(y)) << (long long)(U(x) * U(y)) << (long long)(U(x) * U(y) + U(z));
  const bool divides = y != 0 && !(x == (long long)(U(1) << 63) && y == -1);
  o << (divides ? x / y : 0) << (divides ? x % y : 0) << x / 12345678901LL << x % 10;
  o << min(x, y) << max(x, z) << __mul64hi(x, y) << (x >> (y & 63)) << (long long)(U(x) << (y & 63)) << (x < y ? z : x) << (x == y) << (x <= z);
  o << (long long)int(x) * int(y) << (long long)(int)(short)x << (x < 0 ? (long long)(-U(x)) : x);
  long long e, f, w;
  asm("bfe.s64 %0, %1, %2, %3;" : "=l"(e) : "l"(x), "r"(int(y)), "r"(int(z)));
  asm("shr.s64 %0, %1, %2;" : "=l"(f) : "l"(x), "r"(int(y)));
  asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(w) : "r"(int(x)), "r"(int(y)), "l"(z));
  o << e << f << w;
}

extern "C" __global__ void unsigned_64(const unsigned long long* a, const unsigned long long* b, const unsigned long long* c, unsigned long long* out, int n) {
  const int i = index();
  if (i >= n) return;
  const unsigned long long x = a[i], y = b[i], z = c[i];
  Rows<unsigned long long> o(out, i, n);
  o << (y ? x / y : 0) << (y ? x % y : 0) << x / 1000000007ull << min(x, y) << max(x, z) << __umul64hi(x, y);
  o << (unsigned long long)__clzll(x) << (unsigned long long)__popcll(x) << (unsigned long long)__ffsll(x) << __brevll(x);
  o << ((x & ~y) ^ z) << (x << (y & 63) | x >> (-y & 63));
  const unsigned __int128 p = (unsigned __int128)x * y + z, q = p - ((unsigned __int128)z << 64 | x);  // add.cc, madc, subc
  o << (unsigned long long)p << (unsigned long long)(p >> 64) << (unsigned long long)q << (unsigned long long)(q >> 64);
  unsigned long long inserted, left;
  asm("bfi.b64 %0, %1, %2, %3, %4;" : "=l"(inserted) : "l"(x), "l"(y), "r"(unsigned(z)), "r"(unsigned(z >> 32)));
  asm("shl.b64 %0, %1, %2;" : "=l"(left) : "l"(x), "r"(unsigned(y)));
  o << inserted << left << (unsigned long long)(unsigned)x * (unsigned)y;
}

extern "C" __global__ void small_types(const signed char* a, const unsigned char* b, const short* c, const unsigned short* d, int* out, int n) {
  const int i = index();
  if (i >= n) return;
  const signed char p = a[i];
  const unsigned char q = b[i];
  const short r = c[i];
  const unsigned short s = d[i];
  Rows<int> o(out, i, n);
  o << (signed char)(p + q) << (unsigned char)(p * q) << (short)(r * s) << (unsigned short)(r - s) << (q ? p / q : 0) << (s ? r % s : 0);
  o << (short)(p << 3) << (unsigned char)(q >> 2) << min(r, (short)p) << max(s, (unsigned short)q) << (r < p) << (signed char)r << (unsigned char)~q;
  short least, high;
  asm("min.s16 %0, %1, %2;" : "=h"(least) : "h"(r), "h"(short(s)));
  asm("mul.hi.s16 %0, %1, %2;" : "=h"(high) : "h"(r), "h"(short(s)));
  int wide, whole;
  asm("mul.wide.s16 %0, %1, %2;" : "=r"(wide) : "h"(r), "h"(short(s)));
  asm("mad.wide.u16 %0, %1, %2, %3;" : "=r"(whole) : "h"(r), "h"(s), "r"(int(p)));
  short shifted;
  asm("shr.s16 %0, %1, %2;" : "=h"(shifted) : "h"(r), "r"(unsigned(q)));
  o << least << high << wide << whole << shifted;
}

// Four bytes or two halves at once: vabsdiff4 and sums that the headers spell with masks.
extern "C" __global__ void packed_integers(const unsigned* a, const unsigned* b, unsigned* out, int n) {
  const int i = index();
  if (i >= n) return;
  const unsigned x = a[i], y = b[i];
  Rows<unsigned> o(out, i, n);
  o << __vadd4(x, y) << __vsub2(x, y) << __vabsdiffu4(x, y) << __vabsdiffs4(x, y) << __vmaxs4(x, y) << __vminu2(x, y) << __vcmpgts2(x, y) << __vseteq4(x, y);
  o << __vavgu4(x, y) << __vhaddu4(x, y) << __vaddss4(x, y) << __vaddus2(x, y) << __vnegss2(x) << __vsadu4(x, y) << __vcmpleu4(x, y);
}
