#pragma once
// Actual arguments for a program: shapes that satisfy its facts, values, strides; and the same memory as C tensors between
// guard bytes.
#include <ashlar/interp/interpreter.h>
#include <ashlar/runtime/runtime.h>

#include "source.h"

namespace fuzz {

struct Values {
  bool exact = false, edges = false;
};  // as in Made

// Outputs are filled with a pattern. Rows are padded, and dimensions swapped, only where the program takes that.
ashlar::interp::Arguments draw_arguments(Source&, const ashlar::ir::Program&, const Values&, std::string& described);

// Arguments in memory of their own, for a C entry. Lives as long as the call.
class Guarded {
 public:
  Guarded(const ashlar::ir::Program&, const ashlar::interp::Arguments&);
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  const std::vector<const void*>& pointers() const { return pointers_; }
  // What was written: back into the arrays; "" or the first byte outside an output's elements that changed.
  std::string take(ashlar::interp::Arguments&) const;

 private:
  struct Block {
    std::vector<std::byte> memory, before;
    std::size_t at = 0;
    ashlar_tensor tensor = {};
    std::vector<std::int64_t> shape, strides;
    std::uint64_t scalar = 0;
  };
  const ashlar::ir::Program& program_;
  std::vector<Block> blocks_;
  std::vector<const void*> pointers_;
};

}  // namespace fuzz
