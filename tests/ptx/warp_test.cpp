// Lanes together: shuffles, votes, matches, barriers, atomics, divergence, calls.
#include <bit>
#include <numeric>

#include "tests/ptx/snippet.h"

namespace {

using namespace ptx_tests;

Lanes counted(std::uint64_t first = 0) {
  Lanes l;
  std::iota(l.begin(), l.end(), first);
  return l;
}

TEST_CASE("shuffles") {
  const Lanes up =
      lanes("shfl.sync.up.b32 %r4|%p1, %r1, 3, 0, -1; selp.b32 %r5, 1000, 0, %p1; add.u32 %r4, %r4, %r5;", "%r4", counted());
  const Lanes down = lanes("shfl.sync.down.b32 %r4, %r1, 2, 0x1f, -1;", "%r4", counted());
  const Lanes butterfly = lanes("shfl.sync.bfly.b32 %r4, %r1, 5, 0x1f, -1;", "%r4", counted());
  const Lanes index = lanes("shfl.sync.idx.b32 %r4|%p1, %r1, 1, 0x181f, -1;", "%r4", counted());  // segments of 8
  for (std::uint64_t l = 0; l < 32; ++l) {
    CHECK(up[l] == (l >= 3 ? l - 3 + 1000 : l));
    CHECK(down[l] == (l + 2 <= 31 ? l + 2 : l));
    CHECK(butterfly[l] == (l ^ 5));
    CHECK(index[l] == l / 8 * 8 + 1);
  }
}

TEST_CASE("votes, matches, reductions") {
  const Lanes a = counted();
  CHECK(lanes("setp.lt.u32 %p1, %r1, 5; vote.sync.ballot.b32 %r4, %p1, -1;", "%r4", a)[9] == 31);
  CHECK(lanes("setp.lt.u32 %p2, %r1, 5; vote.sync.any.pred %p1, %p2, -1;", "%p1", a)[9] == 1);
  CHECK(lanes("setp.lt.u32 %p2, %r1, 5; vote.sync.all.pred %p1, !%p2, -1;", "%p1", a)[9] == 0);
  CHECK(lanes("setp.lt.u32 %p2, %r1, 99; vote.sync.uni.pred %p1, %p2, -1;", "%p1", a)[9] == 1);
  const Lanes any = lanes("and.b32 %r2, %r1, 3; match.any.sync.b32 %r4, %r2, -1;", "%r4", a);
  CHECK(any[6] == 0x44444444);
  CHECK(lanes("and.b32 %r2, %r1, 0; match.all.sync.b32 %r4|%p1, %r2, -1;", "%p1", a)[3] == 1);
  CHECK(lanes("match.all.sync.b32 %r4|%p1, %r1, -1;", "%r4", a)[3] == 0);
  CHECK(lanes("redux.sync.add.s32 %r4, %r1, -1;", "%r4", a)[3] == 496);
  CHECK(lanes("sub.u32 %r2, %r1, 7; redux.sync.min.s32 %r4, %r2, -1;", "%r4", a)[3] == 0xfffffff9);
  CHECK(lanes("redux.sync.or.b32 %r4, %r1, -1;", "%r4", a)[3] == 31);
  CHECK(lanes("elect.sync %r4|%p1, -1;", "%p1", a)[0] == 1);
  CHECK(lanes("elect.sync %r4|%p1, -1;", "%p1", a)[1] == 0);
  // each half of the warp by its own mask, in one instruction
  const Lanes halves =
      lanes("setp.lt.u32 %p1, %r1, 16; selp.b32 %r5, 0xffff, 0xffff0000, %p1; redux.sync.add.u32 %r4, %r1, %r5;", "%r4", a);
  CHECK(halves[0] == 120);
  CHECK(halves[31] == 376);
}

TEST_CASE("lanes diverge and come together") {
  // an odd lane takes the other way, and a loop ends at a different time for each lane
  const Lanes r = lanes(
      "and.b32 %r5, %r1, 1; setp.eq.u32 %p1, %r5, 0; mov.u32 %r4, 0; mov.u32 %r6, %r1;\n"
      "@%p1 bra EVEN; add.u32 %r4, %r4, 1000; bra.uni LOOP; EVEN: add.u32 %r4, %r4, 2000;\n"
      "LOOP: setp.eq.u32 %p2, %r6, 0; @%p2 bra DONE; add.u32 %r4, %r4, %r6; sub.u32 %r6, %r6, 1; bra LOOP;\n"
      "DONE: activemask.b32 %r7; shl.b32 %r8, %r7, 0; setp.ne.u32 %p3, %r7, -1; @%p3 trap;",
      "%r4", counted());
  for (std::uint64_t l = 0; l < 32; ++l) CHECK(r[l] == (l % 2 == 0 ? 2000 : 1000) + l * (l + 1) / 2);
  const Lanes indexed = lanes(
      "and.b32 %r5, %r1, 3; table: .branchtargets A, B, C, B; mov.u32 %r4, 0; brx.idx %r5, table;\n"
      "A: mov.u32 %r4, 10; bra END; B: mov.u32 %r4, 20; bra END; C: mov.u32 %r4, 30; END:",
      "%r4", counted());
  CHECK(indexed[4] == 10);
  CHECK(indexed[5] == 20);
  CHECK(indexed[6] == 30);
  CHECK(indexed[7] == 20);
}

TEST_CASE("lanes that wait for each other within a warp") {
  // lane 0 frees the lock that the others spin on: the group that spins lets it run
  const Lanes r = lanes(
      "mov.u64 %rd4, area; setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.b32 [%rd4], 0; bar.warp.sync -1;\n"
      "@!%p1 bra SPIN; mov.u32 %r6, 500;\n"
      "WORK: sub.u32 %r6, %r6, 1; setp.ne.u32 %p2, %r6, 0; @%p2 bra WORK; atom.shared.exch.b32 %r7, [%rd4], 77; bra END;\n"
      "SPIN: atom.shared.or.b32 %r4, [%rd4], 0; setp.eq.u32 %p3, %r4, 0; @%p3 bra SPIN;\n"
      "END: mov.u32 %r5, 1; @%p1 mov.u32 %r4, 77;",
      "%r4", counted());
  for (const std::uint64_t v : r) CHECK(v == 77);
}

TEST_CASE("functions, recursion, calls by address") {
  const std::string functions =
      ".func (.param .b32 out) fact(.param .b32 n) { .reg .b32 %r<6>; .reg .pred %p; ld.param.b32 %r1, [n]; setp.gt.u32 %p, "
      "%r1, 1; @%p bra MORE;\n"
      "st.param.b32 [out], 1; ret; MORE: sub.u32 %r2, %r1, 1; { .param .b32 a; st.param.b32 [a], %r2; .param .b32 b; call.uni "
      "(b), fact, (a);\n"
      "ld.param.b32 %r3, [b]; } mul.lo.u32 %r4, %r1, %r3; st.param.b32 [out], %r4; ret; }\n"
      ".func (.param .b32 out) twice(.param .b32 n) { .reg .b32 %r<3>; ld.param.b32 %r1, [n]; add.u32 %r2, %r1, %r1; "
      "st.param.b32 [out], %r2; ret; }\n"
      ".alias double_it, twice;\n";
  const Lanes r = lanes(
      "and.b32 %r5, %r1, 7; { .param .b32 a; st.param.b32 [a], %r5; .param .b32 b; call (b), fact, (a); ld.param.b32 %r4, [b]; "
      "}",
      "%r4", counted(), {}, {}, functions);
  const std::uint64_t factorials[] = {1, 1, 2, 6, 24, 120, 720, 5040};
  for (std::uint64_t l = 0; l < 32; ++l) CHECK(r[l] == factorials[l % 8]);
  const Lanes by_address = lanes(
      "setp.lt.u32 %p1, %r1, 4; mov.u64 %rd4, fact; mov.u64 %rd5, twice; selp.b64 %rd6, %rd4, %rd5, %p1;\n"
      "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
      "{ .param .b32 a; st.param.b32 [a], %r1; .param .b32 b; call (b), %rd6, (a), proto; ld.param.b32 %r4, [b]; }",
      "%r4", counted(), {}, {}, functions);
  CHECK(by_address[3] == 6);
  CHECK(by_address[9] == 18);
}

TEST_CASE("atomic operations") {
  const Lanes sum = lanes(
      "mov.u64 %rd4, area; setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.b32 [%rd4], 100; bar.sync 0; red.shared.add.u32 [%rd4], "
      "%r1; bar.sync 0; ld.shared.b32 %r4, [%rd4];",
      "%r4", counted());
  CHECK(sum[5] == 596);
  const Lanes old = lanes("atom.global.add.u32 %r4, [%rd20], 5;", "%r4", counted(10));
  CHECK(old[7] == 17);
  const Lanes inc = lanes(
      "mov.u64 %rd4, area; setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.b32 [%rd4], 0; bar.sync 0; atom.shared.inc.u32 %r4, [%rd4], "
      "9;",
      "%r4", counted());
  CHECK(inc[25] == 5);  // 0 to 9, again and again, lane after lane
  CHECK(lanes("atom.global.cas.b32 %r5, [%rd20], 12, 99; ld.global.b32 %r4, [%rd20];", "%r4", counted(10))[2] == 99);
  CHECK(lanes("atom.global.cas.b32 %r5, [%rd20], 12, 99; ld.global.b32 %r4, [%rd20];", "%r4", counted(10))[3] == 13);
  CHECK(lanes("red.relaxed.gpu.global.max.s64 [%rd20], -5; ld.global.b64 %rd4, [%rd20];", "%rd4", counted(10))[3] == 13);
  Lanes floats;
  floats.fill(std::bit_cast<std::uint32_t>(1.5f));
  CHECK(lanes("atom.add.f32 %f4, [%rd20], 0f3F800000; ld.global.f32 %f5, [%rd20];", "%f5", floats)[3] ==
        std::bit_cast<std::uint32_t>(2.5f));
  CHECK(lanes("mov.b32 %r5, 0x3c003c00; red.global.add.noftz.f16x2 [%rd20], %r5; ld.global.b32 %r4, [%rd20];", "%r4", {})[3] ==
        0x3c003c00);
}

TEST_CASE("blocks: barriers with counts and results, static and dynamic shared memory, grids") {
  const std::string text =
      head() +
      ".extern .shared .align 16 .b8 dynamic[];\n.const .align 4 .b32 table[4] = {10, 20, 30, 40};\n.global .align 8 .u64 "
      "where = generic(table);\n"
      ".visible .entry k(.param .u64 out) .reqntid 64 {\n.reg .b64 %rd<9>; .reg .b32 %r<20>; .reg .pred %p<5>; .shared .align "
      "4 .b32 fixed[64];\n"
      "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; shl.b32 %r3, %r1, 2; mov.u32 %r4, fixed; add.u32 "
      "%r4, %r4, %r3;\n"
      "st.shared.u32 [%r4], %r1; mov.u32 %r5, dynamic; add.u32 %r5, %r5, %r3; st.shared.u32 [%r5], %r2; barrier.sync.aligned "
      "1, 64;\n"
      "sub.u32 %r6, 63, %r1; shl.b32 %r6, %r6, 2; mov.u32 %r7, fixed; add.u32 %r7, %r7, %r6; ld.shared.u32 %r8, [%r7];\n"
      "mov.u32 %r7, dynamic; add.u32 %r7, %r7, %r6; ld.shared.u32 %r9, [%r7]; setp.lt.u32 %p1, %r1, 10; bar.red.popc.u32 %r10, "
      "0, %p1; bar.red.or.pred %p2, 0, %p1;\n"
      "ld.global.u64 %rd2, [where]; ld.u32 %r11, [%rd2+8]; mad.lo.u32 %r12, %r9, 1000, %r8; mad.lo.u32 %r12, %r10, 100000, "
      "%r12; add.u32 %r12, %r12, %r11;\n"
      "mad.lo.u32 %r13, %r2, 64, %r1; mul.wide.u32 %rd3, %r13, 4; add.u64 %rd3, %rd3, %rd1; @%p2 st.global.u32 [%rd3], %r12; "
      "ret; }\n";
  const Module m = Module::parse(text);
  CHECK(m.kernel("k").required_threads[0] == 64);
  CHECK(m.kernel("k").shared_bytes == 256);
  Device device;
  const std::uint64_t out = device.alloc(3 * 64 * 4);
  device.launch(m, "k", {.grid = {3, 1, 1}, .block = {64, 1, 1}, .dynamic_shared = 256}, {piece(out)});
  std::array<std::uint32_t, 192> got = {};
  device.read(got.data(), out, sizeof got);
  for (std::uint32_t n = 0; n < 192; ++n) CHECK(got[n] == n / 64 * 1000 + 63 - n % 64 + 1000000 + 30);
  CHECK(device.coverage().counts.at("bar.red.popc.u32") == 6);
  CHECK(device.coverage().text().find("barrier.sync.aligned 6\n") != std::string::npos);
  CHECK_THROWS_WITH_AS(device.launch(m, "k", {.grid = {3, 1, 1}, .block = {32, 1, 1}, .dynamic_shared = 256}, {piece(out)}),
                       "the entry k demands 64 threads, launched are 32", ashlar::ptx::Error);
  CHECK_THROWS_WITH_AS(device.launch(m, "k", {.grid = {3, 1, 1}, .block = {64, 1, 1}}, {piece(1)}),
                       "parameter 0 of the entry k has 8 bytes, given are 4", ashlar::ptx::Error);
}

TEST_CASE("printf") {
  const std::string text = head() +
                           ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n.global .align 1 .b8 "
                           "format[12] = {97, 32, 37, 100, 32, 37, 46, 50, 102, 33, 10, 0};\n"
                           ".visible .entry k() { .local .align 8 .b8 args[16]; .reg .b64 %rd<9>; .reg .b32 %r<4>; mov.u64 "
                           "%rd1, args; mov.u32 %r1, %tid.x; st.local.u32 [%rd1], %r1;\n"
                           "st.local.f64 [%rd1+8], 0d3FF8000000000000; cvta.local.u64 %rd2, %rd1; mov.u64 %rd3, format; "
                           "cvta.global.u64 %rd3, %rd3;\n"
                           "{ .param .b64 a; st.param.b64 [a], %rd3; .param .b64 b; st.param.b64 [b], %rd2; .param .b32 c; "
                           "call.uni (c), vprintf, (a, b); ld.param.b32 %r2, [c]; } ret; }";
  Device device;
  CHECK(device.launch(Module::parse(text), "k", {.block = {2, 1, 1}}, std::initializer_list<ashlar::ptx::Piece>{}).printed ==
        "a 0 1.50!\na 1 1.50!\n");
}

}  // namespace
