#pragma once
// What is run on the device and compared with the interpreter, by name. A case is made when it is run: listing them is cheap.
//
//   for (const Case& c : cases("cuda-sm_90a")) check(c.name, c.prepare());
#include <functional>
#include <string>
#include <vector>

#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/kernel.h>

namespace gpu_bench {

struct Prepared {
  ashlar::ir::Kernel kernel;
  double relative = 0;                          // bound on the error, of a kernel that is written by hand
  std::vector<ashlar::interp::Arguments> data;  // random, one for each shape
  bool growing = false;                         // shapes behind one that the interpreter takes long for are left out
  bool whole = false;                           // of small whole numbers, whose sums are exact in any order
  // What the results are compared with; the interpreter's of the kernel if empty. A kernel of tiles has no body to interpret.
  std::function<void(ashlar::interp::Arguments&)> meant = {};

  void expect(ashlar::interp::Arguments& all) const {  // leaves the results there
    if (meant)
      meant(all);
    else
      ashlar::interp::run(kernel, all);
  }
};
struct Case {
  std::string name;
  std::function<Prepared()> prepare;  // refused: a RefusalError
};

// The operators and programs of the tests for devices, the families of schedules; "library: NAME" and "library: NAME f16":
// every generator of ashlar-ops as it is scheduled by default, at small extents and at larger ones.
// For a target with tiles: the library, and the families for tiles.
std::vector<Case> cases(const std::string& target);
std::vector<Case> library_cases(const std::string& target);  // a part of them

}  // namespace gpu_bench
