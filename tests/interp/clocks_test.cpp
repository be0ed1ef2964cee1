// Epochs and clocks: what a shadow cell calls a race.
#include <doctest/doctest.h>

#include "interp/clocks.h"

using namespace ashlar::interp;

namespace {

// Three agents: threads 0 and 1, and copies that thread 0 issues.
struct Cell {
  Clocks of[2] = {{Clock{1, 0, 0}, Clock{0, 0}}, {Clock{0, 1, 0}, Clock{0, 0}}};
  Shadow shadow;
  Cell() { shadow.reset(1); }
  std::optional<Conflict> thread(std::uint32_t t, bool write) { return access(write ? Touch::write : Touch::read, t); }
  std::optional<Conflict> update(std::uint32_t t) { return access(Touch::update, t); }
  std::optional<Conflict> access(Touch how, std::uint32_t t) {
    return shadow.access(0, how, {{t, of[t].all[t], 0, 0}, &of[t], false, 0});
  }
  std::optional<Conflict> copy(std::uint32_t group, bool write) {
    return shadow.access(0, write ? Touch::write : Touch::read, {{2, group, 0, 0}, &of[0], true, 0});
  }
  void barrier() {
    of[0].join_with(of[1]);
    of[1] = of[0];
    ++of[0].all[0];
    ++of[1].all[1];
  }
  void fence(std::uint32_t t) { of[t].proxy[t] = of[t].all[t]++; }
};

}  // namespace

TEST_CASE("reads do not conflict with reads, and come before a write only through a barrier") {
  Cell c;
  CHECK(!c.thread(0, false));
  CHECK(!c.thread(1, false));
  Cell d = c;
  const auto conflict = d.thread(0, true);
  REQUIRE(conflict);
  CHECK(conflict->how == Touch::read);
  CHECK(conflict->earlier.agent == 1);
  c.barrier();
  CHECK(!c.thread(0, true));
  CHECK(c.thread(1, false)->how == Touch::write);
}

TEST_CASE("a write is ordered before the asynchronous proxy by a fence of its own thread, before a barrier if another issues") {
  Cell c;
  CHECK(!c.thread(0, true));
  CHECK(c.copy(1, false)->fence_missing);
  Cell own = c;
  own.fence(0);
  CHECK(!own.copy(1, false));
  Cell d;
  CHECK(!d.thread(1, true));
  Cell late = d;
  late.barrier();
  late.fence(0);
  CHECK(late.copy(1, false)->fence_missing);
  d.fence(1);
  d.barrier();
  CHECK(!d.copy(1, false));
}

TEST_CASE("a fence covers what came before it alone; a read needs no fence") {
  Cell c;
  c.fence(0);
  CHECK(!c.thread(0, true));
  CHECK(c.copy(1, true)->fence_missing);
  Cell d;
  CHECK(!d.thread(1, false));
  d.barrier();
  CHECK(!d.copy(1, true));
}

TEST_CASE("what a copy did is ordered by whoever waited for its group") {
  Cell c;
  CHECK(!c.copy(1, true));
  CHECK(c.thread(0, false));
  c.of[0].all[2] = 1;
  CHECK(!c.thread(0, false));
  CHECK(c.thread(1, false));
  c.barrier();
  CHECK(!c.thread(1, false));
  CHECK(c.copy(2, true));  // the read of thread 1 is not ordered
}

TEST_CASE("agents of another cluster are never ordered") {
  Cell c;
  CHECK(!c.thread(0, true));
  CHECK(c.shadow.access(0, Touch::read, {{3, 5, 0, 0}, &c.of[0], false, 3}));
}

TEST_CASE("atomic updates do not conflict with one another, and do with reads and writes that no barrier orders") {
  Cell c;
  CHECK(!c.update(0));
  CHECK(!c.update(1));
  CHECK(!c.update(0));
  Cell read = c, write = c;
  CHECK(read.thread(0, false)->how == Touch::update);
  CHECK(read.thread(0, false)->earlier.agent == 1);
  CHECK(write.thread(0, true)->how == Touch::update);
  c.barrier();
  CHECK(!c.thread(0, false));
  CHECK(c.update(1)->how == Touch::read);
  c.barrier();
  CHECK(!c.thread(1, true));
  CHECK(c.update(0)->how == Touch::write);
  c.barrier();
  CHECK(!c.update(0));
}

TEST_CASE("updates of another cluster conflict with none of this one's") {
  Cell c;
  CHECK(!c.update(0));
  CHECK(!c.shadow.access(0, Touch::update, {{3, 5, 0, 0}, &c.of[0], false, 3}));
  CHECK(c.shadow.access(0, Touch::read, {{3, 5, 0, 0}, &c.of[0], false, 3})->how == Touch::update);
}
