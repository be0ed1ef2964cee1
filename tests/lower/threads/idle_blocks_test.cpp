// Blocks that would store nothing end at once: groups of blocks over an extent that they do not divide.
#include <ashlar/ir/print.h>
#include <ashlar/lang.h>
#include <ashlar/lang/build_program.h>

#include "tests/lower/check.h"
#include "tests/lower/launched.h"
#include "tests/support/text_parts.h"

using namespace ashlar;

namespace {

// y[i, j] = x[j, i] + x[j, i], tiles of 8 x 8 by way of shared memory; groups of `group` rows of blocks
struct Grouped {
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", i32, {N, M}), y = lang::make_output("y", i32, {M, N});
  lang::Built built;
  Schedule s;
  explicit Grouped(int group)
      : built((lang::bind(y, compute("y", {M, N}, [&](Var i, Var j) { return x(j, i) + x(j, i); })),
               lang::build_program("grouped", {x, y}))),
        s(built, Target::parse("cuda-sm_80")) {
    const Stage tile = s.cache_read(x, {s[y]}, Scope::shared, Operand(0));
    auto [i, j] = s[y].spatial<2>();
    auto [go, gi] = s[y].split(i, 8 * group, Tail::cover);
    auto [bi, ii] = s[y].split(gi, 8, Tail::exact);
    auto [bj, ji] = s[y].split(j, 8, Tail::cover);
    s[y].reorder(go, bj, bi, ii, ji);
    s[y].bind(go, gpu::block_z).bind(bj, gpu::block_y).bind(bi, gpu::block_x).bind(ii, gpu::thread_y).bind(ji, gpu::thread_x);
    tile.compute_at(bi);
    tile.bind(tile.fuse(tile.spatial<2>()[0], tile.spatial<2>()[1]), gpu::threads);
  }
};

}  // namespace

TEST_CASE("a block that would store nothing ends at once, with all of its threads") {
  for (const int group : {1, 3, 8}) {
    CAPTURE(group);
    Grouped g(group);
    std::string flat;
    const ir::Kernel k = handmade::launched(g.s, &flat);
    const auto* launch = k.body.front().as<ir::KLaunch>();
    REQUIRE(launch);
    const auto* whole = launch->body.size() == 1 ? launch->body.front().as<ir::KIf>() : nullptr;
    CHECK((whole != nullptr) == (group > 1));  // without groups every block stores
    if (whole) {
      CHECK_FALSE(ir::uses_var(whole->condition, launch->thread));
      CHECK(whole->otherwise.empty());
      CHECK(handmade::barriers(whole->body, ir::Sync::Kind::block) == 1);
    }
    handmade::same_on_device(
        g.built.program, g.s,
        {{{"M", 50}, {"N", 13}}, {{"M", 24}, {"N", 8}}, {{"M", 1}, {"N", 1}}, {{"M", 65}, {"N", 3}}, {{"M", 0}, {"N", 5}}});
  }
}
