// Integers, bits, comparisons, moves: values worked out from the text of the PTX ISA.
#include "tests/ptx/snippet.h"

namespace {

using ptx_tests::check;
using ptx_tests::one;
using ptx_tests::Row;

TEST_CASE("arithmetic on integers") {
  static const Row rows[] = {
      {"add.s32 %r4, %r1, %r2;", "%r4", 0xffffffff, 2, 0, 1},
      {"add.sat.s32 %r4, %r1, %r2;", "%r4", 0x7fffffff, 1, 0, 0x7fffffff},
      {"sub.sat.s32 %r4, %r1, %r2;", "%r4", 0x80000000, 1, 0, 0x80000000},
      {"sub.u16 %h4, %h1, %h2;", "%h4", 1, 2, 0, 0xffff},
      {"add.u64 %rd4, %rd1, %rd2;", "%rd4", ~0ull, 3, 0, 2},
      {"add.u16x2 %r4, %r1, %r2;", "%r4", 0x0001ffff, 0x00010001, 0, 0x00020000},
      {"mul.lo.s32 %r4, %r1, %r2;", "%r4", 0xfffffffd, 5, 0, 0xfffffff1},
      {"mul.hi.u32 %r4, %r1, %r2;", "%r4", 0xffffffff, 0xffffffff, 0, 0xfffffffe},
      {"mul.hi.s32 %r4, %r1, %r2;", "%r4", 0xffffffff, 0xffffffff, 0, 0},
      {"mul.hi.s64 %rd4, %rd1, %rd2;", "%rd4", ~0ull, 2, 0, ~0ull},
      {"mul.hi.u64 %rd4, %rd1, %rd2;", "%rd4", ~0ull, 2, 0, 1},
      {"mul.wide.s16 %r4, %h1, %h2;", "%r4", 0xfffe, 3, 0, 0xfffffffa},
      {"mul.wide.u32 %rd4, %r1, %r2;", "%rd4", 0xffffffff, 2, 0, 0x1fffffffe},
      {"mul.wide.s32 %rd4, %r1, %r2;", "%rd4", 0xffffffff, 2, 0, 0xfffffffffffffffe},
      {"mad.lo.s32 %r4, %r1, %r2, %r3;", "%r4", 7, 6, 5, 47},
      {"mad.hi.u32 %r4, %r1, %r2, %r3;", "%r4", 0x80000000, 4, 9, 11},
      {"mad.wide.s16 %r4, %h1, %h2, %r3;", "%r4", 0xffff, 7, 10, 3},
      {"mad.wide.u32 %rd4, %r1, %r2, %rd3;", "%rd4", 0xffffffff, 0xffffffff, 5, 0xfffffffe00000006},
      {"mul24.lo.u32 %r4, %r1, %r2;", "%r4", 0xff000003, 5, 0, 15},
      {"mul24.hi.s32 %r4, %r1, %r2;", "%r4", 0x800000, 0x10000, 0, 0xff800000},
      {"mad24.lo.s32 %r4, %r1, %r2, %r3;", "%r4", 0xffffff, 2, 10, 8},
      {"sad.s32 %r4, %r1, %r2, %r3;", "%r4", 0xfffffffe, 3, 10, 15},
      {"div.s32 %r4, %r1, %r2;", "%r4", 0xfffffff9, 2, 0, 0xfffffffd},
      {"div.u32 %r4, %r1, %r2;", "%r4", 0xfffffff9, 2, 0, 0x7ffffffc},
      {"div.s64 %rd4, %rd1, %rd2;", "%rd4", 0x8000000000000000, ~0ull, 0, 0x8000000000000000},
      {"rem.s32 %r4, %r1, %r2;", "%r4", 0xfffffff9, 2, 0, 0xffffffff},
      {"rem.u16 %h4, %h1, %h2;", "%h4", 17, 5, 0, 2},
      {"abs.s32 %r4, %r1;", "%r4", 0xfffffffb, 0, 0, 5},
      {"neg.s64 %rd4, %rd1;", "%rd4", 1, 0, 0, ~0ull},
      {"min.s32 %r4, %r1, %r2;", "%r4", 0xffffffff, 1, 0, 0xffffffff},
      {"max.u32 %r4, %r1, %r2;", "%r4", 0xffffffff, 1, 0, 0xffffffff},
      {"min.relu.s32 %r4, %r1, %r2;", "%r4", 0xfffffff0, 1, 0, 0},
      {"max.s16x2 %r4, %r1, %r2;", "%r4", 0xffff0005, 0x00010003, 0, 0x00010005},
      {"max.relu.s16x2 %r4, %r1, %r2;", "%r4", 0xffff0005, 0xfffe0003, 0, 0x00000005},
      {"dp4a.u32.s32 %r4, %r1, %r2, %r3;", "%r4", 0x01020304, 0xff01ff01, 100, 102},
      {"dp4a.s32.s32 %r4, %r1, %r2, %r3;", "%r4", 0xff020304, 0xff010101, 0, 10},
      {"dp2a.lo.s32.u32 %r4, %r1, %r2, %r3;", "%r4", 0xffff0002, 0x00000305, 1, 8},
      {"dp2a.hi.u32.u32 %r4, %r1, %r2, %r3;", "%r4", 0x00030002, 0x07050000, 1, 32},
      {"add.cc.u32 %r4, %r1, %r2; addc.u32 %r5, %r3, 0;", "%r5", 0xffffffff, 1, 6, 7},
      {"sub.cc.u32 %r4, %r1, %r2; subc.u32 %r5, %r3, 0;", "%r5", 0, 1, 6, 5},
      {"mad.lo.cc.u32 %r4, %r1, %r2, %r3; madc.hi.u32 %r5, %r1, %r2, 0;", "%r5", 0xffffffff, 0xffffffff, 0xffffffff,
       0xffffffff},
      {"add.cc.u64 %rd4, %rd1, %rd2; addc.u64 %rd5, 0, 0;", "%rd5", ~0ull, 1, 0, 1},
  };
  check(rows);
}

TEST_CASE("logic, shifts, fields") {
  static const Row rows[] = {
      {"and.b32 %r4, %r1, %r2;", "%r4", 12, 10, 0, 8},
      {"or.b16 %h4, %h1, %h2;", "%h4", 12, 10, 0, 14},
      {"xor.b64 %rd4, %rd1, -1;", "%rd4", 12, 0, 0, ~12ull},
      {"not.b16 %h4, %h1;", "%h4", 1, 0, 0, 0xfffe},
      {"cnot.b32 %r4, %r1;", "%r4", 0, 0, 0, 1},
      {"shl.b32 %r4, %r1, %r2;", "%r4", 1, 32, 0, 0},
      {"shl.b64 %rd4, %rd1, %r2;", "%rd4", 1, 63, 0, 1ull << 63},
      {"shr.s32 %r4, %r1, %r2;", "%r4", 0x80000000, 40, 0, 0xffffffff},
      {"shr.u32 %r4, %r1, %r2;", "%r4", 0x80000000, 31, 0, 1},
      {"shr.s16 %h4, %h1, %r2;", "%h4", 0x8000, 3, 0, 0xf000},
      {"shf.l.wrap.b32 %r4, %r1, %r2, %r3;", "%r4", 0x12345678, 0x9abcdef0, 36, 0xabcdef01},
      {"shf.l.clamp.b32 %r4, %r1, %r2, %r3;", "%r4", 0x12345678, 0x9abcdef0, 40, 0x12345678},
      {"shf.r.wrap.b32 %r4, %r1, %r2, %r3;", "%r4", 0x12345678, 0x9abcdef0, 8, 0xf0123456},
      {"shf.r.clamp.b32 %r4, %r1, %r2, %r3;", "%r4", 0x12345678, 0x9abcdef0, 99, 0x9abcdef0},
      {"bfe.u32 %r4, %r1, 4, 8;", "%r4", 0x12345678, 0, 0, 0x67},
      {"bfe.s32 %r4, %r1, 28, 8;", "%r4", 0x92345678, 0, 0, 0xfffffff9},
      {"bfe.s32 %r4, %r1, 4, 0;", "%r4", 0xffffffff, 0, 0, 0},
      {"bfe.u64 %rd4, %rd1, 40, 12;", "%rd4", 0x123456789abcdef0, 0, 0, 0x456},
      {"bfi.b32 %r4, %r1, %r2, 8, 4;", "%r4", 0xff, 0, 0, 0xf00},
      {"bfi.b64 %rd4, %rd1, %rd2, 60, 8;", "%rd4", 0xa5, ~0ull, 0, 0x5fffffffffffffff},
      {"brev.b32 %r4, %r1;", "%r4", 1, 0, 0, 0x80000000},
      {"clz.b64 %r4, %rd1;", "%r4", 1, 0, 0, 63},
      {"clz.b32 %r4, %r1;", "%r4", 0, 0, 0, 32},
      {"popc.b32 %r4, %r1;", "%r4", 0xf0f, 0, 0, 8},
      {"bfind.u32 %r4, %r1;", "%r4", 0x00800000, 0, 0, 23},
      {"bfind.s32 %r4, %r1;", "%r4", 0xffffffff, 0, 0, 0xffffffff},
      {"bfind.shiftamt.u64 %r4, %rd1;", "%r4", 1, 0, 0, 63},
      {"prmt.b32 %r4, %r1, %r2, 0x7531;", "%r4", 0x33221100, 0x77665544, 0, 0x77553311},
      {"prmt.b32 %r4, %r1, %r2, 0x8888;", "%r4", 0x80, 0, 0, 0xffffffff},
      {"prmt.b32.f4e %r4, %r1, %r2, 3;", "%r4", 0x33221100, 0x77665544, 0, 0x66554433},
      {"prmt.b32.b4e %r4, %r1, %r2, 0;", "%r4", 0x33221100, 0x77665544, 0, 0x55667700},
      {"prmt.b32.ecl %r4, %r1, %r2, 1;", "%r4", 0x33221100, 0, 0, 0x33221111},
      {"prmt.b32.ecr %r4, %r1, %r2, 1;", "%r4", 0x33221100, 0, 0, 0x11111100},
      {"prmt.b32.rc16 %r4, %r1, %r2, 3;", "%r4", 0x33221100, 0, 0, 0x33223322},
      {"lop3.b32 %r4, %r1, %r2, %r3, 0x96;", "%r4", 0xff00, 0xf0f0, 0xcccc, 0xff00 ^ 0xf0f0 ^ 0xcccc},
      {"lop3.b32 %r4, %r1, %r2, %r3, 0xca;", "%r4", 0xff00, 0xf0f0, 0xcccc, (0xff00 & 0xf0f0) | (~0xff00u & 0xcccc)},
      {"szext.wrap.s32 %r4, %r1, 4;", "%r4", 0x1f, 0, 0, 0xffffffff},
      {"szext.clamp.u32 %r4, %r1, 4;", "%r4", 0x1f, 0, 0, 0xf},
      {"bmsk.clamp.b32 %r4, 4, 8;", "%r4", 0, 0, 0, 0xff0},
  };
  check(rows);
}

TEST_CASE("comparisons and selections") {
  constexpr std::uint64_t nan = 0x7fc00000, one = 0x3f800000, minus_zero = 0x80000000;
  static const Row rows[] = {
      {"setp.lt.s32 %p1, %r1, %r2;", "%p1", 0xffffffff, 0, 0, 1},
      {"setp.lo.u32 %p1, %r1, %r2;", "%p1", 0xffffffff, 0, 0, 0},
      {"setp.hs.u32 %p1, %r1, %r2;", "%p1", 5, 5, 0, 1},
      {"setp.eq.b64 %p1, %rd1, %rd2;", "%p1", 7, 7, 0, 1},
      {"setp.ne.f32 %p1, %f1, %f2;", "%p1", nan, one, 0, 0},
      {"setp.neu.f32 %p1, %f1, %f2;", "%p1", nan, one, 0, 1},
      {"setp.eq.f32 %p1, %f1, %f2;", "%p1", minus_zero, 0, 0, 1},
      {"setp.num.f32 %p1, %f1, %f2;", "%p1", nan, one, 0, 0},
      {"setp.nan.f32 %p1, %f1, %f2;", "%p1", nan, one, 0, 1},
      {"setp.gt.ftz.f32 %p1, %f1, 0f00000000;", "%p1", 1, 0, 0, 0},
      {"setp.gt.f32 %p1, %f1, 0f00000000;", "%p1", 1, 0, 0, 1},
      {"setp.eq.s32 %p2, %r1, %r2; setp.lt.and.s32 %p1|%p3, %r1, 5, %p2;", "%p1", 3, 3, 0, 1},
      {"setp.eq.s32 %p2, %r1, %r2; setp.lt.and.s32 %p1|%p3, %r1, 5, %p2;", "%p3", 3, 3, 0, 0},
      {"setp.eq.s32 %p2, %r1, %r2; setp.lt.xor.s32 %p1, %r1, 5, !%p2;", "%p1", 3, 3, 0, 1},
      {"setp.lt.f16x2 %p1|%p2, %r1, %r2;", "%p2", 0x3c000000, 0x3c003c00, 0, 0},
      {"setp.lt.f16x2 %p1|%p2, %r1, %r2;", "%p1", 0x3c000000, 0x3c003c00, 0, 1},
      {"set.lt.u32.s32 %r4, %r1, %r2;", "%r4", 1, 2, 0, 0xffffffff},
      {"set.lt.f32.s32 %f4, %r1, %r2;", "%f4", 1, 2, 0, one},
      {"setp.ne.s32 %p1, %r3, 0; selp.b32 %r4, %r1, %r2, %p1;", "%r4", 10, 20, 0, 20},
      {"setp.ne.s32 %p1, %r3, 0; selp.b32 %r4, %r1, %r2, !%p1;", "%r4", 10, 20, 0, 10},
      {"slct.s32.s32 %r4, %r1, %r2, %r3;", "%r4", 10, 20, 0xffffffff, 20},
      {"slct.s32.f32 %r4, %r1, %r2, %f3;", "%r4", 10, 20, minus_zero, 10},
      {"slct.s32.f32 %r4, %r1, %r2, %f3;", "%r4", 10, 20, nan, 20},
      {"setp.eq.s32 %p1, %r1, 1; setp.eq.s32 %p2, %r2, 1; and.pred %p3, %p1, %p2; not.pred %p4, %p3; or.pred %p5, %p4, %p1;",
       "%p5", 1, 0, 0, 1},
      {"testp.subnormal.f32 %p1, %f1;", "%p1", 1, 0, 0, 1},
      {"testp.notanumber.f64 %p1, %fd1;", "%p1", 0x7ff8000000000000, 0, 0, 1},
  };
  check(rows);
}

TEST_CASE("moves, vectors, addresses of spaces") {
  static const Row rows[] = {
      {"mov.b32 %r4, {%h1, %h2};", "%r4", 0x1234, 0x5678, 0, 0x56781234},
      {"mov.b32 {%h4, %h5}, %r1;", "%h5", 0xabcd1234, 0, 0, 0xabcd},
      {"mov.b64 {%r4, _}, %rd1;", "%r4", 0x1122334455667788, 0, 0, 0x55667788},
      {"mov.b64 %rd4, {%h1, %h2, %h3, %h1};", "%rd4", 1, 2, 3, 0x0001000300020001},
      {"mov.b128 %q0, {%rd1, %rd2}; mov.b128 {%rd4, %rd5}, %q0;", "%rd5", 1, 2, 0, 2},
      {"mov.f32 %f4, 0f3FC00000;", "%f4", 0, 0, 0, 0x3fc00000},
      {"mov.f64 %fd4, 0d3FF8000000000000;", "%fd4", 0, 0, 0, 0x3ff8000000000000},
      {"mov.f32 %f4, 1.5;", "%f4", 0, 0, 0, 0x3fc00000},
      {"mov.u32 %r4, WARP_SZ;", "%r4", 0, 0, 0, 32},
      {"mov.u32 %r4, %laneid; mov.u32 %r5, %lanemask_lt; add.u32 %r4, %r4, %r5;", "%r4", 0, 0, 0, 17 + 0x1ffff},
      {"mov.u32 %r4, %ntid.x; mov.u32 %r5, %nctaid.y; add.u32 %r4, %r4, %r5;", "%r4", 0, 0, 0, 33},
      {"mov.u64 %rd4, area; cvta.shared.u64 %rd5, %rd4; isspacep.shared %p1, %rd5;", "%p1", 0, 0, 0, 1},
      {"mov.u64 %rd4, area; cvta.shared.u64 %rd5, %rd4; isspacep.global %p1, %rd5;", "%p1", 0, 0, 0, 0},
      {"isspacep.global %p1, %rd20;", "%p1", 0, 0, 0, 1},
      {"mov.u64 %rd4, area; cvta.shared.u64 %rd5, %rd4; cvta.to.shared.u64 %rd6, %rd5; sub.s64 %rd7, %rd6, %rd4;", "%rd7", 0, 0,
       0, 0},
      {"shl.b32 %r9, %r0, 3; mov.u32 %r4, area; add.u32 %r4, %r4, %r9; st.shared.v2.b32 [%r4], {%r1, %r2}; ld.shared.b64 %rd4, "
       "[%r4];",
       "%rd4", 7, 9, 0, 0x900000007},
      {"mul.lo.u32 %r9, %r0, 4; mov.u64 %rd6, area; cvt.u64.u32 %rd7, %r9; add.u64 %rd6, %rd6, %rd7; cvta.shared.u64 %rd6, "
       "%rd6; st.b8 [%rd6+1], %r1; "
       "st.b8 [%rd6], %r2; ld.s8 %r4, [%rd6+1]; ld.u8 %h4, [%rd6]; cvt.u32.u16 %r5, %h4; add.s32 %r4, %r4, %r5;",
       "%r4", 0xfe, 3, 0, 1},
      {".local .align 8 .b8 mine[16]; mov.u64 %rd4, mine; st.local.b32 [%rd4+4], %r1; cvta.local.u64 %rd5, %rd4; ld.b32 %r4, "
       "[%rd5+4];",
       "%r4", 77, 0, 0, 77},
  };
  check(rows);
}

}  // namespace
