// What a watcher is told of a run, in order.
#include <doctest/doctest.h>

#include <ashlar/interp/watcher.h>

#include "build_programs.h"

using namespace ashlar;
using interp::Array;
using test::ramp;

namespace {

struct Log final : interp::Watcher {
  explicit Log(const ir::Program& program) : p(program) {}
  static std::string list(std::span<const std::int64_t> at) {
    std::string s = "[";
    for (std::size_t d = 0; d < at.size(); ++d) s += (d ? ", " : "") + std::to_string(at[d]);
    return s + "]";
  }
  void line(const std::string& s) { text += s + "\n"; }
  void iterates(const ir::Stmt& loop, std::int64_t value) override {
    line(p.axis(loop.get<ir::LoopStmt>().axis).name + " = " + std::to_string(value));
  }
  void leaves(const ir::Stmt& loop) override { line("end of " + p.axis(loop.get<ir::LoopStmt>().axis).name); }
  void allocates(ir::Id b, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
                 std::int64_t bytes) override {
    line("alloc " + p.buffer(b).name + " from " + list(begin) + " of " + list(extent) + ", " + std::to_string(bytes) +
         " bytes");
  }
  void frees(ir::Id b) override { line("free " + p.buffer(b).name); }
  void computes(ir::Id s, std::span<const std::int64_t> at) override { line("  " + p.stage(s).name + list(at)); }
  void reads(ir::Id b, std::span<const std::int64_t> at, std::int64_t place) override {
    line("    reads " + p.buffer(b).name + list(at) + " at " + std::to_string(place));
  }
  void writes(ir::Id b, std::span<const std::int64_t> at, std::int64_t place) override {
    line("    writes " + p.buffer(b).name + list(at) + " at " + std::to_string(place));
  }
  const ir::Program& p;
  std::string text;
};

}  // namespace

TEST_CASE("a watcher is told loops, storage, points and accesses, in the order of the run") {
  test::Blur b;
  interp::Arguments args{ramp(i32, {1}), Array::zeros(i32, {1})};
  Log log(b.p);
  interp::run(b.p, args, {}, log);
  CHECK(log.text ==
        "alloc p from [-1] of [3], 12 bytes\n"
        "y = 0\n  p[-1]\n    reads in[0] at 0\n    writes p[-1] at 0\n"
        "y = 1\n  p[0]\n    reads in[0] at 0\n    writes p[0] at 1\n"
        "y = 2\n  p[1]\n    reads in[0] at 0\n    writes p[1] at 2\n"
        "end of y\n"
        "y = 0\n  out[0]\n    reads p[-1] at 0\n    reads p[0] at 1\n    reads p[1] at 2\n    writes out[0] at 0\n"
        "end of y\n"
        "free p\n");
}

TEST_CASE("a watcher changes no result, and sees each evaluation once") {
  test::Matmul m;
  interp::Arguments seen{ramp(f32, {5, 7}), ramp(f32, {7, 4}), Array::zeros(f32, {5, 4})}, unseen = seen;
  struct Count final : interp::Watcher {
    std::map<ir::Id, std::int64_t> points;
    void computes(ir::Id stage, std::span<const std::int64_t>) override { ++points[stage]; }
  } count;
  const interp::Counters n = interp::run(m.p, seen, {}, count);
  interp::run(m.p, unseen);
  CHECK(interp::difference(seen[2].array, unseen[2].array) == "");
  CHECK(count.points == n.evaluations);
}
