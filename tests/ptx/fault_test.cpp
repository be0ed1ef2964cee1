// Every diagnostic, provoked; and what the executor does not know, by name.
#include "tests/ptx/snippet.h"

namespace {

using ptx_tests::fault_of;
using ptx_tests::head;

std::string entry(const std::string& body, const std::string& before = "") {
  return head() + before +
         ".visible .entry k(.param .u64 p) {\n.reg .b64 %rd<20>; .reg .b32 %r<30>; .reg .b16 %h<6>; .reg .pred %p<6>; .reg "
         ".f32 %f<4>;\n"
         ".shared .align 128 .b8 area[1024];\nld.param.u64 %rd1, [p]; mov.u32 %r0, %tid.x; mov.u32 %r1, area; shl.b32 %r2, "
         "%r0, 2; add.u32 %r3, %r1, %r2;\n" +
         body + "\nret;\n}\n";
}

bool begins(const std::string& text, const std::string& with) {
  CAPTURE(text);
  CAPTURE(with);
  return text.rfind(with, 0) == 0;
}
bool has(const std::string& text, const std::string& part) {
  CAPTURE(text);
  return text.find(part) != std::string::npos;
}

constexpr ashlar::ptx::Grid kTwoWarps = {.block = {64, 1, 1}};

TEST_CASE("accesses that are misaligned or outside") {
  const std::string misaligned = fault_of(entry("add.u64 %rd2, %rd1, 2; ld.global.b32 %r4, [%rd2];"));
  CHECK(begins(misaligned, "misaligned access in k: reads at 0x"));
  CHECK(has(misaligned,
            ", expected a multiple of 4\n  line 8: ld.global.b32 %r4, [%rd2]\n  thread (0, 0, 0), lane 0 of warp 0, block (0, "
            "0, 0)"));
  CHECK(begins(
      fault_of(entry("mul.wide.u32 %rd2, %r0, 4; add.u64 %rd2, %rd2, %rd1; st.global.v4.b32 [%rd2], {%r0, %r0, %r0, %r0};")),
      "misaligned access in k: writes at"));
  const std::string outside =
      fault_of(entry("mul.wide.u32 %rd2, %r0, 16; add.u64 %rd2, %rd2, %rd1; ld.global.b32 %r4, [%rd2+4];"));
  CHECK(begins(outside, "access out of bounds in k: reads 4 bytes of global memory at 0x"));
  CHECK(has(outside, ", 260 bytes from the begin of one of 256\n"));
  CHECK(has(outside, "thread (16, 0, 0), lane 16 of warp 0"));
  CHECK(begins(fault_of(entry("st.shared.b32 [%r3+960], %r0;")),
               "access out of bounds in k: writes 4 bytes of shared memory at 0x800, of which the block has 1024 bytes"));
  CHECK(begins(fault_of(entry("mov.u64 %rd2, 0; ld.b32 %r4, [%rd2];")),
               "access out of bounds in k: reads 4 bytes of generic memory at 0x0"));
  CHECK(begins(fault_of(entry(".local .b32 own[2]; mov.u64 %rd2, own; ld.local.b32 %r4, [%rd2+16];")),
               "access out of bounds in k: reads 4 bytes of local memory"));
  CHECK(begins(fault_of(entry("mov.u64 %rd2, table; st.global.b32 [%rd2], %r0;", ".const .b32 table[2] = {1, 2};\n")),
               "store to read-only memory in k: writes to table"));
  CHECK(begins(fault_of(entry("mov.u32 %r5, 48; ld.shared.b32 %r4, [%r5];")),
               "access out of bounds in k: reads 4 bytes of shared memory at 0x30"));
  CHECK(fault_of(entry("ld.global.b32 %r4, [%rd1];")).empty());
}

TEST_CASE("values that nobody wrote") {
  CHECK(begins(fault_of(entry("st.global.b32 [%rd1], %r9;")),
               "value that nobody wrote in k: what is stored in global memory depends on what nobody wrote\n  line 8: "
               "st.global.b32 [%rd1], %r9"));
  CHECK(begins(fault_of(entry("setp.eq.u32 %p1, %r9, 3; @%p1 bra DONE; mov.u32 %r4, 1; DONE:")),
               "value that nobody wrote in k: whether it is executed depends on what nobody wrote"));
  CHECK(begins(fault_of(entry("cvt.u64.u32 %rd2, %r9; add.u64 %rd2, %rd2, %rd1; ld.global.b32 %r4, [%rd2];")),
               "value that nobody wrote in k: the address depends"));
  const std::string shared = fault_of(entry("ld.shared.b32 %r4, [%r3];\nadd.u32 %r5, %r4, 1; st.global.b32 [%rd1], %r4;"));
  CHECK(has(shared, "depends on what nobody wrote, loaded at line 8 from address 1024"));
  CHECK(begins(fault_of(entry(".local .b32 own; ld.local.b32 %r4, [own]; st.global.b32 [%rd1], %r4;")),
               "value that nobody wrote"));
  CHECK(begins(fault_of(entry("red.shared.add.u32 [%r3], 1;")),
               "value that nobody wrote in k: it combines with memory that nobody wrote"));
  // what is not selected, or masked away, may be anything
  CHECK(fault_of(entry("setp.eq.u32 %p1, %r0, %r0; selp.b32 %r4, %r0, %r9, %p1; and.b32 %r5, %r9, 0; or.b32 %r4, %r4, %r5; "
                       "mul.wide.u32 %rd2, %r0, 4; add.u64 %rd2, %rd2, %rd1; st.global.b32 [%rd2], %r4;"))
            .empty());
  CHECK(fault_of(entry("mov.b32 %r4, {%h1, %h2}; prmt.b32 %r5, %r4, %r0, 0x7654; mul.wide.u32 %rd2, %r0, 4; add.u64 %rd2, "
                       "%rd2, %rd1; st.global.b32 [%rd2], %r5;"))
            .empty());
  // halves of packed numbers are apart
  const std::string third =
      "mov.b16 %h1, 0x3c00; mov.b32 %r4, {%h1, %h2}; add.rn.f16x2 %r5, %r4, %r4; cvt.rn.f32.s32 %f1, %r0; "
      "cvt.rn.f16x2.f32 %r6, %f2, %f1; add.rn.f16x2 %r5, %r5, %r6; mov.b32 {%h3, %h4}, %r5; ";
  CHECK(fault_of(entry(third + "st.global.b16 [%rd1], %h3;")).empty());
  CHECK(begins(fault_of(entry(third + "st.global.b16 [%rd1], %h4;")), "value that nobody wrote"));
  CHECK(
      begins(fault_of(entry("addc.u32 %r4, %r0, 0;")), "value that nobody wrote in k: the carry is of no instruction before"));
  // device memory that was never written
  ashlar::ptx::Device device;
  const std::uint64_t at = device.alloc(256);
  const auto m = ashlar::ptx::Module::parse(entry("ld.global.b32 %r4, [%rd1]; st.global.b32 [%rd1+128], %r4;"));
  CHECK_THROWS_WITH_AS(
      device.launch(m, "k", {.block = {32, 1, 1}}, {ashlar::ptx::piece(at)}),
      doctest::Contains(
          "value that nobody wrote in k: what is stored in global memory depends on what nobody wrote, loaded at line 8"),
      ashlar::ptx::Fault);
  CHECK(!device.written(at, 4));
  device.checks().unwritten = false;
  CHECK_NOTHROW(device.launch(m, "k", {.block = {32, 1, 1}}, {ashlar::ptx::piece(at)}));
}

TEST_CASE("races") {
  const std::string other = "xor.b32 %r5, %r0, 32; shl.b32 %r5, %r5, 2; add.u32 %r6, %r1, %r5; ";
  const std::string write_read = fault_of(entry(other + "st.shared.b32 [%r3], %r0; ld.shared.b32 %r4, [%r6];"), kTwoWarps);
  CHECK(has(write_read,
            "race on shared memory in k: writes shared memory at 1152 that warp 0 reads, and nothing orders the two\n  line 8: "
            "st.shared.b32 [%r3], %r0"));
  CHECK(fault_of(entry(other + "st.shared.b32 [%r3], %r0; bar.sync 0; ld.shared.b32 %r4, [%r6];"), kTwoWarps).empty());
  CHECK(begins(
      fault_of(entry(other + "st.shared.b32 [%r3], %r0; bar.sync 0; ld.shared.b32 %r4, [%r6]; st.shared.b32 [%r3], %r4;"),
               kTwoWarps),
      "race on shared memory in k: reads shared memory at"));
  const std::string neighbor = "xor.b32 %r5, %r0, 1; shl.b32 %r5, %r5, 2; add.u32 %r6, %r1, %r5; ";
  CHECK(begins(fault_of(entry(neighbor + "st.shared.b32 [%r3], %r0; ld.shared.b32 %r4, [%r6];")),
               "race on shared memory in k: reads"));
  CHECK(fault_of(entry(neighbor + "st.shared.b32 [%r3], %r0; bar.warp.sync -1; ld.shared.b32 %r4, [%r6];")).empty());
  // several lanes read before a barrier, one of them reads and writes behind it
  CHECK(
      fault_of(entry("setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.b32 [%r1], 7; bar.sync 0; ld.shared.b32 %r4, [%r1]; bar.sync 0;\n"
                     "@%p1 ld.shared.b32 %r5, [%r1]; @%p1 st.shared.b32 [%r1], 8;"),
               {.block = {6, 1, 1}})
          .empty());
  CHECK(begins(fault_of(entry("st.shared.b32 [%r1], %r0;")), "race on shared memory in k: writes"));  // all lanes, other values
  CHECK(fault_of(entry("st.shared.b32 [%r1], 5;"), kTwoWarps).empty());                               // the same value
  CHECK(begins(
      fault_of(entry("st.shared.b32 [%r3], 0; bar.sync 0; red.shared.add.u32 [%r1], 1; ld.shared.b32 %r4, [%r1];"), kTwoWarps),
      "race on shared memory"));
  CHECK(begins(fault_of(entry("mov.u32 %r4, %ctaid.x; st.global.b32 [%rd1], %r4;"), {.grid = {2, 1, 1}}),
               "race on global memory in k: writes global memory that block 0 writes in this launch"));
  CHECK(fault_of(entry("mov.u32 %r4, %ctaid.x; red.global.add.u32 [%rd1], %r4;"), {.grid = {2, 1, 1}}).empty());
}

TEST_CASE("barriers and warps that do not come together") {
  CHECK(begins(fault_of(entry("setp.lt.u32 %p1, %r0, 16; @%p1 bra A; bar.sync 0; bra DONE; A: bar.sync 0; DONE:")),
               "divergent barrier in k: lanes of a warp do not come to one barrier together"));
  CHECK(begins(fault_of(entry("setp.lt.u32 %p1, %r0, 16; @%p1 bar.sync 0;")),
               "divergent barrier in k: some lanes of the warp skip it"));
  CHECK(begins(fault_of(entry("setp.lt.u32 %p1, %r0, 16; @%p1 exit; bar.sync 0;")),
               "divergent barrier in k: some lanes of the warp have ended before it"));
  const std::string never = fault_of(entry("setp.lt.u32 %p1, %r0, 32; @%p1 bra DONE; bar.sync 1, 64; DONE:"), kTwoWarps);
  CHECK(begins(
      never,
      "deadlock in k: what it waits for never comes\n    lanes ffffffff of warp 1 of block 0 wait at line 8: bar.sync 1, 64"));
  CHECK(
      begins(fault_of(entry("bar.sync 0, 48;")), "invalid operation in k: 48 threads at a barrier, expected a multiple of 32"));
  CHECK(fault_of(entry("setp.lt.u32 %p1, %r0, 16; @!%p1 bra DONE; shfl.sync.idx.b32 %r4, %r0, 0, 31, -1; DONE:"))
            .empty());  // of lanes that have ended none is expected
  CHECK(begins(fault_of(entry("shfl.sync.idx.b32 %r4, %r0, 0, 31, 0xffff;")),
               "missing lanes in k: the lane executes it, and is not in its mask 0000ffff\n"));
  CHECK(begins(fault_of(entry("setp.lt.u32 %p1, %r0, 16; @%p1 bra A; vote.sync.ballot.b32 %r4, %p1, -1; bra DONE; A: "
                              "vote.sync.ballot.b32 %r4, %p1, -1; DONE:")),
               "missing lanes in k: lanes that the instruction is for do not come to it"));
  // a lane reads from one that its mask does not name: no value
  CHECK(begins(fault_of(entry("setp.lt.u32 %p1, %r0, 16; @!%p1 bra DONE; shfl.sync.idx.b32 %r4, %r0, 20, 31, 0xffff; "
                              "st.global.b32 [%rd1], %r4; DONE:")),
               "value that nobody wrote"));
  CHECK(begins(fault_of(entry("LOOP: bra LOOP;")), "too long in k: more than 1000000 instructions of warps"));
}

TEST_CASE("asynchronous copies") {
  const std::string copy = "mul.wide.u32 %rd2, %r0, 4; add.u64 %rd2, %rd2, %rd1; cp.async.ca.shared.global [%r3], [%rd2], 4; ";
  CHECK(begins(fault_of(entry(copy + "cp.async.commit_group; ld.shared.b32 %r4, [%r3];")),
               "copy not waited for in k: reads shared memory at 1024 that cp.async of thread 0 copies to, before its wait"));
  CHECK(begins(fault_of(entry(copy + "cp.async.commit_group; cp.async.wait_group 1; ld.shared.b32 %r4, [%r3];")),
               "copy not waited for"));
  CHECK(begins(fault_of(entry(copy + "cp.async.wait_group 0; ld.shared.b32 %r4, [%r3];")),
               "copy not waited for"));  // was not committed
  CHECK(fault_of(entry(copy + "cp.async.commit_group; cp.async.wait_group 0; ld.shared.b32 %r4, [%r3];")).empty());
  CHECK(begins(
      fault_of(entry(
          copy +
          "cp.async.wait_all; xor.b32 %r5, %r0, 1; shl.b32 %r5, %r5, 2; add.u32 %r6, %r1, %r5; ld.shared.b32 %r4, [%r6];")),
      "race on shared memory"));
  CHECK(begins(fault_of(entry("cp.async.ca.shared.global [%r3], [%rd1], 16;")), "misaligned access"));
  CHECK(begins(fault_of(entry("setp.eq.u32 %p1, %r0, 0; @%p1 cp.async.cg.shared.global [%r1], [%rd1], 16, 17;")),
               "invalid operation in k: copies 17 bytes to 16"));
  CHECK(begins(fault_of(entry("mbarrier.arrive.shared.b64 %rd2, [%r1];")), "asynchronous group in k: there is no mbarrier"));
  CHECK(begins(fault_of(entry("setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [%r1], 4; bar.warp.sync -1; "
                              "mbarrier.arrive.shared.b64 _, [%r1];")),
               ""));
  CHECK(begins(fault_of(entry("setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [%r1], 64; bar.warp.sync -1; "
                              "mbarrier.arrive.shared.b64 _, [%r1];\n"
                              "WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0; @!%p2 bra WAIT;")),
               "deadlock in k: what it waits for never comes"));
}

TEST_CASE("traps, assertions, calls; where the source's line is") {
  CHECK(begins(fault_of(entry("trap;")), "trap in k: the program stops itself\n  line 8: trap\n"));
  const std::string with_lines = fault_of(entry(".loc 1 42 7\nsetp.eq.u32 %p1, %r0, 5; @%p1 trap;", ".file 1 \"kernel.cu\"\n"));
  CHECK(has(with_lines, "@%p1 trap\n  source kernel.cu:42\n  thread (5, 0, 0), lane 5 of warp 0, block (0, 0, 0)"));
  CHECK(begins(fault_of(entry("mov.u64 %rd2, 5; proto: .callprototype _; call %rd2, proto;")),
               "invalid operation in k: calls what is no function"));
  CHECK(begins(fault_of(entry("call missing;", ".extern .func missing;\n")),
               "invalid operation in k: calls missing, which has no body"));
  const std::string assertion = entry("mov.u64 %rd2, text; { .param .b64 m; st.param.b64 [m], %rd2; call __assertfail, (m); }",
                                      ".extern .func __assertfail(.param .b64 m);\n.global .b8 text[3] = {110, 111, 0};\n");
  CHECK(begins(fault_of(assertion), "trap in k: assertion failed: no\n"));
}

TEST_CASE("what the executor does not know is an error by name, with its line") {
  CHECK(fault_of(entry("frobnicate.b32 %r4, %r0;")) == "line 8: the instruction frobnicate.b32 is not known");
  CHECK(fault_of(entry("add.s32.fast %r4, %r0, %r0;")) == "line 8: add.s32.fast: the modifier .fast is not known");
  CHECK(fault_of(entry("ld.global.b32.mystery %r4, [%rd1];")) ==
        "line 8: ld.global.b32.mystery: the modifier .mystery is not known");
  CHECK(fault_of(entry("mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 {%r4, %r5, %r6, %r7}, {%r4, %r5, %r6, %r7}, {%r4, "
                       "%r5}, {%r4, %r5, %r6, %r7};")) ==
        "line 8: mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32: expected .row.col");
  CHECK(fault_of(entry("add.s32 %r4, %rd1, %r0;")) == "line 8: add.s32: a register of 64 bits is used as .s32");
  CHECK(fault_of(entry("add.s32 %r4, %r99, %r0;")) == "line 8: the register %r99 is not declared");
  CHECK(fault_of(entry("add.s32 %r4, %r0;")) == "line 8: add.s32: has 2 operands, expected 3");
  CHECK(fault_of(entry("bra NOWHERE;")) == "line 8: the name NOWHERE is not declared");
  CHECK(fault_of(entry("cvt.f32.f64 %f1, %rd1;")) == "line 8: cvt.f32.f64: has no rounding");
  CHECK(fault_of(entry("setp.ltu.s32 %p1, %r0, 1;")) == "line 8: setp.ltu.s32: the comparison does not fit the type");
  CHECK(fault_of(head() + ".tex .u32 t;") == "line 4: the directive .tex is not known");
  CHECK(fault_of(entry("mov.u32 %r4, %r0 \xc3\xa9;")).find("is no character of PTX") != std::string::npos);
}

}  // namespace
