// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files by hand: what is read, what is refused, and where.
#include <doctest/doctest.h>

#include "tests/tileir/run/assembler.h"

namespace ashlar::tileir_test {
namespace {

using namespace tileir;

Assembler adding(int minor) {  // x[0] += 2
  Assembler a(minor);
  const auto f32 = a.type({kF32}), scalar = a.tile(f32), pointer = a.tile(a.pointer(f32)), token = a.type({kToken});
  a.function(
      "add", {pointer},
      {Assembler::op({61, scalar, token, 0, 0, 0}),                              // 1, 2 = load_ptr_tko weak 0
       Assembler::op({16, scalar, a.constant({0, 0, 0, 0x40})}),                 // 3 = constant 2
       Assembler::op({2, scalar, 0, 0, 1, 3}),                                   // 4 = addf 1, 3
       Assembler::op({101, token, 8, 0, 0, 4, 2}), Assembler::op({92, 0, 0})});  // 5 = store_ptr_tko weak 0, 4 token 2; return
  return a;
}

std::string error_of(const std::vector<std::byte>& file) {
  try {
    Module::read(file);
  } catch (const Error& e) { return e.what(); }
  return "none";
}

TEST_CASE("a file is read, printed and run in every version") {
  for (int minor = 1; minor <= 5; ++minor) {
    const Module m = Module::read(adding(minor).file());
    CHECK(m.version().minor == minor);
    REQUIRE(m.kernels().size() == 1);
    CHECK(m.kernel("add").parameters[0].type == "tile<ptr<f32>>");
    CHECK(m.operations().at("addf") == 1);
    const std::string text = m.text();
    CHECK(text.find("%4 = addf rounding=nearest_even x=%1 y=%3 : tile<f32>") != std::string::npos);
    CHECK(text.find("%5 = store_ptr_tko order=weak pointers=%0 value=%4 token=%2 : token") != std::string::npos);
    float x = 40;
    Device d;
    d.adopt(&x, sizeof x);
    CHECK(d.run(m, "add", {1, 1, 1}, {argument(&x)}).operations == 5);
    CHECK(x == 42);
  }
}

TEST_CASE("every prefix of a file is refused") {
  const auto file = adding(4).file();
  for (std::size_t n = 0; n < file.size(); ++n) {
    const std::vector<std::byte> part(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(n));
    const std::string said = error_of(part);
    CHECK_MESSAGE(
        (said.find("and the data ends (offset ") != std::string::npos || said.find(" are left (offset ") != std::string::npos),
        said);
  }
}

TEST_CASE("no byte that is changed does harm") {
  const auto file = adding(4).file();
  int refused = 0;
  for (std::size_t n = 0; n < file.size(); ++n) {
    for (int v = 0; v < 256; ++v) {
      auto changed = file;
      changed[n] = static_cast<std::byte>(v);
      try {
        Module::read(changed).text();
      } catch (const Error&) { ++refused; }
    }
  }
  CHECK(refused > 1000);
}

TEST_CASE("what is wrong is said, with its place") {
  auto file = adding(4).file();
  file[9] = std::byte{9};
  CHECK(error_of(file) == "version 13.9, and 13.1 to 13.5 are known (offset 8)");
  file = adding(4).file();
  file.push_back(std::byte{0});
  CHECK(error_of(file).find("1 bytes follow the end") == 0);

  const auto body = [](int minor, const std::vector<Bytes>& ops) {
    Assembler a(minor);
    a.tile(a.type({kF32}));  // types 0 and 1
    a.type({kToken});        // 2
    a.tile(a.type({kI32}));  // 3 and 4
    a.function("f", {1, 4}, ops);
    return error_of(a.file());
  };
  using A = Assembler;
  CHECK(body(4, {A::op({200})}).find("there is no operation with the code 200 (offset ") == 0);
  CHECK(body(1, {A::op({110, 1, 0, 0})}).find("atan2 came with version 13.2 (offset ") == 0);
  CHECK(body(4, {A::op({2, 1, 0, 0, 0, 9})}).find("there is no value 9, and 2 are defined here (offset ") == 0);
  CHECK(body(4, {A::op({2, 1, 0, 0, 0, 1})}).find("addf: expected one type, and they are tile<i32> and tile<f32> (offset ") ==
        0);
  CHECK(body(4, {A::op({3, 1, 0, 0, 0})}).find("addi: expected a tile of integers, and it is tile<f32> (offset ") == 0);
  CHECK(body(4, {A::op({2, 1, 2, 0, 0, 0})}).find("flags of addf: 2") == 0);
  CHECK(body(4, {A::op({2, 1, 0, 6, 0, 0})}).find("addf: the rounding nearest_int_to_zero is not one of it") == 0);
  CHECK(body(4, {A::op({50, 0, 1, 2, 1, 0, 1, 109, 0, 0, 1, 0, 1, 109, 0, 0})})
            .find("if: expected tile<i1>, and it is tile<i32>") == 0);
  CHECK(body(4, {A::op({17, 0, 0})}).find("continue: outside of a loop") == 0);
  CHECK(body(4, {A::op({92, 0, 0}), A::op({92, 0, 0})}).find("operations follow return") == 0);
  CHECK(body(4, {A::op({79, 1, 0})}).find("a block does not end with yield, continue, break or return") == 0);
  CHECK(body(4, {A::op({16, 1, 5})}).find("there is no constant 5 of 0") == 0);
  CHECK(body(4, {A::op({44, 1, 99})}).find("there is no string 99 of 1") == 0);
}

TEST_CASE("types that cannot be are refused") {
  const auto with = [](int minor, auto make) {
    Assembler a(minor);
    make(a);
    a.function("f", {}, {Assembler::op({92, 0, 0})});
    return error_of(a.file());
  };
  CHECK(with(4, [](Assembler& a) { a.tile(a.type({kF32}), {3}); }).find("an extent of a tile is 3, which is no power of two") ==
        0);
  CHECK(with(4, [](Assembler& a) { a.tile(a.type({kF32}), {1 << 20, 1 << 20}); }).find("a tile of more than 2^24 elements") ==
        0);
  CHECK(with(4, [](Assembler& a) { a.tile(0); }).find("type 0 consists of itself") == 0);
  CHECK(with(4, [](Assembler& a) { a.tile(7); }).find("there is no type 7 of ") == 0);
  CHECK(with(1, [](Assembler& a) { a.type({18}); }).find("f8E8M0FNU came with version 13.2") == 0);
  CHECK(with(4, [](Assembler& a) { a.type({99}); }).find("there is no type with the tag 99") == 0);
  CHECK(with(4, [](Assembler& a) {
          a.partition_view({4}, a.tensor_view(a.type({kF32}), {8, 8}, {8, 1}), {0});
        }).find("a view with a tile of 1 dimensions on a tensor of 2") == 0);
  CHECK(with(4, [](Assembler& a) {
          a.partition_view({4, 4}, a.tensor_view(a.type({kI32}), {8, 8}, {8, 1}), {0, 1}, 2);
        }).find("padding of integers that is not zero") == 0);
  CHECK(with(4, [](Assembler& a) {
          a.partition_view({4, 4}, a.tensor_view(a.type({kF32}), {8, 8}, {8, 1}), {0, 0});
        }).find("the dimensions of a view are no permutation") == 0);
}

TEST_CASE("a launch must fit") {
  const Module m = Module::read(adding(4).file());
  Device d;
  CHECK_THROWS_WITH_AS(d.run(m, "sub", {1, 1, 1}, {}), "the module has no kernel sub", Error);
  CHECK_THROWS_WITH_AS(d.run(m, "add", {1, 1, 1}, {}), "kernel add takes 1 arguments, and 0 are given", Error);
  CHECK_THROWS_WITH_AS(d.run(m, "add", {1, 1, 1}, {argument(1)}),
                       "parameter 0 of kernel add is tile<ptr<f32>>, and 4 bytes are given", Error);
  CHECK_THROWS_WITH_AS(d.run(m, "add", {1, 0, 1}, {argument(std::uint64_t{0})}), "a grid without blocks", Error);
}

TEST_CASE("operations are in the table once, in order") {
  const auto all = operations();
  CHECK(all.size() == 108);
  for (std::size_t n = 1; n < all.size(); ++n) CHECK(all[n - 1].opcode < all[n].opcode);
}

}  // namespace
}  // namespace ashlar::tileir_test
