// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// One page in HTML that shows a program, its schedule, and the code made from them (docs/viewer.md). It needs no network: the
// file contains style, script and data.
//
//   view::Options options;  options.generator = "blur";
//   files.add("blur.html", view::page(compilation, options));
//
// The data is JSON in an element of the page, {"steps": …, "graph": …, "code": …, "run": …, "figures": …}; data() returns it
// for tests. Each part has a file of its own here.
#include <string>

#include <ashlar/ir/refusal.h>
#include <ashlar/report/explain.h>

#include "generator/pipeline.h"

namespace ashlar::generator::view {

struct Options {
  std::string generator, function;
  ExplainSizes sizes;                // for the figures
  ExplainSizes drawn;                // for the run that is drawn; other symbols get small extents
  const Refusal* refused = nullptr;  // why a step was refused; then there is no kernel
  Where where = {};                  // of the generator
};

std::string data(const Compilation&, const Options&);  // JSON
std::string page(const Compilation&, const Options&);

}  // namespace ashlar::generator::view
