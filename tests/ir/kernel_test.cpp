// The statements of a kernel: every operand is reached, every list inside, and what is asked of the wrong kind.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <ashlar/ir/build.h>
#include <ashlar/ir/kernel.h>
#include <ashlar/ir/refusal.h>

using namespace ashlar;
using namespace ashlar::ir;

namespace {

// A statement of each kind with every slot filled, by constants from 1 on, in the order in which they are to be met.
struct Filled {
  KStmt statement;
  int slots = 0;
};

std::vector<Filled> every_kind() {
  int n = 0;
  const auto next = [&] { return index(++n); };
  std::vector<Filled> all;
  const auto add = [&](KStmt::Node node) {
    all.push_back({{{}, std::move(node)}, n});
    n = 0;
  };
  const KStmt inside{{}, KLet{90, "inside", index(1000)}};
  KFor loop;
  loop.begin = next(), loop.extent = next(), loop.body = {inside};
  add(loop);
  add(KIf{next(), {inside}, {inside}});
  add(KLet{2, "v", next(), {inside}});
  KStore store;
  store.value = next(), store.address = next(), store.mask = next();
  add(store);
  add(KPrefetch{3, next()});
  KLaunch launch;
  for (Expr& e : launch.grid) e = next();
  for (Expr& e : launch.cluster) e = next();
  launch.body = {inside};
  add(launch);
  KSync sync;
  for (Expr* e : {&sync.index, &sync.count, &sync.bytes, &sync.parity, &sync.rank}) *e = next();
  add(sync);
  KCall call;
  for (int a = 0; a < 2; ++a) {
    Call::Actual& actual = call.actuals.emplace_back();
    actual.address = next();
    for (auto* list : {&actual.positions, &actual.strides, &actual.extents}) *list = {next(), next()};
  }
  add(call);
  return all;
}

}  // namespace

TEST_CASE("for_each_expr reaches every slot of every node, in order, and nothing of what stands inside") {
  std::vector<Filled> all = every_kind();
  REQUIRE(all.size() == std::variant_size_v<KStmt::Node>);
  const std::vector<int> slots{2, 1, 1, 3, 1, 6, 5, 14};
  for (std::size_t k = 0; k < all.size(); ++k) {
    KStmt& s = all[k].statement;
    CAPTURE(k);
    CHECK(s.node.index() == k);
    CHECK(all[k].slots == slots[k]);
    int met = 0;
    for_each_expr(std::as_const(s), [&](const Expr& e) { CHECK(is_int(e, ++met)); });
    CHECK(met == slots[k]);
    for_each_expr(s, [&](Expr& e) { e = add(e, index(100)); });
    met = 0;
    for_each_expr(s, [&](const Expr& e) { CHECK(is_int(e, 100 + ++met)); });
    CHECK(met == slots[k]);
    for (auto* list : s.bodies()) CHECK(is_int(list->front().get<KLet>().value, 1000));
  }
}

TEST_CASE("empty slots are left out") {
  int met = 0;
  for (const KStmt::Node& node :
       {KStmt::Node{KFor{}}, KStmt::Node{KIf{}}, KStmt::Node{KLet{}}, KStmt::Node{KStore{}}, KStmt::Node{KPrefetch{}},
        KStmt::Node{KLaunch{}}, KStmt::Node{KSync{}}, KStmt::Node{KCall{}}}) {
    const KStmt s{{}, node};
    for_each_expr(s, [&](const Expr&) { ++met; });
  }
  CHECK(met == 0);
}

TEST_CASE("the lists inside, by kind") {
  const std::vector<std::size_t> lists{1, 2, 1, 0, 0, 1, 0, 0};
  const std::vector<Filled> all = every_kind();
  for (std::size_t k = 0; k < all.size(); ++k) {
    std::size_t n = 0;
    for (const auto* list : all[k].statement.bodies()) n += list->size();
    CHECK(n == lists[k]);
  }
}

TEST_CASE("a statement says which kind it is") {
  KStmt s{{}, KStore{3, index(0), index(1)}};
  CHECK(s.is<KStore>());
  CHECK(s.as<KFor>() == nullptr);
  CHECK(s.get<KStore>().buffer == 3);
  std::string found;
  try {
    s.get<KFor>();
  } catch (const InternalError& e) { found = e.what(); }
  CHECK(found == "internal error: a statement of another kind than was asked for");
  s = {{}, KFor{1, "i", index(0), index(4), LoopKind::unrolled}};
  CHECK(as_loop(s, LoopKind::unrolled) == &s.get<KFor>());
  CHECK(as_loop(s, LoopKind::serial) == nullptr);
}

TEST_CASE("facts of lowering copy as values, and a node without them shares nothing") {
  KBuffer b;
  CHECK_FALSE(b.facts().recurrent);
  b.lowering.made().recurrent = true;
  KBuffer copy = b;
  copy.lowering->recurrent = false;
  CHECK(b.facts().recurrent);
  CHECK_FALSE(copy.facts().recurrent);
  b.lowering.reset();
  CHECK_FALSE(b.lowering);
}
