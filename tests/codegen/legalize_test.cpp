// What stands before every back end: a kernel in operators that its target offers computes the same, and has no others.
#include <random>
#include <set>

#include <doctest/doctest.h>

#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/print.h>

#include "codegen/legalize.h"
#include "tests/codegen/kernels.h"
#include "tests/cuda/every_operator.h"

using namespace ashlar;
using namespace ashlar::ir;
using kernels::Maker;

namespace {

std::set<std::string> operators(const std::vector<KStmt>& body) {
  std::set<std::string> all;
  for (const KStmt& s : body) {
    for_each_expr(s, [&](const Expr& root) { walk(root, [&](const Expr& e) { return all.insert(op_name(op_of(e))), true; }); });
    for (const auto* part : s.bodies()) all.merge(operators(*part));
  }
  return all;
}

bool has_expansion(const std::vector<KStmt>& body) {
  bool found = false;
  for (const KStmt& s : body) {
    for_each_expr(s, [&](const Expr& root) {
      walk(root, [&](const Expr& e) {
        return found = found || (!is(e, Op::in_range) && !e.type().is_index() && !expanded(e).empty()), true;
      });
    });
    for (const auto* part : s.bodies()) found = found || has_expansion(*part);
  }
  return found;
}

// The outputs of a kernel on random operands, the same ones each time.
std::vector<std::vector<Value>> outputs(const ir::Kernel& k) {
  std::mt19937_64 random(11);
  interp::Arguments args;
  for (const Argument& a : k.arguments) {
    const Buffer& b = k.argument_buffers.at(a.id);
    interp::Array array = interp::Array::zeros(b.type, {128});
    for (std::int64_t i = 0; b.role == Role::input && i < 128; ++i)
      array.set({&i, 1},
                from_bits(b.type, b.type.is_bool() ? random() & 1
                                                   : random() >> random() % 64 & (~std::uint64_t{0} >> (64 - b.type.bits))));
    args.emplace_back(array);
  }
  interp::run(k, args);
  std::vector<std::vector<Value>> all;
  for (const interp::Actual& a : args) {
    all.emplace_back();
    for (std::int64_t i = 0; i < 128; ++i) all.back().push_back(a.array.at({&i, 1}));
  }
  return all;
}

void compare(const ir::Kernel& k, const codegen::Offers& offers) {
  const ir::Kernel legal = codegen::legalize(k, offers);
  const auto want = outputs(k), got = outputs(legal);
  for (std::size_t a = 0; a < want.size(); ++a)
    for (std::size_t i = 0; i < want[a].size(); ++i)
      CHECK_MESSAGE(same_value(want[a][i], got[a][i]), text(k)
                                                           << text(legal) << text(want[a][i]) << " became " << text(got[a][i]));
}

}  // namespace

TEST_CASE("nothing is offered: every operator on every type is spelled, to the same bits") {
  for (const Type t : {i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, e4m3, e5m2, f32, f64, bool_})
    for (const ir::Kernel& k : cuda::every_operator(t, 4))
      for (const bool subnormals : {true, false}) {
        const codegen::Offers none{{}, subnormals};
        compare(k, none);
        CHECK_FALSE(has_expansion(codegen::legalize(k, none).body));
      }
}

TEST_CASE("what is offered stays, on the types that it is offered for") {
  Maker m("offered");
  const Id a = m.tensor("a", i16, {index(64)}), b = m.tensor("b", i16, {index(64)}),
           out = m.tensor("out", i16, {index(64)}, true);
  const Expr i = var(m.fresh(), "i");
  const Expr x = m.load(a, i), y = m.load(b, i);
  m.k.body = {kernels::loop(i, index(64), {kernels::store(out, i, binary(Op::add_sat, x, binary(Op::halving_add, x, y)))})};
  const auto with = [&](codegen::Offers offers) { return operators(codegen::legalize(m.k, offers).body); };
  const std::set<std::string> one = with({{{Op::add_sat}}});
  CHECK(one.count("add_sat") == 1);
  CHECK(one.count("halving_add") == 0);
  const std::set<std::string> other = with({{{Op::add_sat, [](Type t, Type) { return t.bits == 32; }}, {Op::halving_add}}});
  CHECK(other.count("add_sat") == 0);
  CHECK(other.count("halving_add") == 1);
}

TEST_CASE("numbers of a constant need no provision for others") {
  const auto kernel = [](std::vector<std::int32_t> amounts) {
    Maker m("shifts");
    const Id x = m.tensor("x", i32, {index(4)}), out = m.tensor("out", i32, {index(4)}, true);
    const Id table = m.storage("amounts", i32, Storage::constant, index(4));
    const auto* bytes = reinterpret_cast<const std::byte*>(amounts.data());
    m.k.buffers.at(table).data = std::make_shared<const std::vector<std::byte>>(bytes, bytes + 16);
    const Expr i = var(m.fresh(), "i");
    m.k.body = {kernels::loop(i, index(4), {kernels::store(out, i, binary(Op::rounding_shr, m.load(x, i), m.load(table, i)))})};
    return operators(codegen::legalize(m.k, {}).body);
  };
  CHECK(kernel({1, 2, 3, 4}).count("select") == 0);
  CHECK(kernel({0, 2, 3, 4}).count("select") == 1);
  CHECK(kernel({1, 2, 3, 4}).count("lt") == 0);
  CHECK(kernel({1, 2, 3, 40}).count("lt") == 1);  // the least of an amount and the width
}

TEST_CASE("an index stays what it is") {
  Maker m("index");
  const Id out = m.tensor("out", i64, {index(64)}, true);
  const Expr i = var(m.fresh(), "i");
  const Expr at = binary(Op::min, i, index(63));
  m.k.body = {kernels::loop(i, index(64), {kernels::store(out, at, cast(i64, at))})};
  const ir::Kernel legal = codegen::legalize(m.k, {});
  CHECK(same(legal.body[0].get<KFor>().body[0].get<KStore>().address, at));
}
