// The lowered form: lanes, masks, shared workspace slots, worker memory, strided arguments.
#include <doctest/doctest.h>

#include <ashlar/interp/interpreter.h>

#include "build_programs.h"

using namespace ashlar;
using interp::Array;
using interp::RunError;
using ir::KStmt;

namespace {

const ir::Id N = 1, in = 2, out = 3, i = 4, t = 5, u = 6, stride = 7;

Expr index_var(ir::Id id, const char* name) { return ir::var(id, name); }

ir::Kernel copy_kernel() {
  ir::Kernel k;
  k.name = "copy";
  k.next_id = stride + 1;
  k.symbols[N] = {N, "N", 0, INT64_MAX, 1, {}};
  for (ir::Id id : {in, out}) {
    k.arguments.push_back({id == in ? ir::ArgumentKind::input : ir::ArgumentKind::output, id});
    ir::Buffer b;
    b.id = id;
    b.name = id == in ? "in" : "out";
    b.type = f32;
    b.rank = 1;
    b.extents = {index_var(N, "N")};
    k.argument_buffers[id] = b;
    ir::KBuffer kb;
    kb.id = id;
    kb.name = b.name;
    kb.type = f32;
    kb.written = id == out;
    k.buffers[id] = kb;
  }
  return k;
}

KStmt loop(ir::Id var, const char* name, Expr extent, std::vector<KStmt> body) {
  return {{}, ir::KFor{var, name, ir::index(0), extent, ir::LoopKind::serial, std::move(body)}};
}

KStmt store(ir::Id buffer, Expr address, Expr value, Expr mask = {}) { return {{}, ir::KStore{buffer, address, value, mask}}; }

void add_workspace(ir::Kernel& k, ir::Id id, const char* name, Expr offset, bool per_worker) {
  ir::KBuffer b;
  b.id = id;
  b.name = name;
  b.type = f32;
  b.storage = ir::Storage::workspace;
  b.elements = ir::index(16);
  b.offset = offset;
  b.per_worker = per_worker;
  k.buffers[id] = b;
}

Expr load1(ir::Id buffer, const char* name, Expr address, Type type = f32) {
  return ir::load(buffer, name, type, {&address, 1});
}
Array counting(std::int64_t n) {
  return Array::make(f32, {n}, [](auto at) { return static_cast<double>(at[0] + 1); });
}

}  // namespace

TEST_CASE("lanes and masks: a vector copy with a masked tail") {
  ir::Kernel k = copy_kernel();
  const Expr n = index_var(N, "N"), base = ir::mul(index_var(i, "i"), ir::index(4));
  const Expr address = ir::ramp(base, ir::index(1), 4), mask = ir::lt(address, ir::broadcast(n, 4));
  const Expr operands[2] = {address, mask};
  SUBCASE("masked") {
    k.body = {loop(i, "i", ir::ceil_div(n, ir::index(4)),
                   {store(out, address, ir::load(in, "in", f32.with_lanes(4), operands), mask)})};
    interp::Arguments args{counting(10), Array::zeros(f32, {10})};
    interp::run(k, args);
    CHECK(interp::difference(args[1].array, args[0].array) == "");
  }
  SUBCASE("the load lacks its mask") {
    k.body = {
        loop(i, "i", ir::ceil_div(n, ir::index(4)), {store(out, address, load1(in, "in", address, f32.with_lanes(4)), mask)})};
    interp::Arguments args{counting(10), Array::zeros(f32, {10})};
    CHECK_THROWS_WITH_AS(interp::run(k, args), "kernel `copy` at i = 2 reads in[10], outside its 10 elements", RunError);
  }
  SUBCASE("the loop stops early") {
    k.body = {loop(i, "i", ir::div(n, ir::index(4)), {store(out, address, load1(in, "in", address, f32.with_lanes(4)))})};
    interp::Arguments args{counting(10), Array::zeros(f32, {10})};
    CHECK_THROWS_WITH_AS(interp::run(k, args), "kernel `copy`: element 8 of the output out was not written", RunError);
  }
}

TEST_CASE("buffers that share a workspace slot: the last writer owns the bytes") {
  ir::Kernel k = copy_kernel();
  k.workspace_shared = ir::index(64);
  add_workspace(k, t, "t", ir::index(0), false);
  add_workspace(k, u, "u", ir::index(0), false);
  const Expr v = index_var(i, "i"), n = index_var(N, "N");
  const KStmt fill_t = loop(i, "i", n, {store(t, v, load1(in, "in", v))}),
              fill_u = loop(i, "i", n, {store(u, v, load1(in, "in", v))});
  const KStmt from_t = loop(i, "i", n, {store(out, v, load1(t, "t", v))});
  interp::Arguments args{counting(9), Array::zeros(f32, {9})};
  k.body = {fill_u, fill_t, from_t};
  interp::run(k, args);
  CHECK(interp::difference(args[1].array, args[0].array) == "");
  k.body = {fill_t, fill_u, from_t};
  CHECK_THROWS_WITH_AS(interp::run(k, args), "kernel `copy` at i = 0 reads t[0], which was not written", RunError);
}

TEST_CASE("the memory of a worker is new at every iteration of a parallel loop") {
  ir::Kernel k = copy_kernel();
  k.workspace_per_worker = ir::index(64);
  add_workspace(k, t, "t", ir::index(0), true);
  const Expr v = index_var(i, "i"), n = index_var(N, "N");
  // only the first iteration fills t[0]
  const KStmt guarded{{}, ir::KIf{ir::eq(v, ir::index(0)), {store(t, ir::index(0), load1(in, "in", ir::index(0)))}}};
  KStmt parallel = loop(i, "i", n, {guarded, store(out, v, load1(t, "t", ir::index(0)))});
  parallel.get<ir::KFor>().kind = ir::LoopKind::parallel;
  k.body = {parallel};
  interp::Arguments args{counting(3), Array::zeros(f32, {3})};
  CHECK_THROWS_WITH_AS(interp::run(k, args), "kernel `copy` at i = 1 reads t[0], which was not written", RunError);
}

TEST_CASE("strided arguments: the stride is a variable of the kernel, the padding is not touched") {
  ir::Kernel k = copy_kernel();
  k.strides = {{stride, in, 0}};
  const Expr v = index_var(i, "i"), n = index_var(N, "N");
  Array wide = counting(6);
  Array strided{f32, {3}, {2}, wide.bytes};
  SUBCASE("by the stride") {
    k.body = {loop(i, "i", n, {store(out, v, load1(in, "in", ir::mul(v, index_var(stride, "in_stride0"))))})};
    interp::Arguments args{strided, Array::zeros(f32, {3})};
    interp::run(k, args);
    CHECK(args[1].array.real({2}) == 5);
  }
  SUBCASE("as if it were dense") {
    k.body = {loop(i, "i", n, {store(out, v, load1(in, "in", v))})};
    interp::Arguments args{strided, Array::zeros(f32, {3})};
    CHECK_THROWS_WITH_AS(interp::run(k, args), "kernel `copy` at i = 1 reads in[1], outside its 6 elements", RunError);
  }
}

TEST_CASE("lets hold vectors") {
  ir::Kernel k = copy_kernel();
  const Expr address = ir::ramp(ir::index(0), ir::index(1), 4), held = ir::var(t, "t", f32.with_lanes(4));
  k.body = {{{}, ir::KLet{t, "t", load1(in, "in", address, f32.with_lanes(4)), {store(out, address, ir::add(held, held))}}}};
  interp::Arguments args{counting(4), Array::zeros(f32, {4})};
  interp::run(k, args);
  CHECK(args[1].array.real({3}) == 8);
}

TEST_CASE("lanes of a vector with a name may be read from nothing where no store takes them") {
  ir::Kernel k = copy_kernel();
  k.workspace_shared = ir::index(64);
  add_workspace(k, u, "u", ir::index(0), false);
  const Expr address = ir::ramp(ir::index(0), ir::index(1), 4), three = ir::lt(address, ir::broadcast(ir::index(3), 4));
  const Expr operands[2] = {address, three};
  const Expr held = ir::var(t, "t", f32.with_lanes(4)), twice = ir::var(i, "v", f32.with_lanes(4));
  // t = u, and a second name that is made of it
  const auto named = [&](const KStmt& stored) {
    const KStmt inner{{}, ir::KLet{i, "v", ir::add(held, held), {stored}}};
    return KStmt{{}, ir::KLet{t, "t", load1(u, "u", address, f32.with_lanes(4)), {inner}}};
  };
  const KStmt fill = store(u, address, ir::load(in, "in", f32.with_lanes(4), operands), three);
  interp::Arguments args{counting(3), Array::zeros(f32, {3})};
  SUBCASE("masked") {
    k.body = {fill, named(store(out, address, twice, three))};
    interp::run(k, args);
    CHECK(args[1].array.real({2}) == 6);
  }
  SUBCASE("a store that takes such a lane") {
    k.body = {fill, named(store(out, ir::ramp(ir::index(3), ir::index(-1), 4), twice,
                                ir::gt(address, ir::broadcast(ir::index(0), 4))))};
    CHECK_THROWS_WITH_AS(interp::run(k, args), "kernel `copy` reads u[3], which was not written", RunError);
  }
}

TEST_CASE("beside what decides a condition the other operand need not have been written") {
  ir::Kernel k = copy_kernel();
  k.workspace_shared = ir::index(64);
  add_workspace(k, u, "u", ir::index(0), false);
  const Expr v = index_var(i, "i"), n = index_var(N, "N");
  const Expr unwritten = ir::gt(load1(u, "u", v), ir::float_const(f32, 0)), never = ir::lt(v, ir::index(0));
  const auto masked = [&](const Expr& mask) {
    const Expr operands[2] = {v, mask};
    k.body = {loop(i, "i", n, {store(out, v, ir::load(in, "in", f32, operands))})};
    interp::Arguments args{counting(3), Array::zeros(f32, {3})};
    interp::run(k, args);
    return args[1].array.real({2});
  };
  CHECK(masked(ir::logic_and(never, unwritten)) == 0);
  CHECK(masked(ir::logic_and(unwritten, never)) == 0);
  CHECK(masked(ir::logic_or(unwritten, ir::logic_not(never))) == 3);
  CHECK_THROWS_WITH_AS(masked(ir::logic_and(ir::logic_not(never), unwritten)),
                       "kernel `copy` at i = 0 reads u[0], which was not written", RunError);
  CHECK_THROWS_WITH_AS(masked(ir::logic_or(never, unwritten)), "kernel `copy` at i = 0 reads u[0], which was not written",
                       RunError);
}

TEST_CASE("two lanes of one store may not write one element") {
  ir::Kernel k = copy_kernel();
  const Expr address = ir::ramp(ir::index(0), ir::index(1), 4);
  k.body = {store(out, ir::broadcast(ir::index(0), 4), load1(in, "in", address, f32.with_lanes(4)))};
  interp::Arguments args{counting(4), Array::zeros(f32, {4})};
  CHECK_THROWS_WITH_AS(interp::run(k, args), "kernel `copy` stores two lanes into out[0]", RunError);
}
