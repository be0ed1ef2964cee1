// Lesson 6: a kernel for a GPU, without one: blocks, threads, shared memory, and the race detector.
#include <ashlar/interp/interpreter.h>
#include <ashlar/lower/lower.h>
#include <ashlar/report/explain.h>
#include <ashlar/schedule/step.h>

#include "lesson.h"
using namespace ashlar;

int main() {
  tutorial::Lesson lesson("6. Threads: a transposition on a GPU");
  lesson.say(
      "On a device, loops are bound to blocks and threads. Reads along the rows of x are fast, and so are writes along the\n"
      "rows of y, but an element is in a row of one and in a column of the other. With a tile of 32 x 32 elements in memory\n"
      "that the threads of a block share, both can go along rows.");
  lang::DefinitionScope scope;
  Symbol M{"M"}, N{"N"};
  Tensor x = lang::make_input("x", f32, {M, N}), y = lang::make_output("y", f32, {N, M});
  lang::bind(y, compute("y", {{"i", N}, {"j", M}}, [&](Var i, Var j) { return x(j, i); }));
  const Target device = Target::parse("cuda-sm_80");
  Schedule s(lang::build_program("transpose", {x, y}), device);
  lesson.watch(s);

  lesson.say("Each block computes a tile, with 8 rows of 32 threads, each of which computes four elements:");
  auto [i, j] = s[y].spatial<2>();
  auto [io, jo, ii, ji] = s[y].tile(i, j, 32, 32);
  auto [step, row] = s[y].split(ii, 8);
  s[y].bind(io, gpu::block_y).bind(jo, gpu::block_x).bind(row, gpu::thread_y).bind(ji, gpu::thread_x);
  lesson.say("The same threads first copy the tile of x to shared memory:");
  Stage tile = s.cache_read(x, {y}, Scope::shared, 0.0f);
  tile.compute_at(jo);
  auto [tj, ti] = tile.spatial<2>();
  auto [tstep, trow] = tile.split(tj, 8);
  tile.bind(trow, gpu::thread_y).bind(ti, gpu::thread_x);
  lesson.say("explain counts what the kernel needs of a device, at given sizes. No device is necessary:");
  lesson.show(explain(s, {{"M", 4096}, {"N", 4096}}));
  lesson.say(
      "32 threads that read down a column of the tile all access the same bank of shared memory, one after the other: 32\n"
      "conflicts. With rows that are one element longer than 32, each element of a column is in a different bank:");
  tile.pad(1, 1);
  lesson.show(explain(s, {{"M", 4096}, {"N", 4096}}));
  (void)step, (void)tstep;
  lesson.say(
      "Lowering inserts a barrier only where a thread may read what another thread wrote. The interpreter runs the kernel\n"
      "thread by thread, with a race detector, on 70 x 45 elements, and compares the result with the definition:");
  interp::Arguments arguments, expected;
  double n = 0;
  arguments.emplace_back(interp::Array::make(f32, {70, 45}, [&](std::span<const std::int64_t>) { return ++n; }));
  arguments.emplace_back(interp::Array::zeros(f32, {45, 70}));
  expected = arguments;
  interp::Options races;
  races.races = true;
  interp::run(lower(s.scheduled().program, options_for(device)), arguments, races);
  interp::run_algorithm(s.scheduled().program, expected);
  const std::string difference = interp::difference(arguments[1].array, expected[1].array);
  lesson.show(difference.empty() ? "equal, and no race" : difference);
  return difference.empty() ? 0 : 1;
}
