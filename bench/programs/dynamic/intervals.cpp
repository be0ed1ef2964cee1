// dynamic/intervals.cpp: bookings of rooms, each with a start, an end and a price: the bookings that do not overlap and pay
// most, and which they are. Bookings are sorted by their ends; a table has for each how many end before it starts.
#include <algorithm>

#include "bench/programs/program.h"

namespace {
struct Bookings {
  std::vector<std::int32_t> start, finish, before;
};
Bookings bookings(int rooms, int count) {
  std::mt19937_64 random(11);
  Bookings all;
  for (int r = 0; r < rooms; ++r) {
    std::vector<std::pair<std::int32_t, std::int32_t>> list;  // finish, start
    for (int k = 0; k < count; ++k) {
      const auto start = static_cast<std::int32_t>(random() % 20000), takes = static_cast<std::int32_t>(15 + random() % 400);
      list.emplace_back(start + takes, start);
    }
    std::sort(list.begin(), list.end());
    for (const auto& [finish, start] : list) {
      const auto later = std::upper_bound(list.begin(), list.end(), std::pair(start, std::int32_t{1 << 30}));
      all.start.push_back(start), all.finish.push_back(finish);
      all.before.push_back(static_cast<std::int32_t>(later - list.begin()));
    }
  }
  return all;
}
}  // namespace

PROGRAM(p) {
  const Bookings all = bookings(62, 1130);
  const Symbol rooms = p.size("rooms", 62, {.min = 1}), n = p.size("n", 1130, {.min = 1});
  const Tensor start = p.in("start", i32, {rooms, n}, numbers(all.start)),
               finish = p.in("finish", i32, {rooms, n}, numbers(all.finish)),
               before = p.in("before", i32, {rooms, n}, numbers(all.before));
  const Tensor kind = p.in("kind", u8, {rooms, n}, integers(0, 7)), rate = p.in("rate", i64, {7}, integers(3, 19));
  const Tensor value = compute("value", {rooms, n}, [&](Var r, Var j) {
    return i64(finish(r, j) - start(r, j)) * rate(in_range(kind(r, j), 0, 7)) + 250;
  });
  const Tensor best = recur(
      "best", {rooms, n + 1}, Along{1}, Lag{1}, [&](Var, Var) { return i64(0); },
      [&](Prior y, Var r, Var j) { return max(y(r, j - 1), value(r, j - 1) + y(r, in_range(before(r, j - 1), 0, j))); });
  const auto choice = recur(  // of the bookings before j: how many may still be taken; and whether j is
      "choice", {rooms, n + 1}, Along{1}.backwards(), Lag{1}, [&](Var, Var j) { return values(i32(j), u8(0)); },
      [&](Prior y, Var r, Var j) {
        const Expr last = y[0](r, j + 1), take = last == i32(j + 1) && best(r, j + 1) > best(r, j);
        return values(select(take, before(r, j), min(last, i32(j))), u8(take));
      });
  p.out(compute("total", {rooms}, [&](Var r) { return best(r, n); }));
  p.out(compute("taken", {rooms, n}, [&](Var r, Var j) { return choice[1](r, j); }));
}
