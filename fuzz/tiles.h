#pragma once
// Cases for targets with tiles: a schedule that splits and places loops, binds blocks and makes dimensions of what is inside,
// and the ways of running it. Steps that are refused are left out, and counted.
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

}  // namespace fuzz
