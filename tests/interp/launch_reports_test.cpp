// What the interpreter says of a wrong launch: the kind of error, and the text with its statements' lines, here by name.
#include <doctest/doctest.h>

#include <map>

#include <ashlar/interp/interpreter.h>

#include "tests/interp/launch_builder.h"

using namespace launches;
using interp::Array;
using interp::RunError;
using ir::Completion;
using Kind = RunError::Kind;

namespace {

std::map<unsigned, std::string> named_lines;

Where here(const std::string& name, Where w = Where::current()) {
  named_lines[w.line()] = name;
  return w;
}

struct Report {
  Kind kind = Kind::arguments;
  std::string text = "nothing was reported";
};

// A launch of `threads` threads, in one block unless told otherwise, over out[1024]; with two barriers, 64 floats of shared
// memory that a tensor map can carry, and a register.
struct Small {
  Builder b{"small"};
  Id in = b.input("in", f32, {num(64)}), out = b.output("out", f32, {num(1024)});
  Id tile = b.shared("tile", f32, 64, 0), bar = b.barriers("bar", 2, 256), r = b.registers("r", f32, 64);
  Id map = b.tensor_map("map", in, {num(64)}, {num(1)}, {64}, 0);
  Id out_map = b.tensor_map("out_map", out, {num(1024)}, {num(1)}, {64}, 0);
  const ir::Intrinsic& load = b.intrinsic(ir::tma_load(f32));
  const ir::Intrinsic& save = b.intrinsic(ir::tma_store(f32));
  Expr thread, block;

  void init(Where where) {  // bar[0] for one arrival
    b.when(below(thread, 1), [&] {
      b.init(bar, num(0), 1, where);
      b.fence({}, Sync::Kind::fence_init);
    });
    b.block_barrier({});
  }
  void fetch(Where where) { b.call(load, {{tile, num(0)}, {map, std::vector<Expr>{num(0)}}, {bar, num(0)}}, where); }
  void put(Where where) { b.call(save, {{out_map, std::vector<Expr>{num(0)}}, {tile, num(0)}}, where); }
  void elected(const std::function<void()>& body) { b.when(below(thread, 1), body); }

  Report run(std::int64_t threads, const std::function<void()>& body, bool races = true, std::int64_t blocks = 1) {
    b.launch(num(blocks), threads, 272, [&](const Expr& x, const Expr& t) {
      block = x;
      thread = t;
      body();
    });
    interp::Arguments args{Array::zeros(f32, {64}), Array::zeros(f32, {1024})};
    interp::Options o;
    o.races = races;
    try {
      interp::run(b.k, args, o);
    } catch (const RunError& e) {
      std::string text = e.what();
      for (const auto& [line, name] : named_lines) {
        const std::string found = "launch_reports_test.cpp:" + std::to_string(line);
        for (std::size_t at; (at = text.find(found)) != std::string::npos;) text.replace(at, found.size(), "<" + name + ">");
      }
      const std::string prefix = "kernel `small`, launch `small`";
      if (text.rfind(prefix, 0) == 0) text = text.substr(prefix.size());
      return {e.kind, text};
    }
    return {};
  }
};

void says(const Report& r, Kind kind, const std::string& text) {
  CHECK(r.text == text);
  CHECK(r.kind == kind);
}

}  // namespace

TEST_CASE("a deadlock names every waiting group and what it waits for") {
  Small s;
  says(s.run(64,
             [&] {
               s.init(here("init"));
               s.elected([&] {
                 s.b.expect({}, s.bar, num(0), num(272), here("expect"));
                 s.fetch(here("load"));
               });
               s.b.wait({}, s.bar, num(0), num(0), here("wait"));
             }),
       Kind::deadlock,
       ": nobody can run; block (0, 0, 0), thread 0 to 63 at <wait>: waits for parity 0 of bar[0], which is in phase 0 with 0 "
       "of "
       "1 arrivals and 272 bytes pending, 256 bytes on their way");
  Small t;
  says(t.run(64,
             [&] {
               t.b.either(
                   below(t.thread, 32), [&] { t.b.named({}, num(1), 64, here("named")); },
                   [&] { t.b.block_barrier({}, here("barrier")); });
             }),
       Kind::deadlock,
       ": nobody can run; block (0, 0, 0), thread 0 to 31 at <named>: waits at barrier 1, where 32 of 64 threads have arrived; "
       "block (0, 0, 0), thread 32 to 63 at <barrier>: waits for the rest of its group of 64");
}

TEST_CASE("a barrier of the warp orders its lanes, not those of other warps") {
  const auto neighbors = [](std::int64_t apart, bool of_block) {
    Small s;
    return s.run(64, [&] {
      s.b.store(s.tile, s.thread, ir::cast(f32, s.thread));
      s.b.block_barrier({});
      s.b.store(s.r, num(0), s.b.at(s.tile, (s.thread + apart) % 64), here("read"));
      if (of_block)
        s.b.block_barrier({});
      else
        s.b.warp_barrier({});
      s.b.store(s.tile, s.thread, s.b.at(s.r, num(0)), here("write"));
      s.b.loop("i", num(16), [&](const Expr& i) { s.b.store(s.out, i * 64 + s.thread, s.b.at(s.tile, s.thread)); });
    });
  };
  CHECK(neighbors(0, false).text == "nothing was reported");
  CHECK(neighbors(1, true).text == "nothing was reported");
  const Report r = neighbors(1, false);
  CHECK(r.kind == Kind::race);
  CAPTURE(r.text);
  CHECK(r.text.find("<write>") != std::string::npos);
  CHECK(r.text.find("<read>") != std::string::npos);
}

TEST_CASE("threads of one group at different statements, or in different iterations") {
  Small s;
  says(s.run(32,
             [&] {
               s.b.either(
                   below(s.thread, 16), [&] { s.b.warp_barrier({}, here("one")); },
                   [&] { s.b.warp_barrier({}, here("other")); });
             }),
       Kind::divergence,
       ": nobody can run; block (0, 0, 0), thread 0 to 15 at <one>: waits for the rest of its group of 32; block (0, 0, 0), "
       "thread 16 to 31 at <other>: waits for the rest of its group of 32");
  Small t;
  says(t.run(32,
             [&] {
               t.b.loop("i", num(2), [&](const Expr& i) {
                 t.b.when(ir::logic_or(below(t.thread, 16), ir::eq(i, num(1))), [&] { t.b.warp_barrier({}, here("meet")); });
               });
             }),
       Kind::divergence,
       ", block (0, 0, 0), thread 31 at <meet>: block (0, 0, 0), thread 0 and block (0, 0, 0), thread 31 meet in iterations 0 "
       "and "
       "1 of i");
}

TEST_CASE("races: nothing orders two accesses, or no fence between proxies does") {
  Small s;
  says(s.run(64,
             [&] {
               s.b.store(s.tile, s.thread, ir::float_const(f32, 1), here("store"));
               s.b.store(s.out, s.thread, s.b.at(s.tile, num(63) - s.thread), here("read"));
             }),
       Kind::uninitialized, ", block (0, 0, 0), thread 0 at <read>: reads tile[63], which was not written");
  Small t;
  says(t.run(64,
             [&] {
               t.b.store(t.tile, t.thread, ir::float_const(f32, 1), here("store"));
               t.b.store(t.out, t.thread, t.b.at(t.tile, ir::max(t.thread - 1, num(0))), here("read"));
             }),
       Kind::race,
       ", block (0, 0, 0), thread 1 at <read>: reads tile[0], which block (0, 0, 0), thread 0 wrote at <store>: nothing orders "
       "them");
  Small u;
  says(u.run(64,
             [&] {
               u.b.store(u.tile, u.thread, ir::float_const(f32, 1), here("store"));
               u.b.block_barrier({});
               u.elected([&] {
                 u.b.fence({}, Sync::Kind::fence_proxy);  // too late for what others wrote
                 u.put(here("save"));
               });
             }),
       Kind::race,
       ", block (0, 0, 0), thread 0 at <save>: asynchronously reads tile[1], which block (0, 0, 0), thread 1 wrote at <store>: "
       "no "
       "fence between proxies orders them");
  Small v;
  says(v.run(
           32, [&] { v.b.store(v.out, v.thread + v.block * 31, ir::float_const(f32, 1), here("store")); }, true, 2),
       Kind::race,
       ", block (1, 0, 0), thread 0 at <store>: writes out[31], which a thread of another cluster wrote at <store>: nothing "
       "orders "
       "them");
}

TEST_CASE("what is in flight is neither read nor written, races looked for or not") {
  for (bool races : {false, true}) {
    Small s;
    says(s.run(
             32,
             [&] {
               s.init(here("init"));
               s.elected([&] {
                 s.b.expect({}, s.bar, num(0), num(256), here("expect"));
                 s.fetch(here("load"));
                 s.b.store(s.out, num(0), s.b.at(s.tile, num(5)), here("read"));
               });
             },
             races),
         races ? Kind::race : Kind::in_flight,
         races
             ? ", block (0, 0, 0), thread 0 at <read>: reads tile[5], which block (0, 0, 0), thread 0 wrote at <load>: nothing "
               "orders them"
             : ", block (0, 0, 0), thread 0 at <read>: reads tile[5], which the copy at <load> will write that has not been "
               "waited for");
  }
  Small t;
  const ir::Intrinsic& product = t.b.intrinsic(ir::wgmma(8, bf16, true));
  const Id a = t.b.registers("a", bf16, 8), acc = t.b.registers("acc", f32, 4), rows = t.b.shared("rows", bf16, 128, 0);
  const auto operands = [&](int accumulate) {
    return std::vector<Builder::Operand>{{acc, num(0)}, {a, num(0)}, {rows, num(0)}, 128, 256, 0, accumulate};
  };
  const auto prepare = [&] {
    for (std::int64_t k = 0; k < 8; ++k) t.b.store(a, num(k), ir::float_const(bf16, 1));
    t.b.store(rows, t.thread, ir::float_const(bf16, 1));
    t.b.fence({}, Sync::Kind::fence_proxy);
    t.b.block_barrier({});
  };
  SUBCASE("accumulators") {
    says(t.run(128,
               [&] {
                 prepare();
                 t.b.fence({}, Sync::Kind::fence_product);
                 t.b.call(product, operands(0), here("product"));
                 t.b.commit({}, Completion::product_group);
                 t.b.store(t.out, t.thread, t.b.at(acc, num(0)), here("read"));
               }),
         Kind::in_flight,
         ", block (0, 0, 0), thread 124 at <read>: reads acc[0], which a product will write that has not been waited for");
  }
  SUBCASE("fragments of A") {
    says(t.run(128,
               [&] {
                 prepare();
                 t.b.fence({}, Sync::Kind::fence_product);
                 t.b.call(product, operands(0), here("product"));
                 t.b.store(a, num(7), ir::float_const(bf16, 2), here("write"));
               }),
         Kind::in_flight,
         ", block (0, 0, 0), thread 125 at <write>: writes a[7], which a product uses that has not been waited for");
  }
  SUBCASE("registers that were not fenced") {
    says(t.run(128,
               [&] {
                 prepare();
                 t.b.call(product, operands(0), here("product"));
               }),
         Kind::synchronization,
         ", block (0, 0, 0), thread 0 at <product>: uses acc[0] of block (0, 0, 0), thread 0, which was accessed with no fence "
         "of "
         "products since");
  }
  SUBCASE("accumulators that were never written") {
    says(t.run(128,
               [&] {
                 prepare();
                 t.b.fence({}, Sync::Kind::fence_product);
                 t.b.call(product, operands(1), here("product"));
                 t.b.commit({}, Completion::product_group);
                 t.b.wait_group({}, Completion::product_group, 0, here("wait"));
               }),
         Kind::uninitialized, ", block (0, 0, 0), thread 127 at <product>: accumulates into acc[0], which was not written");
  }
}

TEST_CASE("barriers that are not initialized, not fenced, or arrived at too often") {
  Small s;
  says(s.run(32, [&] { s.elected([&] { s.b.arrive({}, s.bar, num(1), here("arrive")); }); }), Kind::synchronization,
       ", block (0, 0, 0), thread 0 at <arrive>: uses a barrier of bar that is not initialized");
  Small t;
  says(t.run(32,
             [&] {
               t.elected([&] {
                 t.b.init(t.bar, num(0), 1, here("init"));
                 t.fetch(here("load"));
               });
             }),
       Kind::synchronization,
       ", block (0, 0, 0), thread 0 at <load>: copies to bar[0], whose initialization at <init> was not fenced: the "
       "asynchronous "
       "proxy may not see it");
  Small u;
  says(u.run(64,
             [&] {
               u.elected([&] { u.b.init(u.bar, num(0), 64, here("init")); });
               u.b.arrive({}, u.bar, num(0), here("arrive"));
             }),
       Kind::race,
       ", block (0, 0, 0), thread 1 at <arrive>: uses a barrier of bar that block (0, 0, 0), thread 0 initialized at <init>: "
       "nothing orders them");
  Small v;
  says(v.run(32,
             [&] {
               v.init(here("init"));
               v.elected([&] {
                 v.b.expect({}, v.bar, num(0), num(256), here("expect"));
                 v.b.arrive({}, v.bar, num(0), here("arrive"));
               });
             }),
       Kind::synchronization,
       ", block (0, 0, 0), thread 0 at <arrive>: arrives once more at a barrier of bar, all of whose 1 arrivals of phase 0 are "
       "in");
}

TEST_CASE("copies that bring more than is expected, or that nobody waits for") {
  Small s;
  says(s.run(32,
             [&] {
               s.init(here("init"));
               s.elected([&] {
                 s.b.expect({}, s.bar, num(0), num(240), here("expect"));
                 s.fetch(here("load"));
                 s.b.wait({}, s.bar, num(0), num(0), here("wait"));
               });
             }),
       Kind::synchronization,
       ", block (0, 0, 0), thread 0 at <wait>: copies of 256 bytes count at bar[0], whose phase 0 expects 240");
  Small t;
  says(t.run(32,
             [&] {
               t.init(here("init"));
               t.elected([&] {
                 t.b.expect({}, t.bar, num(0), num(256), here("expect"));
                 t.fetch(here("load"));
               });
             }),
       Kind::synchronization, ": block (0, 0, 0) ends before the copy that bar[0] counts, issued at <load>");
  for (bool committed : {false, true}) {
    Small u;
    says(u.run(32,
               [&] {
                 u.elected([&] {
                   u.b.loop("i", num(64), [&](const Expr& i) { u.b.store(u.tile, i, ir::float_const(f32, 1)); });
                   u.b.fence({}, Sync::Kind::fence_proxy);
                   u.put(here("save"));
                   if (committed) u.b.commit({}, Completion::bulk_group);
                 });
               }),
         Kind::synchronization,
         std::string(", block (0, 0, 0), thread 0: ends with bulk copies that were not ") +
             (committed ? "waited for" : "committed") + ", issued at <save>");
  }
}

TEST_CASE("rounds of a named barrier agree, and arrivals without waiting count") {
  Small s;
  says(s.run(64,
             [&] {
               s.b.either(
                   below(s.thread, 32), [&] { s.b.named_arrive({}, num(3), 64, here("arrive")); },
                   [&] { s.b.named({}, num(3), 32, here("wait")); });
             }),
       Kind::synchronization,
       ", block (0, 0, 0), thread 63 at <wait>: arrives at barrier 3 of 32 threads, where others arrived at one of 64, and "
       "warps "
       "are of 32");
  Small t;  // a warp writes and arrives, another waits and reads
  says(t.run(64,
             [&] {
               t.b.loop("i", num(16), [&](const Expr& i) { t.b.store(t.out, i * 64 + t.thread, ir::float_const(f32, 0)); });
               t.b.either(
                   below(t.thread, 32),
                   [&] {
                     t.b.store(t.tile, t.thread, ir::float_const(f32, 1));
                     t.b.named_arrive({}, num(3), 64);
                   },
                   [&] {
                     t.b.named({}, num(3), 64);
                     t.b.store(t.out, t.thread, t.b.at(t.tile, t.thread - 32));
                   });
             }),
       Kind::arguments, "nothing was reported");
}

TEST_CASE("a cluster: its blocks run at once, barriers of another block are arrived at by rank") {
  for (bool ordered : {true, false}) {
    Builder b("cluster");
    const Id out = b.output("out", f32, {num(64)});
    const Id bar = b.barriers("bar", 1, 0);
    ir::Launch l;
    b.launch(num(2), 32, 8, [&](const Expr& block, const Expr& thread) {
      b.when(below(thread, 1), [&] {
        b.init(bar, num(0), 1);
        b.fence({}, Sync::Kind::fence_init);
      });
      const auto cluster = [&](Sync::Kind kind) {
        Sync s;
        s.kind = kind;
        b.add_sync(s, Where::current());
      };
      if (ordered) {
        cluster(Sync::Kind::cluster_arrive);
        cluster(Sync::Kind::cluster_wait);
      }
      b.when(below(thread, 1), [&] {
        Sync s;
        s.kind = Sync::Kind::mbarrier_arrive;
        s.buffer = bar;
        s.index = num(0);
        s.rank = num(1) - block;
        b.add_sync(s, Where::current());
      });
      b.wait({}, bar, num(0), num(0));
      b.store(out, block * 32 + thread, ir::float_const(f32, 1));
    });
    b.k.body.front().get<ir::KLaunch>().cluster[0] = num(2);
    interp::Arguments args{Array::zeros(f32, {64})};
    interp::Options o;
    o.races = true;
    if (ordered)
      CHECK_NOTHROW(interp::run(b.k, args, o));
    else
      CHECK_THROWS_WITH_AS(interp::run(b.k, args, o), doctest::Contains("uses a barrier of bar that is not initialized"),
                           RunError);
  }
}

TEST_CASE("shared buffers may overlap: whoever wrote a byte last owns it") {
  Small s;
  const Id other = s.b.shared("other", f32, 64, 0);
  says(s.run(32,
             [&] {
               s.b.store(s.tile, s.thread, ir::float_const(f32, 1));
               s.b.store(other, s.thread, ir::float_const(f32, 2));
               s.b.store(s.out, s.thread, s.b.at(s.tile, s.thread), here("read"));
             }),
       Kind::uninitialized, ", block (0, 0, 0), thread 0 at <read>: reads tile[0], whose bytes other holds");
}

TEST_CASE(
    "a source is sampled as late as the wait allows: who overwrites it before sees it in the result, and race mode says so") {
  for (bool races : {false, true}) {
    Builder b("late");
    const Id out = b.output("out", f32, {num(64)});
    const Id tile = b.shared("tile", f32, 64, 0), map = b.tensor_map("map", out, {num(64)}, {num(1)}, {64}, 0);
    const ir::Intrinsic& save = b.intrinsic(ir::tma_store(f32));
    b.launch(num(1), 32, 256, [&](const Expr&, const Expr& thread) {
      b.when(below(thread, 1), [&] {
        b.loop("i", num(64), [&](const Expr& i) { b.store(tile, i, ir::float_const(f32, 1)); });
        b.fence({}, Sync::Kind::fence_proxy);
        b.call(save, {{map, std::vector<Expr>{num(0)}}, {tile, num(0)}});
        b.commit({}, Completion::bulk_group);
        b.store(tile, num(3), ir::float_const(f32, 2));
        b.wait_read({}, 0);
        b.store(tile, num(4), ir::float_const(f32, 2));  // read by then
      });
    });
    interp::Arguments args{Array::zeros(f32, {64})};
    interp::Options o;
    o.races = races;
    if (races) {
      CHECK_THROWS_WITH_AS(
          interp::run(b.k, args, o),
          doctest::Contains("writes tile[3], which block (0, 0, 0), thread 0 read at launch_reports_test.cpp:"), RunError);
    } else {
      interp::run(b.k, args, o);
      CHECK(args[0].array.real({3}) == 2);
      CHECK(args[0].array.real({4}) == 1);
    }
  }
}

TEST_CASE("blocks in another order give the same, and a launch on nothing runs nothing") {
  for (std::int64_t n : {0, 300})
    for (auto order : {interp::Options::Order::reverse, interp::Options::Order::shuffled}) {
      Builder b("ordered");
      const Expr N = b.symbol("N");
      const Id out = b.output("out", f32, {N});
      b.launch(ir::ceil_div(N, num(32)), 32, 0, [&](const Expr& block, const Expr& thread) {
        const Expr i = b.let("i", block * 32 + thread);
        b.when(ir::lt(i, N), [&] { b.store(out, i, ir::cast(f32, i)); });
      });
      interp::Arguments args{Array::zeros(f32, {n})};
      interp::Options o;
      o.races = true;
      o.parallel_order = order;
      o.seed = 5;
      interp::run(b.k, args, o);
      for (std::int64_t i = 0; i < n; ++i) REQUIRE(args[0].array.real({i}) == static_cast<double>(i));
    }
}
