#pragma once
// A few instructions on one warp. Of each lane the values a, b, c are there as %rd1..3 (64 bits), %r1..3, %h1..3 and, the same
// bits, %fd1..3 and %f1..3; `result` names the register, or the predicate, that is given back.
//
//   CHECK(ptx_tests::one("add.s32 %r4, %r1, %r2;", "%r4", 3, 4) == 7);
//   ptx_tests::Lanes out = ptx_tests::lanes("shfl.sync.up.b32 %r4, %r1, 1, 0, -1;", "%r4", a);
#include <array>
#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include "tests/ptx/executor/executor.h"

namespace ptx_tests {

using ashlar::ptx::Device;
using ashlar::ptx::Module;
using ashlar::ptx::piece;

using Lanes = std::array<std::uint64_t, 32>;

inline std::string head(const std::string& target = "sm_90a") {
  return ".version 8.8\n.target " + target + "\n.address_size 64\n";
}

inline std::string text_of(const std::string& body, const std::string& result, const std::string& before = "") {
  std::string last = "mov.b64 %rd9, " + result + ";";
  if (result[1] == 'r' && result[2] != 'd') last = "cvt.u64.u32 %rd9, " + result + ";";
  if (result[1] == 'h') last = "cvt.u64.u16 %rd9, " + result + ";";
  if (result[1] == 'p') last = "selp.b64 %rd9, 1, 0, " + result + ";";
  if (result[1] == 'f' && result[2] != 'd') last = "mov.b32 %r39, " + result + "; cvt.u64.u32 %rd9, %r39;";
  return head() + before +
         ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 po)\n{\n"
         ".reg .b64 %rd<40>; .reg .b32 %r<40>; .reg .b16 %h<20>; .reg .pred %p<8>; .reg .f32 %f<20>; .reg .f64 %fd<20>; .reg "
         ".b128 %q<4>;\n"
         ".shared .align 128 .b8 area[4096];\n"
         "ld.param.u64 %rd20, [pa]; ld.param.u64 %rd21, [pb]; ld.param.u64 %rd22, [pc]; ld.param.u64 %rd23, [po];\n"
         "mov.u32 %r0, %tid.x; mul.wide.u32 %rd24, %r0, 8;\n"
         "add.s64 %rd20, %rd20, %rd24; add.s64 %rd21, %rd21, %rd24; add.s64 %rd22, %rd22, %rd24; add.s64 %rd23, %rd23, %rd24;\n"
         "ld.global.b64 %rd1, [%rd20]; ld.global.b64 %rd2, [%rd21]; ld.global.b64 %rd3, [%rd22];\n"
         "cvt.u32.u64 %r1, %rd1; cvt.u32.u64 %r2, %rd2; cvt.u32.u64 %r3, %rd3;\n"
         "cvt.u16.u64 %h1, %rd1; cvt.u16.u64 %h2, %rd2; cvt.u16.u64 %h3, %rd3;\n"
         "mov.b64 %fd1, %rd1; mov.b64 %fd2, %rd2; mov.b64 %fd3, %rd3; mov.b32 %f1, %r1; mov.b32 %f2, %r2; mov.b32 %f3, %r3;\n" +
         body + "\n" + last + "\nst.global.b64 [%rd23], %rd9;\nret;\n}\n";
}

inline Lanes lanes(const std::string& body, const std::string& result, const Lanes& a, const Lanes& b = {}, const Lanes& c = {},
                   const std::string& before = "") {
  const auto module = ashlar::ptx::Module::parse(text_of(body, result, before));
  ashlar::ptx::Device device;
  std::array<std::uint64_t, 4> at = {};
  for (std::uint64_t& p : at) p = device.alloc(256);
  device.write(at[0], a.data(), 256), device.write(at[1], b.data(), 256), device.write(at[2], c.data(), 256);
  device.launch(module, "k", {.block = {32, 1, 1}},
                {ashlar::ptx::piece(at[0]), ashlar::ptx::piece(at[1]), ashlar::ptx::piece(at[2]), ashlar::ptx::piece(at[3])});
  Lanes out = {};
  device.read(out.data(), at[3], 256);
  return out;
}

inline std::uint64_t one(const std::string& body, const std::string& result, std::uint64_t a, std::uint64_t b = 0,
                         std::uint64_t c = 0) {
  Lanes all_a, all_b, all_c;
  all_a.fill(a), all_b.fill(b), all_c.fill(c);
  return lanes(body, result, all_a, all_b, all_c)[17];
}

struct Row {
  const char *text, *result;
  std::uint64_t a, b, c, expected;
};

template <std::size_t N>
void check(const Row (&rows)[N]) {
  for (const Row& r : rows) {
    CAPTURE(std::string(r.text));
    CAPTURE(r.a);
    CAPTURE(r.b);
    CAPTURE(r.c);
    CHECK(one(r.text, r.result, r.a, r.b, r.c) == r.expected);
  }
}

// The diagnostic of a kernel "k" with one parameter, a pointer to 256 written bytes; empty where there is none.
inline std::string fault_of(const std::string& text, ashlar::ptx::Grid grid = {.block = {32, 1, 1}}, bool all_checks = true) {
  try {
    const auto module = ashlar::ptx::Module::parse(text);
    ashlar::ptx::Device device;
    device.checks().global_races = all_checks;
    device.checks().most_instructions = 1000000;
    const std::uint64_t at = device.alloc(256);
    device.fill(at, 0, 256);
    device.launch(module, "k", grid, {ashlar::ptx::piece(at)});
  } catch (const ashlar::ptx::Fault& f) { return f.what(); } catch (const ashlar::ptx::Error& e) {
    return "line " + std::to_string(e.line) + ": " + e.what();
  }
  return "";
}

}  // namespace ptx_tests
