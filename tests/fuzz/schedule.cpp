// Random steps, named by what the program has at that moment.
#include <ashlar/ir/build.h>

#include "tests/fuzz/case.h"

namespace fuzz {

using schedule::Arg;

bool step_of(const Entry& e, const ir::Program& p, schedule::Step& step) {
  std::vector<ir::Id> loops, stages, buffers;
  ir::walk(p.body, [&](const ir::Stmt& s) {
    if (s.is<ir::LoopStmt>()) loops.push_back(s.id);
    if (const ir::NestStmt* nest = s.as<ir::NestStmt>()) stages.push_back(nest->stage);
    if (const ir::AllocStmt* alloc = s.as<ir::AllocStmt>()) buffers.push_back(alloc->buffer);
  });
  for (const ir::Argument& a : p.arguments)
    if (a.kind == ir::ArgumentKind::input) buffers.push_back(a.id);
  if (loops.empty() || stages.empty() || buffers.empty()) return false;
  auto loop = [&](std::uint32_t n) { return Arg::loop(loops[n % loops.size()]); };
  auto stage = [&](std::uint32_t n) { return Arg::stage(stages[n % stages.size()]); };
  const std::int64_t factors[] = {2, 3, 4, 8, 16};
  const auto factor = [&](std::uint32_t n) { return Arg::integer(factors[n % std::size(factors)]); };
  const char* const tails[] = {"guard", "guard", "predicate", "shift", "pad", "peel", "exact"};
  const Scope scopes[] = {Scope::global, Scope::stack, Scope::registers};
  step = {};
  auto is = [&](const char* primitive, std::vector<Arg> args) {
    step.primitive = primitive;
    step.args = std::move(args);
    return true;
  };
  switch (e[0] % 24) {
    case 0:
    case 1:
    case 2:
      return is("split", {loop(e[1]), factor(e[2]), Arg::text(tails[e[3] % std::size(tails)])});
    case 3:
      return is("fuse", {loop(e[1]), loop(e[1] + 1)});
    case 4:
    case 5:
      return is("reorder", {loop(e[1]), loop(e[2])});
    case 6:
      return is("peel", {loop(e[1]), Arg::text(e[2] % 3 == 0 ? "first" : e[2] % 3 == 1 ? "last" : "both")});
    case 7:
      return is("tighten", {loop(e[1])});
    case 8:
    case 9:
      return is("vectorize", {loop(e[1])});
    case 10:
      return is("unroll", {loop(e[1])});
    case 11:
      return is("parallel", {loop(e[1])});
    case 12:
    case 13:
    case 14:
      return is("compute_at", {stage(e[1]), loop(e[2])});
    case 15:
      return e[3] % 2 ? is("inline", {stage(e[1])}) : is("compute_root", {stage(e[1])});
    case 16:
      return is("fuse_into", {stage(e[1]), loop(e[2])});
    case 17:
      return is("store_at", {stage(e[1]), loop(e[2])});
    case 18:
      return is("slide", {stage(e[1]), loop(e[2])});
    case 19:
      return is("fold", {stage(e[1]), Arg::integer(e[2] % 2), factor(e[3])});
    case 20:
      return e[3] % 2 ? is("align", {stage(e[1]), Arg::integer(e[2] % 2), factor(e[3])})
                      : is("set_scope", {stage(e[1]), Arg::place(scopes[e[2] % 3])});
    case 21:
      return is("rfactor", {stage(e[1]), loop(e[2])});
    case 22:
      return is("cache_read",
                {Arg::buffer(buffers[e[1] % buffers.size()]), Arg::place(scopes[e[3] % 2]), Arg::integer(0), stage(e[2])});
    default:
      return is("cache_write", {stage(e[1]), Arg::place(scopes[e[3] % 2])});
  }
}

}  // namespace fuzz
