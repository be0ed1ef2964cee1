#pragma once
// Schedules of recurrences, by the name of the operator: each is legal, and computes what the definition says.
#include <string>
#include <vector>

#include <ashlar/schedule/schedule.h>

#include "tests/support/recurrence_operators.h"

namespace recurrences {

struct Scheduling {
  const char* of;  // operators; "rows": all whose rows have nothing to do with each other
  const char* what;
  bool apart;  // x + 1 of the state is the output
  void (*schedule)(Schedule&, const Made&);
};

inline const std::vector<const char*>& with_independent_rows() {
  static const std::vector<const char*> names{
      "smooth", "biquad", "running_sum", "backwards", "two_states", "composed", "exclusive_bits_from_the_end"};
  return names;
}

inline const std::vector<Scheduling>& schedulings() {
  static const std::vector<Scheduling> all = {
      {"rows", "as it is defined", false, [](Schedule&, const Made&) {}},
      {"rows", "rows on workers", false,
       [](Schedule& s, const Made& m) {
         auto [r, t] = s[m.state[0]].spatial<2>();
         s[m.state[0]].parallel(r);
         s[m.state[0]].unroll(t, 4);
       }},
      {"rows", "rows in lanes, steps outside", false,
       [](Schedule& s, const Made& m) {
         auto [r, t] = s[m.state[0]].spatial<2>();
         auto [ro, ri] = s[m.state[0]].split(r, 8);
         s[m.state[0]].reorder(ro, t, ri).vectorize(ri).parallel(ro);
       }},
      {"rows", "rows in lanes outside of the steps, tiled steps", false,
       [](Schedule& s, const Made& m) {
         auto [r, t] = s[m.state[0]].spatial<2>();
         auto [to, ti] = s[m.state[0]].split(t, 4);
         auto [ro, ri] = s[m.state[0]].split(r, 4);
         s[m.state[0]].reorder(ro, to, ri, ti).tighten(ti).vectorize(ri);
       }},
      {"rows", "peeled ends, rows fused with tiles", false,
       [](Schedule& s, const Made& m) {
         auto [r, t] = s[m.state[0]].spatial<2>();
         auto [to, ti] = s[m.state[0]].split(t, 3, Tail::peel);
         s[m.state[0]].peel(r);
         (void)to, (void)ti;
       }},
      {"rows", "one loop over rows and steps", false,
       [](Schedule& s, const Made& m) {
         auto [r, t] = s[m.state[0]].spatial<2>();
         s[m.state[0]].fuse(r, t);
       }},
      {"rows", "a row where it is read", true,
       [](Schedule& s, const Made& m) {
         auto [i, j] = s[m.results[0]].spatial<2>();
         s[m.results[0]].parallel(i).vectorize(j, 4);
         if (m.results.size() == 1) s[m.state[0]].compute_at(i);
       }},
      {"rows", "stored for each of its own rows", true,
       [](Schedule& s, const Made& m) {
         auto [r, t] = s[m.state[0]].spatial<2>();
         if (m.results.size() > 1) return;
         s[m.results[0]].fuse_into(t);
         s[m.state[0]].store_at(r);
       }},
      {"smooth", "steps as they are needed, kept for the next ones", true,
       [](Schedule& s, const Made& m) {
         auto [i, j] = s[m.results[0]].spatial<2>();
         s[m.state[0]].compute_at(j).store_at(i).slide(j);
       }},
      {"smooth", "again for every reader", true,
       [](Schedule& s, const Made& m) {
         auto [i, j] = s[m.results[0]].spatial<2>();
         s[m.state[0]].compute_at(j);
         (void)i;
       }},
      {"backwards", "steps back as far as a tile of readers needs", true,
       [](Schedule& s, const Made& m) {
         auto [i, j] = s[m.results[0]].spatial<2>();
         auto [jo, ji] = s[m.results[0]].split(j, 4);
         s[m.state[0]].compute_at(jo);
         auto [r, t] = s[m.state[0]].spatial<2>();
         s[m.state[0]].split(t, 3);
         (void)i, (void)r, (void)ji;
       }},
      {"biquad", "computed in a buffer of its own, rows by rows", false,
       [](Schedule& s, const Made& m) {
         auto [r, t] = s[m.state[0]].spatial<2>();
         Stage c = s.cache_write(m.state[0], Scope::global);
         s[m.state[0]].vectorize(t, 8);
         c.compute_at(r);
       }},
      {"smooth", "its input staged as the steps go, its store in panels", true,
       [](Schedule& s, const Made& m) {
         auto [r, t] = s[m.state[0]].spatial<2>();
         s.cache_read(m.x, {m.state[0]}, Scope::global).compute_at(t);
         s[m.state[0]].transform_layout([](Var a, Var b) { return at(a / 4, b, a % 4); });
         (void)r;
       }},
      {"exclusive_maximum_down_columns", "columns in lanes", false,
       [](Schedule& s, const Made& m) {
         auto [r, t] = s[m.state[0]].spatial<2>();
         s[m.state[0]].vectorize(t, 16);
         (void)r;
       }},
      {"edit_distance", "tiles", true,
       [](Schedule& s, const Made& m) {
         auto [i, j] = s[m.state[0]].spatial<2>();
         s[m.state[0]].tile(i, j, 4, 3);
         s[m.results[0]].parallel(s[m.results[0]].spatial<2>()[0]);
       }},
      {"edit_distance", "columns outside of rows, where it is read", true,
       [](Schedule& s, const Made& m) {
         auto [i, j] = s[m.state[0]].spatial<2>();
         s[m.state[0]].reorder(j, i);
         auto [oi, oj] = s[m.results[0]].spatial<2>();
         s[m.state[0]].compute_at(oi);
         (void)oj;
       }},
      {"gauss_seidel", "tiles of points of one sweep", false,
       [](Schedule& s, const Made& m) {
         auto [k, i] = s[m.state[0]].spatial<2>();
         s[m.state[0]].split(i, 4);
         s[m.state[0]].unroll(k, 2);
       }},
      {"edit_distance", "a wavefront on workers", false,
       [](Schedule& s, const Made& m) {
         auto [i, j] = s[m.state[0]].spatial<2>();
         const Loop w = s[m.state[0]].skew(i, j, 1);
         s[m.state[0]].reorder(w, i).tighten(i).parallel(i);
       }},
      {"edit_distance", "a wavefront of guarded points, and not one", true,
       [](Schedule& s, const Made& m) {
         auto [i, j] = s[m.state[0]].spatial<2>();
         const Loop w = s[m.state[0]].skew(i, j, 3);
         s[m.state[0]].reorder(w, i).parallel(i);
         s[m.results[0]].skew(s[m.results[0]].spatial<2>()[0], s[m.results[0]].spatial<2>()[1], -2);
       }},
      {"edit_distance", "a wavefront in lanes on workers", false,
       [](Schedule& s, const Made& m) {
         auto [i, j] = s[m.state[0]].spatial<2>();
         const Loop w = s[m.state[0]].skew(i, j, 1);
         auto [io, ii] = s[m.state[0]].split(i, 8);
         s[m.state[0]].reorder(w, io, ii).tighten(io).vectorize(ii).parallel(io);
       }},
      {"edit_distance", "tiles along a wavefront, over a table whose diagonals are rows", true,
       [](Schedule& s, const Made& m) {
         auto [i, j] = s[m.state[0]].spatial<2>();
         auto [io, jo, ii, ji] = s[m.state[0]].tile(i, j, 4, 3);
         const Loop w = s[m.state[0]].skew(io, jo, 1);
         s[m.state[0]].reorder(w, io, ii, ji).tighten(io).tighten(ji).parallel(io);
         s[m.state[0]].transform_layout([](Var a, Var b) { return at(a + b, a); });
       }},
      {"gauss_seidel", "a wavefront of sweeps", false,
       [](Schedule& s, const Made& m) {
         auto [k, i] = s[m.state[0]].spatial<2>();
         const Loop w = s[m.state[0]].skew(k, i, 2);
         s[m.state[0]].reorder(w, k).tighten(k).parallel(k);
       }},
      {"gauss_seidel", "points of a sweep where they are skewed", true,
       [](Schedule& s, const Made& m) {
         auto [k, i] = s[m.state[0]].spatial<2>();
         const Loop w = s[m.state[0]].skew(k, i, 2);
         s[m.state[0]].tighten(w);
         s[m.results[0]].reverse(s[m.results[0]].spatial<2>()[0]);
         s[m.state[0]].compute_at(s[m.results[0]].spatial<2>()[0]);
       }},
      {"gauss_seidel", "tiles of sweeps and points along a wavefront", false,
       [](Schedule& s, const Made& m) {
         auto [k, i] = s[m.state[0]].spatial<2>();
         const Loop x = s[m.state[0]].skew(k, i, 1);
         auto [ko, xo, ki, xi] = s[m.state[0]].tile(k, x, 2, 5);
         const Loop w = s[m.state[0]].skew(ko, xo, 1);
         s[m.state[0]].reorder(w, ko).tighten(ko).tighten(ki).tighten(xi).parallel(ko);
       }},
      {"diffusion", "tiles of steps and points", true,
       [](Schedule& s, const Made& m) {
         auto [i, t] = s[m.state[0]].spatial<2>();
         const Loop x = s[m.state[0]].skew(t, i, 1);
         auto [to, xo, ti, xi] = s[m.state[0]].tile(t, x, 3, 8);
         s[m.state[0]].tighten(xo).vectorize(xi);
         (void)to, (void)ti;
       }},
      {"backwards", "rows later and later, and the other way", true,
       [](Schedule& s, const Made& m) {
         auto [r, t] = s[m.state[0]].spatial<2>();
         const Loop w = s[m.state[0]].skew(t, r, 3);
         s[m.state[0]].reorder(w, t).tighten(t);
         auto [i, j] = s[m.results[0]].spatial<2>();
         s[m.results[0]].tighten(s[m.results[0]].skew(i, j, -1)).parallel(i);
       }},
      {"running_sum", "blocks on workers, each scanned where it is combined", false,
       [](Schedule& s, const Made& m) {
         auto [r, t] = s[m.state[0]].spatial<2>();
         auto [to, ti] = s[m.state[0]].split(t, 4);
         auto [total, carry, block] = s[m.state[0]].associative_scan(to);
         block.compute_at(to);
         s[m.state[0]].parallel(s[m.state[0]].fuse(r, to)).vectorize(ti);
         auto [row, o] = total.spatial<2>();
         total.parallel(row).unroll(total.reduction());
         (void)carry, (void)o;
       }},
      {"running_sum", "blocks of blocks", true,
       [](Schedule& s, const Made& m) {
         auto [to, ti] = s[m.state[0]].split(s[m.state[0]].spatial<2>()[1], 3);
         auto [total, carry, block] = s[m.state[0]].associative_scan(to);
         auto [co, ci] = carry.split(carry.spatial<2>()[1], 2);
         auto [totals, carries, blocks] = carry.associative_scan(co);
         blocks.compute_at(co);
         s[m.results[0]].parallel(s[m.results[0]].spatial<2>()[0]);
         (void)total, (void)block, (void)totals, (void)carries, (void)ti, (void)ci;
       }},
      {"running_sum", "blocks in lanes, where a row is read", true,
       [](Schedule& s, const Made& m) {
         auto [i, j] = s[m.results[0]].spatial<2>();
         s[m.state[0]].compute_at(i);
         auto [to, ti] = s[m.state[0]].split(s[m.state[0]].spatial<2>()[1], 4);
         auto [total, carry, block] = s[m.state[0]].associative_scan(to);
         auto [row, o, n] = block.spatial<3>();
         block.reorder(row, n, o).vectorize(o, 8);
         total.vectorize(total.spatial<2>()[1], 8);
         (void)carry, (void)j, (void)ti;
       }},
      {"composed", "functions composed in blocks", false,
       [](Schedule& s, const Made& m) {
         auto [to, ti] = s[m.state[0]].split(s[m.state[0]].spatial<2>()[1], 5);
         auto [total, carry, block] = s[m.state[0]].associative_scan(to);
         block.compute_at(to).peel(block.spatial<3>()[2], Peel::first);
         s[m.state[0]].parallel(to);
         (void)total, (void)carry, (void)ti;
       }},
      {"exclusive_maximum_down_columns", "blocks of rows, columns in lanes", false,
       [](Schedule& s, const Made& m) {
         auto [r, t] = s[m.state[0]].spatial<2>();
         auto [ro, ri] = s[m.state[0]].split(r, 2);
         auto [total, carry, block] = s[m.state[0]].associative_scan(ro);
         block.compute_at(ro);
         s[m.state[0]].parallel(ro).vectorize(t, 8);
         carry.vectorize(carry.spatial<2>()[1], 8);
         (void)total, (void)ri;
       }},
      {"exclusive_bits_from_the_end", "blocks, the last one first", true,
       [](Schedule& s, const Made& m) {
         auto [to, ti] = s[m.state[0]].split(s[m.state[0]].spatial<2>()[1], 4);
         auto [total, carry, block] = s[m.state[0]].associative_scan(to);
         block.compute_at(to);
         s[m.state[0]].parallel(to);
         (void)total, (void)carry, (void)ti;
       }},
      {"diffusion", "points of one step on workers and in lanes", false,
       [](Schedule& s, const Made& m) {
         auto [i, t] = s[m.state[0]].spatial<2>();
         auto [io, ii] = s[m.state[0]].split(i, 8);
         s[m.state[0]].parallel(io).vectorize(ii);
         (void)t;
       }},
  };
  return all;
}

// Calls f(operator, scheduling) for each pair that belongs together.
template <class F>
void each_scheduling(F f) {
  for (const Scheduling& s : schedulings()) {
    if (std::string(s.of) != "rows") {
      f(named(s.of), s);
      continue;
    }
    for (const char* name : with_independent_rows()) f(named(name), s);
  }
}

}  // namespace recurrences
