#pragma once
// Tiles in the driver without a device (tests/ptx/driver.cpp): modules of bytecode, on the executor of the tests.
#include <cstdint>
#include <memory>
#include <string>

#include "tests/tileir/executor/executor.h"

namespace tile_driver {

bool is_bytecode(const void* image);

// The driver's global memory is this executor's, in which what nobody wrote is known.
ashlar::tileir::Device& device();

struct Module {
  explicit Module(const void* image);  // ashlar::tileir::Error
  bool has(const std::string& entry) const;
  // Throws ashlar::tileir::Fault or Error.
  void launch(const std::string& entry, const ashlar::tileir::Grid&, void** parameters) const;
  ashlar::tileir::Module code;
};

}  // namespace tile_driver
