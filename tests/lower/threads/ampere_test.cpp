// The instructions of ashlar/instructions/ampere.h: every product, its factors lying both ways, lowered and run by the device
// interpreter in race mode, against the algorithm. What is wrong with a description is refused.
#include <ashlar/ir/refusal.h>

#include "tests/lower/launched.h"
#include "tests/support/ampere_operators.h"

using namespace ashlar;

namespace {

std::string refusal_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const RefusalError& e) { return e.refusal.expected + ", found " + e.refusal.found; }
  return "";
}

}  // namespace

TEST_CASE("products by tensor cores are the algorithm's") {
  for (const auto& [name, kind] : ampere_operators::kinds())
    for (int turned = 0; turned < 4; ++turned) {
      CAPTURE(name);
      CAPTURE(turned);
      ampere_operators::Options o = kind;
      o.columns_a = turned % 2 == 1, o.columns_b = turned / 2 == 1;
      ampere_operators::Product op{Target::parse("cuda-sm_100a"), o};
      handmade::same_on_device(op.built.program, op.s, {{{"M", 32}, {"N", 64}, {"K", 64}}, {{"M", 32}, {"N", 32}, {"K", 0}}});
    }
}

TEST_CASE("tensor cores that a target lacks, and types that they do not take, are refused") {
  using ampere::Rounding;
  CHECK(refusal_of([] { ampere_operators::Product op(Target::parse("cuda-sm_90a"), {.a = e4m3, .b = e4m3}); }) ==
        "a target with sm_100, which mma_e4m3_f32 needs, found cuda-sm_90a");
  CHECK(refusal_of([] { ampere::mma(f32, f32, Rounding::of_machine); }) ==
        "Rounding::to_tf32 or Rounding::to_3xtf32 for factors of f32, found Rounding::of_machine");
  CHECK(refusal_of([] { ampere::mma(bf16, f32, Rounding::to_tf32); }) ==
        "Rounding::of_machine for factors of bf16, found Rounding::to_tf32");
  CHECK(refusal_of([] { ampere::mma_rounding_left(f32); }) == "a right factor of f16 or bf16, found f32");
  CHECK(refusal_of([] { ampere::mma_skipping_zeros(f32); }) == "a right factor of f16 or bf16, found f32");
  CHECK(refusal_of([] { ampere::mma(bf16, bf16, Rounding::of_machine); }) == "sums in f32, or of f16 in f16, found bf16");
  CHECK(refusal_of([] { ampere::mma(f64, f64, Rounding::of_machine); }) ==
        "elements of f16, bf16, f32, i8, u8, e4m3 or e5m2, found f64");
  CHECK(refusal_of([] { ampere::mma(i8, f16); }) ==
        "factors of i8 or u8 (those of floats take the type of the sums and a Rounding), found f16");
  CHECK(refusal_of([] { ampere::load_left(i8, ampere::Lies::columns); }) == "elements of 16 bits in columns, found i8");
  CHECK(refusal_of([] { ampere::load_right(e4m3, ampere::Lies::columns); }) ==
        "elements of 16 bits, i8 or u8 in columns, found e4m3");
}

TEST_CASE("a text may name some registers of a fragment") {
  const auto with = [](const char* text) {
    return refusal_of([&] {
      intrinsic("two", [&](Meaning& m) {
        Tensor from = m.read("from", f32, {16, 8}, Scope::fragment), to = m.write("to", f32, {16, 8}, Scope::fragment);
        m.means(to, [&](Var i, Var j) { return from(i, j); });
        for (const Tensor& t : {from, to})
          m.holds(t, 32, [](Var i, Var j) { return held(i % 8 * 4 + j / 2, j % 2 + i / 8 * 2); });
        m.emit(Backend::ptx, text);
      });
    });
  };
  CHECK(with("mov.b32 {to.0}, {from.3}; f {to.1-3}, {from.0-2};") == "");
  CHECK(with("f {to}, {from.0-4};") == "registers from 0 to 3 of from in the text for ptx, found {from.0-4}");
  CHECK(with("f {to}, {from.3-2};") == "the registers of a fragment, {from}, {from.0} or {from.0-1}, found {from.3-2}");
  CHECK(with("f {to}, {from.ptr};") == "the registers of a fragment, {from}, {from.0} or {from.0-1}, found {from.ptr}");
}
