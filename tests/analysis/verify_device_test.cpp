// The verifier of launches: a good one passes; for every rule a launch that breaks it is refused by that rule's name. And what
// is uniform over a group.
#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <set>
#include <string>

#include <ashlar/analysis/verify.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/ir/tile_build.h>

#include "analysis/proofs/uniform.h"
#include "tests/interp/launch_builder.h"

using namespace launches;
using ir::Completion;

namespace {

// A tile comes in by a tensor map and goes out by another; a warpgroup multiplies fragments of it.
ir::Kernel example() {
  Builder b("example");
  const Expr M = b.symbol("M"), N = b.symbol("N", 8);
  const Id in = b.input("in", bf16, {M, N}), out = b.output("out", bf16, {M, N});
  const Id tile = b.shared("tile", bf16, 2 * 64 * 64, 0), bar = b.barriers("bar", 2, 16384);
  const Id acc = b.registers("acc", f32, 4), fragment = b.registers("fragment", bf16, 8);
  const Id in_map = b.tensor_map("in_map", in, {M, N}, {N, num(1)}, {64, 64}, 128);
  const Id out_map = b.tensor_map("out_map", out, {M, N}, {N, num(1)}, {64, 64}, 128);
  const ir::Intrinsic &load = b.intrinsic(ir::tma_load(bf16)), &save = b.intrinsic(ir::tma_store(bf16));
  const ir::Intrinsic &rows = b.intrinsic(ir::ldmatrix(bf16, 4, false)), &mma = b.intrinsic(ir::mma_m16n8k16(bf16));
  b.launch(ir::ceil_div(M, num(64)), 256, 16400, [&](const Expr& block, const Expr& thread) {
    b.when(below(thread, 1), [&] {
      b.init(bar, num(0), 1);
      b.fence({}, Sync::Kind::fence_init);
    });
    b.block_barrier({});
    const Expr warp = b.let("warp", thread / 32);
    b.loop("step", num(2), [&](const Expr& step) {
      b.when(below(thread, 1), [&] {
        b.expect({}, bar, step, num(8192));
        b.call(load, {{tile, step * 4096}, {in_map, {block * 64, step * 64}}, {bar, step}});
      });
      b.wait({}, bar, step, step % 2);
      b.when(below(thread, 128), [&] {
        b.set_registers(40);
        b.call(rows, {{fragment, num(0)}, {tile, thread % 32 * 8}});
        b.call(mma, {{acc, num(0)}, {fragment, num(0)}, {fragment, num(4)}});
        b.named({}, num(1), 128);
      });
      b.when(below(warp, 2), [&] { b.warp_barrier({}); });
    });
    b.when(below(thread, 1), [&] {
      b.call(save, {{out_map, {block * 64, num(0)}}, {tile, num(0)}});
      b.commit({}, Completion::bulk_group);
      b.wait_read({}, 0);
    });
  });
  return b.k;
}

KStmt* find(std::vector<KStmt>& list, const std::function<bool(const KStmt&)>& wanted) {
  for (KStmt& s : list) {
    if (wanted(s)) return &s;
    for (auto* inner : s.bodies())
      if (KStmt* found = find(*inner, wanted)) return found;
  }
  return nullptr;
}
template <class Node>
Node& statement(ir::Kernel& k) {
  KStmt* s = find(k.body, [](const KStmt& x) { return x.is<Node>(); });
  REQUIRE(s != nullptr);
  return s->get<Node>();
}
void change_sync(ir::Kernel& k, Sync::Kind kind, const std::function<void(Sync&)>& change) {
  KStmt* s = find(k.body, [&](const KStmt& x) { return x.is<Sync>() && x.get<Sync>().kind == kind; });
  REQUIRE(s != nullptr);
  change(s->get<Sync>());
}
bool calls(const ir::Kernel& k, const KStmt& s, const std::string& name) {
  const auto* call = s.as<ir::KCall>();
  return call && k.intrinsics.at(call->intrinsic).name == name;
}
void change_call(ir::Kernel& k, const std::string& name, const std::function<void(ir::Call&)>& change) {
  KStmt* s = find(k.body, [&](const KStmt& x) { return calls(k, x, name); });
  REQUIRE(s != nullptr);
  change(s->get<ir::KCall>());
}
void change_launch(ir::Kernel& k, const std::function<void(ir::Launch&)>& change) { change(statement<ir::KLaunch>(k)); }
Id id_of(const ir::Kernel& k, const std::string& name) {
  for (const auto& [id, b] : k.buffers)
    if (b.name == name) return id;
  throw InternalError("no buffer " + name);
}
ir::KBuffer& buffer(ir::Kernel& k, const std::string& name) { return k.buffers.at(id_of(k, name)); }
ir::TensorMap& first_map(ir::Kernel& k) { return k.tensor_maps.begin()->second; }

// The launch as one of tiles of a tensor, with a parameter of i32.
void tiles_of(ir::Kernel& k, Type element, std::vector<Id> tensors, const Expr& value = {}, bool written = false) {
  ir::tile::Builder b("tiles");
  b.parameter("n", {});
  b.tensor("x", element, {b.constant_extent(8)}, {b.constant_extent(1)}, 1, written);
  ir::KLaunch& l = statement<ir::KLaunch>(k);
  l.body.clear();
  l.threads = l.warp = 1, l.thread = 0, l.shared_bytes = 0;
  l.tile = std::make_shared<const ir::tile::Kernel>(std::move(b).kernel());
  l.tensors = std::move(tensors);
  if (!value.empty()) l.parameters = {value};
}

using Break = std::function<void(ir::Kernel&)>;
const std::multimap<std::string, Break>& breaks() {
  static const std::multimap<std::string, Break> table{
      {"launch.place",
       [](ir::Kernel& k) {
         std::vector<KStmt> body = std::move(k.body);
         k.body = {{{}, ir::KFor{7, "p", num(0), num(2), ir::LoopKind::parallel, std::move(body)}}};
       }},
      {"launch.place",
       [](ir::Kernel& k) {
         const std::vector<KStmt> body = statement<ir::KLaunch>(k).body;
         k.body = body;
         k.body.erase(k.body.begin());
         k.body.resize(1);
       }},
      {"launch.numbers", [](ir::Kernel& k) { change_launch(k, [](ir::Launch& l) { l.threads = 250; }); }},
      {"launch.numbers", [](ir::Kernel& k) { change_launch(k, [](ir::Launch& l) { l.cluster[0] = num(0); }); }},
      {"launch.loops", [](ir::Kernel& k) { statement<ir::KFor>(k).kind = ir::LoopKind::parallel; }},
      {"launch.tiles",  // a body beside the tiles
       [](ir::Kernel& k) { statement<ir::KLaunch>(k).tile = std::make_shared<const ir::tile::Kernel>(); }},
      {"launch.tiles", [](ir::Kernel& k) { tiles_of(k, bf16, {id_of(k, "in")}); }},                // no value for the parameter
      {"launch.tiles", [](ir::Kernel& k) { tiles_of(k, bf16, {id_of(k, "in")}, num(3), true); }},  // an input that is written
      {"launch.tiles", [](ir::Kernel& k) { tiles_of(k, f32, {id_of(k, "in")}, num(3)); }},         // elements of another type
      {"launch.tiles", [](ir::Kernel& k) { tiles_of(k, bf16, {id_of(k, "in")}, ir::float_const(f32, 1)); }},
      {"shared.inside", [](ir::Kernel& k) { change_launch(k, [](ir::Launch& l) { l.shared_bytes = 16392; }); }},
      {"shared.inside",
       [](ir::Kernel& k) {
         buffer(k, "tile").align = 4096, buffer(k, "tile").offset = num(1024),
                   change_launch(k, [](ir::Launch& l) { l.shared_bytes = 65536; });
       }},
      {"shared.barriers", [](ir::Kernel& k) { buffer(k, "bar").offset = num(16376); }},
      {"shared.barriers",
       [](ir::Kernel& k) {
         buffer(k, "bar").align = 4, buffer(k, "bar").offset = num(16388),
                   change_launch(k, [](ir::Launch& l) { l.shared_bytes = 65536; });
       }},
      {"shared.use",
       [](ir::Kernel& k) { k.body.push_back({{}, ir::KStore{id_of(k, "tile"), num(0), ir::float_const(bf16, 0)}}); }},
      {"collective.width", [](ir::Kernel& k) { change_launch(k, [](ir::Launch& l) { l.threads = 192; }); }},
      {"collective.uniform",
       [](ir::Kernel& k) {
         KStmt* s = find(k.body, [](const KStmt& x) {
           const auto* branch = x.as<ir::KIf>();
           const auto* first = branch ? branch->body[0].as<Sync>() : nullptr;
           return first && first->kind == Sync::Kind::registers;
         });
         Expr& condition = s->get<ir::KIf>().condition;
         condition = below(ir::args_of(condition)[0], 160);
       }},
      {"sync.operands", [](ir::Kernel& k) { change_sync(k, Sync::Kind::mbarrier_expect, [](Sync& s) { s.bytes = {}; }); }},
      {"sync.operands", [](ir::Kernel& k) { change_sync(k, Sync::Kind::block, [](Sync& s) { s.count = num(3); }); }},
      {"sync.barrier",
       [](ir::Kernel& k) {
         const Id tile = id_of(k, "tile");
         change_sync(k, Sync::Kind::mbarrier_init, [&](Sync& s) { s.buffer = tile; });
       }},
      {"sync.barrier", [](ir::Kernel& k) { change_sync(k, Sync::Kind::mbarrier_init, [](Sync& s) { s.index = num(2); }); }},
      {"sync.named", [](ir::Kernel& k) { change_sync(k, Sync::Kind::named, [](Sync& s) { s.index = num(16); }); }},
      {"sync.named", [](ir::Kernel& k) { change_sync(k, Sync::Kind::named, [](Sync& s) { s.count = num(100); }); }},
      {"sync.parity", [](ir::Kernel& k) { change_sync(k, Sync::Kind::mbarrier_wait, [](Sync& s) { s.parity = num(2); }); }},
      {"sync.group",
       [](ir::Kernel& k) { change_sync(k, Sync::Kind::wait_read, [](Sync& s) { s.group = Completion::copy_group; }); }},
      {"sync.group", [](ir::Kernel& k) { change_sync(k, Sync::Kind::commit, [](Sync& s) { s.group = Completion::call; }); }},
      {"sync.registers", [](ir::Kernel& k) { change_sync(k, Sync::Kind::registers, [](Sync& s) { s.count = num(42); }); }},
      {"call.intrinsic", [](ir::Kernel& k) { change_call(k, "tma_load", [](ir::Call& c) { c.actuals.pop_back(); }); }},
      {"call.operand",
       [](ir::Kernel& k) { change_call(k, "tma_load", [](ir::Call& c) { c.actuals[1].positions.pop_back(); }); }},
      {"call.place",
       [](ir::Kernel& k) {
         const Id tile = id_of(k, "tile");
         change_call(k, "mma_m16n8k16_bf16", [&](ir::Call& c) { c.actuals[1].buffer = tile; });
       }},
      {"call.type",
       [](ir::Kernel& k) {
         const Id acc = id_of(k, "acc");
         change_call(k, "mma_m16n8k16_bf16", [&](ir::Call& c) { c.actuals[1].buffer = acc; });
       }},
      {"call.written",
       [](ir::Kernel& k) {
         const Id map = k.tensor_maps.begin()->first;
         change_call(k, "tma_store", [&](ir::Call& c) { c.actuals[0].buffer = map; });
       }},
      {"call.registers",
       [](ir::Kernel& k) { change_call(k, "mma_m16n8k16_bf16", [](ir::Call& c) { c.actuals[2].address = num(5); }); }},
      {"call.align", [](ir::Kernel& k) { change_call(k, "tma_load", [](ir::Call& c) { c.actuals[0].address = num(256); }); }},
      {"call.host",
       [](ir::Kernel& k) {
         const KStmt call = *find(k.body, [&](const KStmt& x) { return calls(k, x, "mma_m16n8k16_bf16"); });
         k.body.insert(k.body.begin(), call);
       }},
      {"map.shape", [](ir::Kernel& k) { first_map(k).extents.pop_back(); }},
      {"map.strides", [](ir::Kernel& k) { first_map(k).strides[0] = first_map(k).strides[0] + 1; }},
      {"map.strides", [](ir::Kernel& k) { first_map(k).strides[1] = num(2); }},
      {"map.box", [](ir::Kernel& k) { first_map(k).box[0] = 257; }},
      {"map.box", [](ir::Kernel& k) { first_map(k).swizzle = 64; }},
      {"map.box", [](ir::Kernel& k) { first_map(k).box[1] = 4; }},
  };
  return table;
}

}  // namespace

TEST_CASE("a launch that uses everything passes, and so does one of tiles") {
  CHECK_NOTHROW(analysis::verify(example()));
  ir::Kernel k = example();
  tiles_of(k, bf16, {id_of(k, "in")}, num(3));
  CHECK_NOTHROW(analysis::verify(k));
}

TEST_CASE("every rule for launches is broken by a launch made for it, and reported by name") {
  std::set<std::string> names;
  for (const analysis::VerifierRule& r : analysis::launch_rules()) {
    CAPTURE(std::string(r.name));
    names.insert(r.name);
    CHECK(breaks().count(r.name) > 0);
  }
  for (const auto& [name, change] : breaks()) {
    CAPTURE(name);
    CHECK(names.count(name) == 1);
    ir::Kernel k = example();
    change(k);
    std::string found;
    try {
      analysis::verify(k);
    } catch (const InternalError& e) { found = e.what(); }
    CHECK(found.find(name + ": ") != std::string::npos);
  }
}

TEST_CASE("what is uniform over a group of threads") {
  ir::Kernel k;
  const Id thread_id = 1, lane_id = 2, row_id = 3, i_id = 4, odd_id = 5, reg = 6, mem = 7;
  for (Id id : {reg, mem}) {
    ir::KBuffer b;
    b.id = id;
    b.type = f32;
    b.storage = id == reg ? ir::Storage::registers : ir::Storage::shared;
    k.buffers[id] = b;
  }
  const Expr t = ir::var(thread_id, "thread"), N = ir::var(9, "N");
  const auto var = [](Id id) { return ir::var(id, "v"); };
  const auto read = [](Id id, const Expr& at) { return ir::load(id, "x", f32, {&at, 1}); };
  analysis::Uniform u(k, thread_id);
  u.let(lane_id, t % 32);
  u.loop(i_id, num(0), N);
  u.loop(odd_id, num(0), N - t);
  u.let(row_id, t / 128 * 64 + var(i_id));
  struct Row {
    const char* what;
    Expr e;
    std::int64_t n;
    bool uniform;
  };
  const Row table[] = {
      {"a constant", num(3), 32, true},
      {"a symbol", N, 1024, true},
      {"the thread", t, 32, false},
      {"the thread, alone", t, 1, true},
      {"its warp", t / 32, 32, true},
      {"its warp, over a warpgroup", t / 32, 128, false},
      {"a range of warps", below(t, 128), 128, true},
      {"a range that cuts a group", below(t, 96), 128, false},
      {"a lane", var(lane_id), 32, false},
      {"a warp within a warpgroup", t % 128 / 32, 32, true},
      {"an elected thread", below(t % 128, 1), 32, false},
      {"a let of uniform values", var(row_id), 128, true},
      {"a loop with a bound of the thread's own", var(odd_id), 32, false},
      {"the simplifier is asked", (t - 128) / 128, 128, true},
      {"a register", read(reg, num(0)), 32, false},
      {"shared memory at one address", read(mem, var(i_id)), 32, true},
      {"shared memory at the thread's", read(mem, t), 32, false},
  };
  for (const Row& r : table) {
    CAPTURE(std::string(r.what));
    CHECK(u(r.e, r.n) == r.uniform);
  }
}
