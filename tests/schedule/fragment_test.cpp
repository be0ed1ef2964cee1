// Fragments: what they refuse, when the schedule is complete, at the line of the step that is concerned; double_buffer.
#include "on_device.h"
#include "tests/golden.h"
#include "tests/support/gpu_operators.h"
#include "tests/support/mma_operators.h"

using namespace ashlar;
using test::outcome;

namespace {

// to = from * 2 over a tile of 16 x 8; `turned`: with the rows' and columns' lanes exchanged
struct How {
  bool turned = false;
  int lanes = 32;
  Type type = f32;
  Backend back_end = Backend::ptx;
  const char* needs = "sm_80";
  Scope from = Scope::fragment;
};
Intrinsic twice(How how = {}) {
  return intrinsic("twice", [&](Meaning& m) {
    Tensor from = m.read("from", how.type, {16, 8}, how.from), to = m.write("to", how.type, {16, 8}, Scope::fragment);
    m.means(to, [&](Var i, Var j) { return from(i, j) * 2; });
    for (Tensor t : {from, to}) {
      if (t.name() == std::string("from") && !(how.from == Scope::fragment)) continue;
      if (how.lanes == 8)
        m.holds(t, 8, [](Var i, Var j) { return held(j, i); });
      else if (how.turned)
        m.holds(t, 32, [](Var i, Var j) { return held(i + j % 2 * 16, j / 2); });
      else
        m.holds(t, 32, [](Var i, Var j) { return held(i % 8 * 4 + j / 2, j % 2 + i / 8 * 2); });
    }
    m.emit(how.back_end, how.from == Scope::fragment ? "twice {to}, {from};" : "twice {to}, {from.ptr};");
    m.needs(how.needs);
  });
}

// y = b, b = 2 a, a = 2 x, columns of 8 elements; `read` says what y reads of b
struct Chain {
  lang::DefinitionScope scope;
  Symbol M{"M", {.multiple_of = 32}};
  Type type;
  Tensor x = lang::make_input("x", type, {M, 8}), y = lang::make_output("y", type, {M, 8});
  Tensor a = compute("a", {M, 8}, [&](Var i, Var j) { return x(i, j) * 2; });
  Tensor b = compute("b", {M, 8}, [&](Var i, Var j) { return a(i, j) * 2; });
  lang::Built built;
  Schedule s;
  Stage held;  // x in fragments
  Loop rows, ti, tj;
  template <class F>
  Chain(const F& read, Type t = f32, int tile = 16)
      : type(t),
        built((lang::bind(y, compute("result", {M, 8}, [&](Var i, Var j) { return read(b, i, j); })),
               lang::build_program("chain", {x, y}))),
        s(built, Target::parse("cuda-sm_80")),
        held(s.cache_read(x, {a}, Scope::fragment)) {
    auto [i, j] = s[y].spatial<2>();
    auto [io, ii] = s[y].split(i, tile, Tail::exact);
    s[y].bind(io, gpu::block_x);
    rows = io, ti = ii, tj = j;
    for (Stage t2 : {s[b], s[a]}) t2.store_in(Scope::fragment).compute_at(io);
    held.compute_at(io);
  }
  Chain() : Chain([](const Tensor& t, Var i, Var j) { return t(i, j); }) {}
  void both() { s[a].tensorize(s[a].spatial<2>()[0], twice()), s[b].tensorize(s[b].spatial<2>()[0], twice()); }
  std::string finished() const {
    return outcome([&] { schedule::finish(s.scheduled(), s.target()); });
  }
};

struct Text {
  std::string text;
  void operator()(const char* what, const std::string& found) { text += std::string(what) + "\n  " + found + "\n"; }
};

}  // namespace

TEST_CASE("fragments are held as their intrinsics say, and refused where they cannot be") {
  Text add;
  {
    Chain c;
    c.both();
    add("as it should be", c.finished());
  }
  for (const char* target : {"x86-64-v3", "vulkan"}) {
    test::Product p;
    Schedule s(p.built, Target::parse(target));
    add(target, outcome([&] { s[p.product].store_in(Scope::fragment); }));
    add("by cache_write", outcome([&] { s.cache_write(p.product, Scope::fragment); }));
    add("by cache_read", outcome([&] { s.cache_read(p.A, {p.product}, Scope::fragment); }));
  }
  {
    Chain c;
    add("nothing says who holds them", c.finished());
    c.s[c.a].tensorize(c.s[c.a].spatial<2>()[0], twice());
    add("of one of them", c.finished());
    c.s[c.b].tensorize(c.s[c.b].spatial<2>()[0], twice({.turned = true}));
    add("two say it differently", c.finished());
  }
  {
    Chain c([](const Tensor& t, Var i, Var j) { return t(i, 7 - j); });
    c.both();
    add("another lane's element", c.finished());
  }
  {
    Chain c([](const Tensor& t, Var i, Var j) { return t(i, j) + t(i / 16 * 16 + (i + 8) % 16, j); });
    c.both();
    add("an index that jumps", c.finished());
  }
  {
    Chain c;
    c.both();
    c.s[c.y].bind(c.ti, gpu::lane);
    add("lanes bound by the user", c.finished());
  }
  {
    Chain c;
    c.both();
    c.s[c.y].bind(c.ti, gpu::thread_x);
    add("threads that are no warps", c.finished());
  }
  {
    Chain c;
    c.both();
    c.s[c.y].vectorize(c.tj);
    add("a kind", c.finished());
  }
  {
    Chain c;
    c.s[c.a].tensorize(c.s[c.a].spatial<2>()[0], twice());
    c.s[c.b].store_in(Scope::registers);
    add("registers of one lane", c.finished());
  }
  {
    Chain c([](const Tensor& t, Var i, Var j) { return t(i, j); }, f32, 32);
    for (Tensor t : {c.a, c.b}) {
      auto [o, i] = c.s[t].split(c.s[t].spatial<2>()[0], 16, Tail::exact);
      c.s[t].tensorize(i, twice());
      (void)o;
    }
    auto [w, i] = c.s[c.y].split(c.ti, 16, Tail::exact);
    add("two tiles", c.finished());
    c.s[c.y].bind(w, gpu::warp);
    add("storage of all warps", c.finished());
    (void)i;
  }
  {
    Chain c;
    c.s[c.y].split(c.ti, 12);
    c.both();
    add("loops that take no tile", c.finished());
  }
  {  // sums of rows that four lanes hold
    lang::DefinitionScope scope;
    Symbol M{"M", {.multiple_of = 16}};
    Axis k{"k", 8};
    Tensor x = lang::make_input("x", f32, {M, 8}), y = lang::make_output("y", f32, {M});
    Tensor a = compute("a", {M, 8}, [&](Var i, Var j) { return x(i, j) * 2; });
    lang::bind(y, compute("sums", {M}, [&](Var i) { return sum(a(i, k), k); }));
    Schedule s(lang::build_program("sums", {x, y}), Target::parse("cuda-sm_80"));
    auto [io, ii] = s[y].split(s[y].spatial<1>()[0], 16, Tail::exact);
    s[y].bind(io, gpu::block_x);
    Stage from = s.cache_read(x, {a}, Scope::fragment);
    s[a].store_in(Scope::fragment).compute_at(io);
    from.compute_at(io);
    s[a].tensorize(s[a].spatial<2>()[0], twice());
    add("a reduction over lanes", outcome([&] { schedule::finish(s.scheduled(), s.target()); }));
    (void)ii;
  }
  {
    mma_operators::Product p(Target::parse("cuda-sm_80"), {.tile_m = 512, .tile_n = 512, .warp_m = 256, .warp_n = 256});
    add("more than the registers of a lane", outcome([&] { schedule::finish(p.s.scheduled(), p.s.target()); }));
  }
  CHECK(golden("schedule/golden/fragments.txt", add.text) == "");
}

TEST_CASE("tensorize on CUDA is refused at its line") {
  Text add;
  const auto tensorized = [](Chain& c, const How& how) {
    return outcome([&] { c.s[c.a].tensorize(c.s[c.a].spatial<2>()[0], twice(how)); });
  };
  {
    Chain c;
    add("a text for another back end", tensorized(c, {.back_end = Backend::llvm}));
    add("what this chip has not", tensorized(c, {.needs = "sm_90a"}));
    add("eight lanes", tensorized(c, {.lanes = 8}));
    add("an operand in memory", tensorized(c, {.from = Scope::global}));
    c.held.store_in(Scope::shared);
    add("an operand that lies elsewhere", tensorized(c, {}));
  }
  {
    Chain c([](const Tensor& t, Var i, Var j) { return t(i, j); }, f64);
    add("wide elements", tensorized(c, {.type = f64}));
  }
  CHECK(golden("schedule/golden/fragment_tensorize.txt", add.text) == "");
}

TEST_CASE("addresses of lanes: runs of neighbors in shared memory") {
  Text add;
  const auto load = [](int run, Scope scope, bool twice_said) {
    return intrinsic("load", [&](Meaning& m) {
      Tensor rows = m.read("rows", f32, {16, 8}, scope), to = m.write("to", f32, {16, 8}, Scope::fragment);
      m.means(to, [&](Var i, Var j) { return rows(i, j); });
      m.holds(to, 32, [](Var i, Var j) { return held(i % 8 * 4 + j / 2, j % 2 + i / 8 * 2); });
      if (run == 4) m.address(rows, 32, [](Var i, Var j) { return held(i * 2 + j / 4, j % 4); });
      if (run == 8) m.address(rows, 32, [](Var i, Var j) { return held(i, j); });
      if (run == 1) m.address(rows, 32, [](Var i, Var j) { return held(j, i); });
      if (run == 3) m.address(rows, 32, [](Var i, Var j) { return held(i + 1, j); });
      if (run == 2) m.address(rows, 32, [](Var i, Var) { return held(i, 0); });
      if (twice_said) m.holds(rows, 32, [](Var i, Var j) { return held(i, j); });
      m.emit(Backend::ptx, "load {to}, [{rows.ptr}];");
      m.needs("sm_80");
    });
  };
  add("of a tile in global memory", outcome([&] { load(4, Scope::global, false); }));
  add("two elements at one place", outcome([&] { load(2, Scope::shared, false); }));
  add("not from the first lane on", outcome([&] { load(3, Scope::shared, false); }));
  add("said twice", outcome([&] { load(4, Scope::shared, true); }));
  const auto copied = [&](int run, int granule) {
    Chain c;
    Stage shared = c.s.cache_read(c.x, {c.held}, Scope::shared);
    shared.compute_at(c.rows);
    if (granule > 0) shared.swizzle([&](Var i, Var j) { return at(i, j ^ (i % 2 * granule)); });
    auto [i, j] = shared.spatial<2>();
    shared.bind(shared.fuse(i, j), gpu::threads);
    c.both();
    return outcome([&] { c.held.tensorize(c.held.spatial<2>()[0], load(run, Scope::shared, false)); }) + "; " + c.finished();
  };
  add("runs of 8", copied(8, 0));
  add("runs of 4, permuted as a whole", copied(4, 4));
  add("runs of 8, permuted inside", copied(8, 4));
  add("columns", copied(1, 0));
  CHECK(golden("schedule/golden/fragment_addresses.txt", add.text) == "");
}

TEST_CASE("double_buffer is a pipeline of two stages, and is refused where that is not one") {
  Text add;
  {
    test::Product p;
    add("a processor", outcome([&] { p.s[p.product].double_buffer(); }));
  }
  gpu_operators::Product p(Target::parse("cuda-sm_80"));
  Stage acc = p.s[p.product];
  add("a stage at the root", outcome([&] { acc.double_buffer(); }));
  const auto product = [](int stages) { return mma_operators::Product(Target::parse("cuda-sm_80"), {.stages = stages}); };
  mma_operators::Product two = product(2);
  CHECK(two.s.text().find("pipeline of 2: A_cache B_cache") != std::string::npos);
  Schedule replayed(two.built, two.s.target());
  replayed.replay(two.s.json());
  CHECK(replayed.text() == two.s.text());
  CHECK(golden("schedule/golden/double_buffer.txt", add.text) == "");
}

TEST_CASE("a fragment has no layout of its own (seed 3180)") {
  Chain c;
  c.both();
  CHECK(outcome([&] {
          c.s[c.a].transform_layout([](Var i, Var j) { return at(j, i); });
        }).find("transform_layout: expected a fragment without a layout of its own") != std::string::npos);
  CHECK(outcome([&] { c.s[c.a].align(1, 16); }).find("align: expected a fragment without a layout of its own") !=
        std::string::npos);
}
