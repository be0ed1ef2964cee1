#pragma once
// Cases for targets with tiles: a schedule of blocks and dimensions of tiles, and the ways of running it.
//
//   run(Program)         the scheduled tree
//   run(tile::Kernel)    each launch by the interpreter of the tile form
//   bytecode             each launch by the executor of the tests (tests/tileir/executor), in an order of blocks of its own
//   compiled code        with a device (--device): the object, through its C entry, on the driver that there is
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "check.h"

namespace fuzz {

struct TileCase {
  const Made& made;
  const ashlar::Schedule& unscheduled;
  Source& data;
  const Setup& setup;
  Report& report;
  std::string& stage;  // what is done, for people
};

// What went wrong with values; all else is an exception.
std::optional<Failure> check_tiles(const TileCase&);

// Steps that make tiles of a program: loops split and placed, blocks bound, dimensions inside. `regroup`: terms may be combined
// in any order. Refused steps are left out, and counted.
void tile_steps(Source&, ashlar::schedule::Scheduled&, const ashlar::Target&, bool regroup, Statistics*);

}  // namespace fuzz
