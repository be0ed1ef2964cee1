// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Statements: the node of one, its body, its expressions, and walks.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include <ashlar/ir/build.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/program.h>
#include <ashlar/ir/refusal.h>

using namespace ashlar;
using namespace ashlar::ir;

namespace {

// nest { loop { alloc; block } }
Stmt tree() {
  LoopStmt loop{.axis = 11, .kind = LoopKind::vectorized, .part = Part::between, .from = index(2), .to = index(5)};
  loop.body.push_back({3, 0, {}, AllocStmt{.buffer = 21}});
  loop.body.push_back({4, 0, {}, BlockStmt{.stage = 31, .when = {lt(var(11, "i"), index(4))}}});
  NestStmt nest{.stage = 31, .roots = {{41, 11, index(0), index(7)}, {42, 12, {}, {}}}};
  nest.body.push_back({2, 0, {}, std::move(loop)});
  return {1, 0, {}, std::move(nest)};
}

// What an access to another node says.
template <class F>
std::string mistake(F&& f) {
  try {
    f();
  } catch (const InternalError& e) { return e.what(); }
  return "";
}

std::vector<std::string> expressions(const Stmt& s) {
  std::vector<std::string> all;
  for_each_expr(s, [&](const Expr& e) { all.push_back(text(e)); });
  return all;
}

}  // namespace

TEST_CASE("a statement is one node, and says so where another is asked for") {
  Stmt nest = tree();
  CHECK(nest.is<NestStmt>());
  CHECK_FALSE(nest.is<LoopStmt>());
  REQUIRE(nest.as<NestStmt>());
  CHECK(nest.as<LoopStmt>() == nullptr);
  CHECK(nest.get<NestStmt>().stage == 31);
  CHECK(mistake([&] { nest.get<LoopStmt>(); }) == "internal error: a statement of another kind: nest");
  const Stmt& block = nest.body().front().body().back();
  CHECK(mistake([&] { block.get<AllocStmt>(); }) == "internal error: a statement of another kind: block");
  CHECK(is_nest_of(nest, 31));
  CHECK_FALSE(is_nest_of(nest, 32));
  CHECK_FALSE(is_nest_of(block, 31));
  CHECK(is_block_of(block, 31));
  CHECK(is_loop(nest.body().front(), LoopKind::vectorized));
  CHECK_FALSE(is_loop(nest.body().front(), LoopKind::serial));
  CHECK(runs_over(nest.body().front(), 11));
  CHECK_FALSE(runs_over(nest, 11));
}

TEST_CASE("nests and loops hold statements, leaves hold none") {
  Stmt nest = tree();
  CHECK(nest.has_body());
  CHECK(nest.body().size() == 1);
  Stmt leaf = nest.body().front().body().front();
  CHECK_FALSE(leaf.has_body());
  CHECK(std::as_const(leaf).body().empty());
  CHECK(mistake([&] { leaf.body(); }) == "internal error: a statement of another kind: alloc");
}

TEST_CASE("a match takes the one function of the node") {
  const auto word = [](const Stmt& s) {
    return match(
        s, [](const NestStmt&) { return "nest"; }, [](const LoopStmt&) { return "loop"; },
        [](const BlockStmt&) { return "block"; }, [](const AllocStmt&) { return "alloc"; },
        [](const PrefetchStmt&) { return "prefetch"; });
  };
  Stmt nest = tree();
  CHECK(word(nest) == std::string("nest"));
  CHECK(word(nest.body().front()) == std::string("loop"));
  CHECK(word(nest.body().front().body().back()) == std::string("block"));
  CHECK(word({5, 0, {}, PrefetchStmt{}}) == std::string("prefetch"));
}

TEST_CASE("the expressions of a statement: its own, those that stand, in the order of its fields") {
  Stmt nest = tree();
  Stmt& loop = nest.body().front();
  CHECK(expressions(nest) == std::vector<std::string>{"0", "7"});
  CHECK(expressions(loop) == std::vector<std::string>{"2", "5"});
  CHECK(expressions(loop.body().back()) == std::vector<std::string>{"i < 4"});
  CHECK(expressions(loop.body().front()).empty());
  for_each_expr(loop, [](Expr& e) { e = add(e, index(1)); });
  CHECK(expressions(loop) == std::vector<std::string>{"3", "6"});
}

TEST_CASE("a walk meets every statement, those around before those inside") {
  Stmt nest = tree();
  std::vector<Stmt> body{nest};
  std::vector<Id> met;
  walk(std::as_const(body), [&](const Stmt& s) { met.push_back(s.id); });
  CHECK(met == std::vector<Id>{1, 2, 3, 4});
  walk(body, [](Stmt& s) { s.id += 10; });
  met.clear();
  walk(std::as_const(body), [&](const Stmt& s) { met.push_back(s.id); });
  CHECK(met == std::vector<Id>{11, 12, 13, 14});
}
