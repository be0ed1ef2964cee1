// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a pack's programs know of elements (bench/gpu/ahead/values.h) against ir/numeric.h, and the text of their cases.
#include <cmath>
#include <random>
#include <sstream>

#include <doctest/doctest.h>

#include <ashlar/codegen/abi_layout.h>
#include <ashlar/ir/numeric.h>

#include "bench/gpu/ahead/case_file.h"

using namespace ashlar;

namespace {

ahead::Type type_of(Type t) {
  const codegen::TensorType c = codegen::tensor_type(t);
  return {c.code, c.bits};
}

}  // namespace

TEST_CASE("elements of every type, rounded and read as ir/numeric.h does") {
  std::mt19937_64 random(1);
  for (Type t : {f16, bf16, f32, f64, e4m3, e5m2}) {
    CAPTURE(t.bits);
    const ahead::Type type = type_of(t);
    std::vector<double> values = {0.0, -0.0,  HUGE_VAL, -HUGE_VAL, NAN,     448,       464,
                                  465, 65504, 65520,    0x1p-24,   0x1p-25, 0x1.8p-25, 0x1p-1074};
    for (int n = 0; n < 4000; ++n)  // around each type's range, also halfway between two of its numbers
      values.push_back(
          std::ldexp(static_cast<double>(static_cast<int>(random() % 8192) - 4096), static_cast<int>(random() % 60) - 40));
    for (double v : values) {
      CAPTURE(v);
      ahead::Bytes mine(8);
      std::uint64_t meant = 0;
      ahead::put(mine, 0, type, v);
      ir::write_value(&meant, ir::float_value(t, v));
      std::uint64_t found = 0;
      std::copy_n(mine.begin(), t.bytes(), reinterpret_cast<std::byte*>(&found));
      if (std::isnan(v) || std::isnan(ir::round_to(t, v)))
        CHECK(std::isnan(ahead::get(mine, 0, type)));
      else {
        CHECK(found == meant);
        CHECK(ahead::same(ahead::get(mine, 0, type), ir::round_to(t, v)));
      }
    }
  }
  for (Type t : {i8, u8, i16, u16, i32, u32, i64, u64, bool_}) {
    ahead::Bytes mine(16);
    for (double v : {0.0, 1.0, 2.0, 3.0, -2.0}) {
      if (v < 0 && (t.is_unsigned() || t.is_bool())) continue;
      ahead::put(mine, 1, type_of(t), v);
      CHECK(ahead::get(mine, 1, type_of(t)) == (t.is_bool() ? v != 0 : v));
    }
  }
}

TEST_CASE("two elements of 4 bits in a byte") {
  ahead::Bytes b(2);
  for (int n = 0; n < 4; ++n) ahead::put(b, n, {0, 4}, n - 3);
  CHECK(ahead::get(b, 0, {0, 4}) == -3);
  CHECK(ahead::get(b, 3, {0, 4}) == 0);
  CHECK(b[0] == std::byte{0xed});
}

TEST_CASE("a hash tells zeros apart and no NaNs") {
  const ahead::Type half{2, 16};
  const ahead::Bytes zero(2), negative = {std::byte{0}, std::byte{0x80}};
  CHECK(ahead::hash(zero, half) != ahead::hash(negative, half));
  const ahead::Bytes quiet = {std::byte{0}, std::byte{0x7e}}, other = {std::byte{1}, std::byte{0xfd}},
                     infinity = {std::byte{0}, std::byte{0x7c}};
  CHECK(ahead::hash(quiet, half) == ahead::hash(other, half));
  CHECK(ahead::hash(quiet, half) != ahead::hash(infinity, half));
  CHECK(ahead::hash(quiet, {1, 16}) != ahead::hash(other, {1, 16}));
}

TEST_CASE("the text of a case gives the case back, and its bounds are kept") {
  ahead::Case c{"a name of \"words\"", "", "f_1", {}};
  ahead::Argument scalar;
  scalar.scalar = true, scalar.value = 77;
  ahead::Argument x;
  x.type = {2, 32}, x.shape = {2, 3}, x.strides = {3, 1}, x.elements = 6;
  x.source = {ahead::Source::Kind::reals, 5};
  const ahead::Bytes given = ahead::generate(x.source, x.type, 6);
  x.expected.kind = ahead::Expected::Kind::sums, x.expected.last = 0x1p-8, x.expected.bytes = given,
  x.expected.most.assign(6, 0x1p-10f);
  c.calls = {{scalar, x}};
  std::stringstream text;
  ahead::write(text, c);
  ahead::write(text, {"refused one", "a reason\nof two lines", "", {}});
  const std::vector<ahead::Case> all = ahead::read(text);
  REQUIRE(all.size() == 2);
  CHECK(all[0].name == c.name);
  CHECK(all[1].refused == "a reason of two lines");
  REQUIRE(all[0].calls.size() == 1);
  CHECK(all[0].calls[0][0].value == 77);
  const ahead::Argument& y = all[0].calls[0][1];
  CHECK(ahead::generate(y.source, y.type, 6) == given);
  const auto difference = [&](double by, const ahead::Expected& e) {
    ahead::Bytes found = given;
    ahead::put(found, 4, x.type, ahead::get(given, 4, x.type) + by);
    return ahead::difference(e, found, x.type, 6);
  };
  CHECK(difference(0, y.expected) == "");
  const double most = 0x1p-10 + 0x1p-7 * std::abs(ahead::get(given, 4, x.type));
  CHECK(difference(0.9 * most, y.expected) == "");
  CHECK(difference(1.2 * most, y.expected).find("element 4: ") == 0);
  CHECK(difference(HUGE_VAL, y.expected) != "");
  CHECK(difference(NAN, y.expected) != "");
  ahead::Expected near = y.expected;
  near.kind = ahead::Expected::Kind::near, near.relative = 0, near.absolute = 0.5;
  CHECK(difference(0.4, near) == "");
  CHECK(difference(0.6, near) != "");
  CHECK(difference(HUGE_VAL, near) != "");
  std::istringstream wrong("case a\nsymbol f\ncall\ntensor 2 32 1 x\n");
  CHECK_THROWS_WITH(ahead::read(wrong), "line 4 of the cases: a word is missing or no number");
}
