// The verifier: good programs and kernels pass; for every rule of both tables a program that breaks exactly it is refused, by
// name.
#include <ashlar/analysis/verify.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include <ashlar/ashlar.h>
#include <ashlar/analysis/regions.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/lang/build_program.h>
#include <doctest/doctest.h>

using namespace ashlar;
using namespace ashlar::analysis;
using ir::AllocStmt;
using ir::BlockStmt;
using ir::Id;
using ir::LoopStmt;
using ir::NestStmt;
using ir::Program;
using ir::Stmt;

namespace {

// P[x] = A[x] + 1;  C[i] = sum over k of P[i + k] * 2: a stage with an inferred domain, its storage, and a reduction.
Program example() {
  const lang::DefinitionScope scope;
  const Symbol N{"N"};
  const Tensor A = lang::make_input("A", f32, {N + 2});
  const Tensor C = lang::make_output("C", f32, {N});
  const Tensor P = compute("P", [&](Var x) { return A(x) + 1; });
  const Axis k{"k", 3};
  lang::bind(C, compute("C", {{"i", N}}, [&](Var i) { return sum(P(i + k) * 2, k); }));
  Program p = lang::build_program("example", {A, C}).program;
  derive_regions(p);
  return p;
}

const ir::Stage& stage_named(const Program& p, const std::string& name) {
  for (const auto& [id, s] : p.stages)
    if (s.name == name) return s;
  throw InternalError("no stage " + name);
}
ir::Stage& stage_named(Program& p, const std::string& name) { return p.stages.at(stage_named(std::as_const(p), name).id); }
ir::Buffer& buffer_named(Program& p, const std::string& name) {
  for (auto& [id, b] : p.buffers)
    if (b.name == name) return b;
  throw InternalError("no buffer " + name);
}
// The first such node of a stage.
template <class Node>
Node& first(Program& p, const std::string& stage) {
  Node* found = nullptr;
  const std::function<void(std::vector<Stmt>&, bool)> walk = [&](std::vector<Stmt>& body, bool inside) {
    for (Stmt& s : body) {
      const NestStmt* nest = s.as<NestStmt>();
      const bool here = inside || (nest && p.stage(nest->stage).name == stage);
      if (!found && here) found = s.as<Node>();
      if (s.has_body()) walk(s.body(), here);
    }
  };
  walk(p.body, false);
  if (!found) throw InternalError("no such statement in " + stage);
  return *found;
}
Stmt& loop_statement(Program& p, const std::string& axis) {
  Id id = 0;
  ir::walk(p.body, [&](const Stmt& s) {
    if (const LoopStmt* loop = s.as<LoopStmt>(); loop && p.axis(loop->axis).name == axis && !id) id = s.id;
  });
  if (!id) throw InternalError("no loop over " + axis);
  return *ir::find(p, id);
}
LoopStmt& loop_over(Program& p, const std::string& axis) { return loop_statement(p, axis).get<LoopStmt>(); }

std::string violated(const std::function<void()>& check) {
  try {
    check();
  } catch (const InternalError& e) {
    std::string s = e.what();
    s.erase(0, std::string("internal error: ").size());
    return s.substr(0, s.find(':'));
  }
  return "nothing";
}

// A prefetch of A at the end of a list.
void put_prefetch(Program& p, std::vector<Stmt>& list, Id loop, std::int64_t distance) {
  list.push_back({p.fresh(), 0, {}, ir::PrefetchStmt{.buffer = buffer_named(p, "A").id, .loop = loop, .distance = distance}});
}

using Break = std::function<void(Program&)>;

const std::map<std::string, Break>& program_breaks() {
  static const std::map<std::string, Break> table{
      {"ids.resolve", [](Program& p) { first<LoopStmt>(p, "P").axis = 9999; }},
      {"ids.unique", [](Program& p) { loop_statement(p, "k").id = loop_statement(p, "i").id; }},
      {"ids.variables", [](Program& p) { first<BlockStmt>(p, "C").when = {ir::lt(ir::var(9999, "ghost"), ir::index(3))}; }},
      {"axis.provenance",
       [](Program& p) {
         ir::Axis& a = p.axes.at(loop_over(p, "k").axis);
         a.origin = ir::Axis::Origin::split_inner;
         a.parent = loop_over(p, "i").axis;
       }},
      {"types.operands",
       [](Program& p) {
         Expr& v = stage_named(p, "P").values[0];
         v = ir::make(ir::Op::add, f32, std::vector<Expr>{v, ir::index(1)});
       }},
      {"types.loads",
       [](Program& p) {
         Expr& v = stage_named(p, "P").values[0];
         v = ir::transform(v, [](const Expr& e) { return ir::is(e, ir::Op::load) ? ir::load(e.node()->id, "A", f32, {}) : e; });
       }},
      {"types.conditions", [](Program& p) { first<BlockStmt>(p, "C").when = {ir::index(1)}; }},
      {"stage.components", [](Program& p) { stage_named(p, "P").values[0] = ir::float_const(f64, 1); }},
      {"stage.rank",
       [](Program& p) {
         ir::Buffer& b = buffer_named(p, "P");
         const Id id = b.id;
         b.rank = 2;
         Expr& v = stage_named(p, "C").values[0];
         v = ir::transform(v, [&](const Expr& e) {
           if (!ir::is(e, ir::Op::load) || e.node()->id != id) return e;
           return ir::load(id, "P", f32, std::vector<Expr>{ir::args_of(e)[0], ir::index(0)});
         });
       }},
      {"stage.reduction", [](Program& p) { stage_named(p, "C").inits.clear(); }},
      {"stage.scope",
       [](Program& p) {
         ir::Stage& s = stage_named(p, "C");
         s.inits[0] = ir::cast(f32, ir::var(s.iters[1].id, "k"));
       }},
      {"stage.acyclic",
       [](Program& p) {
         ir::Stage& s = stage_named(p, "P");
         s.values[0] = ir::load(s.buffers[0], "P", f32, std::vector<Expr>{ir::var(s.iters[0].id, "x")});
       }},
      {"stage.scatter",
       [](Program& p) {
         ir::Stage& s = stage_named(p, "P");
         s.targets = {ir::var(s.iters[0].id, "x")};
       }},
      {"stage.atomic", [](Program& p) { stage_named(p, "P").atomic = true; }},
      {"stage.recurrence", [](Program& p) { stage_named(p, "P").iters[0].kind = ir::IterKind::ordered; }},
      {"loop.ordered",
       [](Program& p) {
         ir::Stage& s = stage_named(p, "P");
         const Expr x = ir::var(s.iters[0].id, "x");
         s.iters[0].kind = ir::IterKind::ordered;
         s.iters[0].begin = ir::index(0), s.iters[0].end = ir::index(8);
         s.along = {0};
         const Expr before = ir::load(s.buffers[0], "P", f32, std::vector<Expr>{ir::sub(x, ir::index(1))});
         s.values[0] = ir::select(ir::lt(x, ir::index(1)), ir::float_const(f32, 0), before);
         first<LoopStmt>(p, "P").kind = ir::LoopKind::parallel;
       }},
      {"buffer.arguments", [](Program& p) { p.arguments.pop_back(); }},
      {"buffer.layout", [](Program& p) { buffer_named(p, "P").layout.pad_to = 0; }},
      {"nest.roots", [](Program& p) { first<NestStmt>(p, "C").roots.pop_back(); }},
      {"nest.after", [](Program& p) { first<NestStmt>(p, "C").after = stage_named(p, "P").id; }},
      {"loop.own", [](Program& p) { first<LoopStmt>(p, "P").axis = loop_over(p, "i").axis; }},
      {"loop.once", [](Program& p) { loop_over(p, "k").axis = loop_over(p, "i").axis; }},
      {"loop.parallel",
       [](Program& p) {
         // Another axis of C, spatial, so that only the nesting is wrong.
         loop_over(p, "i").kind = ir::LoopKind::parallel;
         loop_over(p, "k").kind = ir::LoopKind::parallel;
       }},
      {"loop.constant", [](Program& p) { loop_over(p, "i").kind = ir::LoopKind::unrolled; }},
      {"loop.reduction", [](Program& p) { loop_over(p, "k").kind = ir::LoopKind::vectorized; }},
      {"loop.part", [](Program& p) { loop_over(p, "i").from = ir::index(1); }},
      {"loop.tight", [](Program& p) { loop_over(p, "i").tight = true; }},
      {"loop.bound", [](Program& p) { loop_over(p, "i").bound_to = gpu::thread_x; }},
      {"loop.combined", [](Program& p) { loop_over(p, "i").combines = true; }},
      {"loop.tensorized", [](Program& p) { loop_over(p, "i").intrinsic = 9999; }},
      {"loop.pipeline", [](Program& p) { loop_over(p, "i").pipeline = ir::Pipeline{.stages = 2}; }},
      {"block.own", [](Program& p) { first<BlockStmt>(p, "C").stage = stage_named(p, "P").id; }},
      {"block.leaves",
       [](Program& p) {
         std::vector<Stmt> inner = std::move(loop_over(p, "k").body);
         loop_over(p, "i").body = std::move(inner);
       }},
      {"block.cover", [](Program& p) { loop_over(p, "i").part = ir::Part::but_last; }},
      {"block.init", [](Program& p) { first<BlockStmt>(p, "C").piece = ir::Piece::update; }},
      {"block.order",
       [](Program& p) {
         // k is split and its halves run in the wrong order.
         ir::Stage& s = stage_named(p, "C");
         s.reducer.order = ir::Reducer::Order::exact;
         Stmt& k = loop_statement(p, "k");
         LoopStmt& k_loop = k.get<LoopStmt>();
         const Id parent = k_loop.axis;
         ir::Axis outer = p.axis(parent), inner = outer;
         outer.id = p.fresh(), inner.id = p.fresh();
         outer.origin = ir::Axis::Origin::split_outer, inner.origin = ir::Axis::Origin::split_inner;
         outer.parent = inner.parent = parent;
         outer.factor = inner.factor = ir::index(2);
         outer.extent = inner.extent = ir::index(2);
         p.axes.at(parent).became = {outer.id, inner.id};
         Stmt loop = k;
         LoopStmt& l = loop.get<LoopStmt>();
         loop.id = p.fresh();
         l.axis = outer.id;
         k_loop.axis = inner.id;
         k.body() = {loop};
         p.axes[outer.id] = outer;
         p.axes[inner.id] = inner;
       }},
      {"block.stores", [](Program& p) { first<BlockStmt>(p, "P").first_stores = true; }},
      {"storage.live", [](Program& p) { std::erase_if(p.body, [](const Stmt& s) { return s.is<AllocStmt>(); }); }},
      {"order.produced",
       [](Program& p) {
         const auto nest = std::find_if(p.body.begin(), p.body.end(), [&](const Stmt& s) { return s.is<NestStmt>(); });
         p.body.erase(nest);  // P is never computed
       }},
      {"order.outputs", [](Program& p) { p.body.pop_back(); }},
      {"nest.beside",
       [](Program& p) {
         for (ir::Stmt& s : p.body)
           if (NestStmt* n = s.as<NestStmt>()) n->sibling = {loop_over(p, "i").axis, 0};
       }},
      {"slide.loop",
       [](Program& p) {
         NestStmt& nest = first<NestStmt>(p, "P");
         nest.slides.push_back({loop_statement(p, "i").id, p.stage(nest.stage).iters[0].id, {}});
       }},
      {"prefetch.loop", [](Program& p) { put_prefetch(p, p.body, loop_statement(p, "i").id, 1); }},
  };
  return table;
}

// ---- kernels -----------------------------------------------------------------------------------------------------------

// out[i] = in[i] * 2 for i in [0, N), eight lanes, through a buffer on the stack.
constexpr Id in_id = 1, out_id = 2, tmp_id = 3, n_id = 4, i_id = 5, let_id = 6, work_id = 7;

ir::KStmt store(Id buffer, Expr address, Expr value, Expr mask = {}) {
  return {{}, ir::KStore{buffer, std::move(address), std::move(value), std::move(mask)}};
}

ir::Kernel kernel() {
  const Expr n = ir::var(n_id, "N"), i = ir::var(i_id, "i"), first_address = ir::var(let_id, "at");
  ir::Kernel k;
  k.name = "twice";
  k.symbols[n_id].id = n_id;
  k.next_id = 100;
  const auto buffer = [&](Id id, const char* name, ir::Storage storage, bool written) {
    ir::KBuffer b;
    b.id = id;
    b.name = name;
    b.type = f32;
    b.storage = storage;
    b.written = written;
    if (storage != ir::Storage::argument) b.elements = ir::index(8);
    k.buffers[id] = b;
  };
  buffer(in_id, "in", ir::Storage::argument, false);
  buffer(out_id, "out", ir::Storage::argument, true);
  buffer(tmp_id, "tmp", ir::Storage::registers, false);
  buffer(work_id, "work", ir::Storage::workspace, false);
  k.buffers[work_id].elements = n;
  k.buffers[work_id].offset = ir::index(0);
  const Expr lanes = ir::ramp(first_address, ir::index(1), 8), low = ir::ramp(ir::index(0), ir::index(1), 8);
  const Expr mask = ir::lt(lanes, ir::broadcast(n, 8));
  const Expr value = ir::load(in_id, "in", f32.with_lanes(8), std::vector<Expr>{lanes, mask});
  ir::KLet let{let_id, "at", ir::mul(i, ir::index(8))};
  let.body = {store(tmp_id, low, ir::mul(value, ir::broadcast(ir::float_const(f32, 2), 8))),
              store(out_id, lanes, ir::load(tmp_id, "tmp", f32.with_lanes(8), std::vector<Expr>{low}), mask)};
  ir::KFor loop{i_id, "i", ir::index(0), ir::ceil_div(n, ir::index(8)), ir::LoopKind::parallel};
  loop.body = {{{}, let}};
  k.body = {{{}, loop}};
  return k;
}

using KBreak = std::function<void(ir::Kernel&)>;

const std::map<std::string, KBreak>& kernel_breaks() {
  const auto loop = [](ir::Kernel& k) -> ir::KFor& { return k.body[0].get<ir::KFor>(); };
  const auto let = [=](ir::Kernel& k) -> ir::KLet& { return loop(k).body[0].get<ir::KLet>(); };
  const auto first_store = [=](ir::Kernel& k) -> ir::KStore& { return let(k).body[0].get<ir::KStore>(); };
  const auto last_store = [=](ir::Kernel& k) -> ir::KStore& { return let(k).body[1].get<ir::KStore>(); };
  static const std::map<std::string, KBreak> table{
      {"vars.defined", [=](ir::Kernel& k) { k.body.push_back({{}, let(k)}); }},  // uses i outside its loop
      {"vars.unique", [=](ir::Kernel& k) { let(k).var = i_id; }},
      {"types.operands",
       [=](ir::Kernel& k) {
         let(k).value = ir::make(ir::Op::add, ir::index_type, std::vector<Expr>{ir::index(1), ir::boolean(true)});
       }},
      {"types.vars", [=](ir::Kernel& k) { let(k).value = ir::cast(ir::index_type, ir::var(i_id, "i", i32)); }},
      {"buffers.exist", [=](ir::Kernel& k) { last_store(k).buffer = 99; }},
      {"load.shape",
       [=](ir::Kernel& k) { last_store(k).value = ir::load(in_id, "in", f32.with_lanes(8), std::vector<Expr>{ir::index(0)}); }},
      {"load.mask",
       [=](ir::Kernel& k) {
         const Expr& at = last_store(k).address;
         last_store(k).value = ir::load(in_id, "in", f32.with_lanes(8), std::vector<Expr>{at, ir::boolean(true)});
       }},
      {"store.type", [=](ir::Kernel& k) { last_store(k).value = ir::float_const(f32, 0); }},
      {"store.mask", [=](ir::Kernel& k) { last_store(k).mask = ir::boolean(true); }},
      {"store.output", [=](ir::Kernel& k) { last_store(k).buffer = in_id; }},
      {"store.atomic", [=](ir::Kernel& k) { last_store(k).atomic = ir::Op::sub; }},
      {"loop.bounds", [=](ir::Kernel& k) { loop(k).extent = ir::int_const(i32, 4); }},
      {"loop.kinds", [=](ir::Kernel& k) { loop(k).kind = ir::LoopKind::vectorized; }},
      {"loop.parallel",
       [=](ir::Kernel& k) {
         ir::KFor inner = loop(k);
         inner.var = 50;
         inner.body.clear();
         loop(k).body.push_back({{}, inner});
       }},
      {"branch.scalar",
       [=](ir::Kernel& k) {
         const ir::KIf branch{last_store(k).mask, let(k).body};
         let(k).body = {{{}, branch}};
       }},
      {"prefetch.shape", [=](ir::Kernel& k) { let(k).body.push_back({{}, ir::KPrefetch{in_id, last_store(k).address}}); }},
      {"storage.elements", [=](ir::Kernel& k) { k.buffers[tmp_id].elements = ir::var(n_id, "N"); }},
      {"storage.offset", [=](ir::Kernel& k) { k.buffers[work_id].offset = {}; }},
      {"storage.constant", [=](ir::Kernel& k) { first_store(k).address = last_store(k).address; }},
  };
  return table;
}

// What lowering knows, broken; each with the text that says so.
struct FactBreak {
  KernelForm form;
  std::function<void(ir::Kernel&)> change;
  std::string text;
};
std::vector<FactBreak> fact_breaks() {
  const auto draft = KernelForm::draft, finished = KernelForm::finished;
  const auto loop = [](ir::Kernel& k) -> ir::KFor& { return k.body[0].get<ir::KFor>(); };
  const auto let = [=](ir::Kernel& k) -> ir::KLet& { return loop(k).body[0].get<ir::KLet>(); };
  const auto facts = [](ir::Kernel& k, Id buffer) -> ir::BufferFacts& { return k.buffers.at(buffer).lowering.made(); };
  const auto combination = [=](ir::Kernel& k) -> ir::Combination& {
    facts(k, tmp_id).part = ir::PartFacts{ir::float_const(f32, 0), {i_id}};
    return facts(k, work_id).combination.emplace(ir::Combination{"sum", {}, {tmp_id}, {work_id}, {gpu::thread_x}});
  };
  const std::string left = "facts.left: a finished kernel has nothing left of what lowering knew; found: ";
  const std::string nest = "facts.nest: statements of one nest stand together at the root, and nowhere else; found: ";
  const std::string ring =
      "facts.ring: a ring has two copies or more of every buffer that its loads write, each a buffer of the kernel with room "
      "for "
      "them; found: loop i";
  const std::string parts =
      "facts.parts: a part lies in registers or on the stack, and starts from a value of its type; found: ";
  const std::string all =
      "facts.combination: a combination has a part and a result for each component, this buffer the first, and axes of "
      "threads; "
      "found: work";
  return {
      {finished, [=](ir::Kernel& k) { facts(k, tmp_id); }, left + "tmp"},
      {finished, [=](ir::Kernel& k) { k.body[0].nest = 9; }, left + "nest 9"},
      {finished, [=](ir::Kernel& k) { loop(k).ring = ir::Ring{2, {{tmp_id, 4}}, false, {}}; }, left + "the ring of loop i"},
      {finished, [=](ir::Kernel& k) { let(k).body[0].get<ir::KStore>().group = 9; }, left + "the group of a store to tmp"},
      {draft,
       [=](ir::Kernel& k) {
         const ir::KStmt store = let(k).body[0];
         k.body[0].nest = 9;
         for (const Id other : {Id{10}, Id{9}}) k.body.push_back(store), k.body.back().nest = other;
       },
       nest + "nest 9 in two places"},
      {draft, [=](ir::Kernel& k) { loop(k).body[0].nest = 9; }, nest + "nest 9 inside"},
      {draft, [=](ir::Kernel& k) { loop(k).ring = ir::Ring{1, {{tmp_id, 4}}, false, {}}; }, ring},
      {draft, [=](ir::Kernel& k) { loop(k).ring = ir::Ring{2, {{tmp_id, 5}}, false, {}}; }, ring},
      {draft, [=](ir::Kernel& k) { loop(k).ring = ir::Ring{2, {{77, 4}}, false, {}}; }, ring},
      {draft, [=](ir::Kernel& k) { let(k).body[1].get<ir::KStore>().group = 100; },
       "facts.group: the group of a store is an id that the kernel has given; found: 100 of a store to out"},
      {draft, [=](ir::Kernel& k) { facts(k, out_id).points = {i_id}; },
       "facts.places: a buffer whose points are chosen shares places; found: out"},
      {draft, [=](ir::Kernel& k) { facts(k, work_id).fragment = true; },
       "facts.fragment: a fragment lies in registers; found: work"},
      {draft, [=](ir::Kernel& k) { facts(k, work_id).part = ir::PartFacts{ir::float_const(f32, 0), {}}; }, parts + "work"},
      {draft, [=](ir::Kernel& k) { facts(k, tmp_id).part = ir::PartFacts{ir::index(0), {}}; }, parts + "tmp"},
      {draft, [=](ir::Kernel& k) { combination(k).axes.clear(); }, all},
      {draft, [=](ir::Kernel& k) { combination(k).all = {tmp_id}; }, all},
      {draft, [=](ir::Kernel& k) { combination(k).part = {out_id}; }, all},
      {draft, [=](ir::Kernel& k) { facts(k, tmp_id).slots.emplace(ir::index(1), ir::index(0)); },
       "facts.slots: slots are those of a buffer in shared memory: an index for each index; found: tmp"},
      {draft, [](ir::Kernel& k) { k.next_id = let_id; },
       "ids.given: buffers, variables and tensor maps have ids that the kernel has given; found: work of 7, where the next id "
       "is 6"},
  };
}

}  // namespace

TEST_CASE("programs pass as they are built") {
  Program p = example();
  CHECK_NOTHROW(verify(p));
}

TEST_CASE("every rule for programs is broken by a program made for it, and reported by name") {
  std::set<std::string> known;
  for (const VerifierRule& r : program_rules()) {
    known.insert(r.name);
    const auto it = program_breaks().find(r.name);
    INFO("rule " << r.name);
    REQUIRE(it != program_breaks().end());
    Program p = example();
    it->second(p);
    CHECK(violated([&] { verify(p); }) == r.name);
  }
  for (const auto& [name, unused] : program_breaks()) CHECK(known.count(name) == 1);
}

TEST_CASE("what an attribute refers to stands where it has to") {
  const struct {
    Break attribute;
    const char* found;
  } cases[] = {
      {[](Program& p) { first<NestStmt>(p, "C").after = stage_named(p, "P").id; }, "nest C outside of P"},
      {[](Program& p) { loop_over(p, "i").to = ir::index(1); }, "loop i to a cut that its part has not"},
      {[](Program& p) { loop_over(p, "i").part = ir::Part::above; }, "loop i without the cut that it runs from"},
      {[](Program& p) { loop_over(p, "i").part = ir::Part::below; }, "loop i without the cut that it runs to"},
      {[](Program& p) { loop_over(p, "i").part = ir::Part::full; }, "loop i over whole tiles, where no split made any"},
      {[](Program& p) { loop_over(p, "i").tight = true; }, "loop i is tight, and neither the inner loop of a split"},
      {[](Program& p) { loop_over(p, "i").bound_to = gpu::thread_x; }, "loop i names thread_x and is not bound"},
      {[](Program& p) { loop_over(p, "i").combines = true; }, "loop i is not a loop of a reduction"},
      {[](Program& p) { loop_over(p, "k").combines = true, loop_over(p, "k").kind = ir::LoopKind::vthread; },
       "loop k is neither bound nor about to be"},
      {[](Program& p) { loop_over(p, "i").intrinsic = 9999; }, "loop i names an intrinsic and is not tensorized"},
      {[](Program& p) { loop_over(p, "i").kind = ir::LoopKind::tensorized; }, "loop i without an intrinsic"},
      {[](Program& p) { loop_over(p, "i").kind = ir::LoopKind::tensorized, loop_over(p, "i").intrinsic = 9999; },
       "loop i by an intrinsic that the program has not"},
      {[](Program& p) { loop_over(p, "i").pipeline = ir::Pipeline{.stages = 1}; }, "loop i of 1 stages"},
      {[](Program& p) { loop_over(p, "i").pipeline = ir::Pipeline{.stages = 2}; }, "loop i without loads"},
      {[](Program& p) { loop_over(p, "i").pipeline = ir::Pipeline{.stages = 2, .loads = {9999}}; },
       "loop i of a stage that does not exist"},
      {[](Program& p) { loop_over(p, "i").pipeline = ir::Pipeline{.stages = 2, .loads = {stage_named(p, "P").id}}; },
       "loop i of P, which is not computed in it"},
      {[](Program& p) {
         LoopStmt& i = loop_over(p, "i");
         i.kind = ir::LoopKind::parallel, i.pipeline = ir::Pipeline{.stages = 2, .loads = {stage_named(p, "P").id}};
       },
       "loop i is not serial"},
      {[](Program& p) { first<BlockStmt>(p, "P").first_stores = true; }, "block P stores first, and is not a reduction"},
      {[](Program& p) { first<BlockStmt>(p, "P").stores = ir::Stores::whole; },
       "block P stores components apart, none of which drops a dimension"},
      {[](Program& p) {
         NestStmt& nest = first<NestStmt>(p, "C");
         nest.slides.push_back({9999, p.stage(nest.stage).iters[0].id, {}});
       },
       "nest C along a loop that is not around it, or not serial"},
      {[](Program& p) { put_prefetch(p, p.body, loop_statement(p, "i").id, 1); },
       "prefetch A along a loop that is not around it"},
      {[](Program& p) { put_prefetch(p, loop_over(p, "k").body, loop_statement(p, "i").id, 0); },
       "prefetch A ahead by 0 iterations"},
  };
  for (const auto& c : cases) {
    Program p = example();
    c.attribute(p);
    std::string found;
    try {
      verify(p);
    } catch (const InternalError& e) { found = e.what(); }
    INFO(c.found);
    CHECK(found.find(std::string("; found: ") + c.found) != std::string::npos);
  }
}

TEST_CASE("peeled loops cover their axis once") {
  Program p = example();
  Stmt& i = loop_statement(p, "i");
  NestStmt& nest = first<NestStmt>(p, "C");
  Stmt copy = i;
  const std::function<void(Stmt&)> renumber = [&](Stmt& s) {
    s.id = p.fresh();
    if (s.has_body())
      for (Stmt& b : s.body()) renumber(b);
  };
  renumber(copy);
  i.get<LoopStmt>().part = ir::Part::but_last;
  copy.get<LoopStmt>().part = ir::Part::last;
  nest.body.push_back(copy);
  CHECK_NOTHROW(verify(p));
  first<NestStmt>(p, "C").body.back().get<LoopStmt>().part = ir::Part::all;  // the last iteration is computed twice
  CHECK(violated([&] { verify(p); }) == "block.cover");
}

TEST_CASE("a violation names the step that made it, the rule and what broke it") {
  Program p = example();
  loop_over(p, "k").kind = ir::LoopKind::parallel;
  try {
    verify(p, "parallel");
    FAIL("passed");
  } catch (const InternalError& e) {
    CHECK(std::string(e.what()) ==
          "internal error: after parallel: loop.reduction: reduction loops are neither parallel nor vectorized, but those of a "
          "scatter, and parallel ones of an atomic stage; found: loop k");
  }
}

TEST_CASE("a finished kernel passes") {
  CHECK_NOTHROW(verify(kernel()));
  ir::Kernel draft = kernel();
  draft.body[0].get<ir::KFor>().kind = ir::LoopKind::unrolled;
  CHECK_NOTHROW(verify(draft, KernelForm::draft));
}

TEST_CASE("what lowering knows is checked between passes, and nothing of it is left at the end") {
  std::set<std::string> broken;
  for (const FactBreak& b : fact_breaks()) {
    CAPTURE(b.text);
    ir::Kernel k = kernel();
    b.change(k);
    std::string found;
    try {
      verify(k, b.form);
    } catch (const InternalError& e) { found = e.what(); }
    CHECK(found == "internal error: " + b.text);
    broken.insert(b.text.substr(0, b.text.find(':')));
  }
  for (const VerifierRule& r : kernel_rules())
    if (const std::string name = r.name; name.starts_with("facts.") || name.starts_with("ids.")) CHECK(broken.count(name) == 1);
}

TEST_CASE("good facts pass between passes, and are printed where they are asked for") {
  ir::Kernel k = kernel();
  ir::KFor& loop = k.body[0].get<ir::KFor>();
  k.body[0].nest = 9;
  loop.ring = ir::Ring{2, {{tmp_id, 4}}, true, {}};
  loop.body[0].get<ir::KLet>().body[0].get<ir::KStore>().group = 8;
  ir::BufferFacts& parts = k.buffers.at(tmp_id).lowering.made();
  parts.part = ir::PartFacts{ir::float_const(f32, 0), {i_id}};
  parts.fragment = true;
  ir::BufferFacts& all = k.buffers.at(work_id).lowering.made();
  all.combination = ir::Combination{"sum", {}, {tmp_id}, {work_id}, {gpu::thread_x}};
  all.shares_places = all.recurrent = true;
  all.points = {i_id};
  CHECK_NOTHROW(verify(k, KernelForm::draft));
  const std::string text = ir::text_with_facts(k), plain = ir::text(k);
  for (const char* line : {"registers tmp: f32[8]  (a fragment, parts that start from 0.0, shared out by loops 5)",
                           "(of a recurrence, points share places, points by loops 5, work from tmp over thread_x)",
                           "  of nest 9  in a ring of 2, by asynchronous copies: tmp[4]", "  of group 8"}) {
    CAPTURE(text);
    CHECK(text.find(line) != std::string::npos);
    CHECK(plain.find(line) == std::string::npos);
  }
  k.body[0].nest = 0, loop.ring.reset(), loop.body[0].get<ir::KLet>().body[0].get<ir::KStore>().group = 0;
  for (auto& [id, b] : k.buffers) b.lowering.reset();
  CHECK_NOTHROW(verify(k));
  CHECK(ir::text_with_facts(k) == plain);
}

TEST_CASE("every rule for kernels is broken by a kernel made for it, and reported by name") {
  std::size_t named = 0;
  for (const VerifierRule& r : kernel_rules()) {
    if (const std::string name = r.name; name.starts_with("facts.") || name.starts_with("ids.")) continue;  // by text, above
    ++named;
    const auto it = kernel_breaks().find(r.name);
    INFO("rule " << r.name);
    REQUIRE(it != kernel_breaks().end());
    ir::Kernel k = kernel();
    it->second(k);
    CHECK(violated([&] { verify(k); }) == r.name);
  }
  CHECK(kernel_breaks().size() == named);
}
