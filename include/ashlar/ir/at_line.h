// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// AtLine: while one is alive, refusals and schedule steps show its line. A function that makes many steps then looks like a
// single call in its user's code. If several are alive, the first one counts: the outermost call.
//
//   void my_family(Schedule& s, const Stage& stage, Where where = Where::current()) {
//     const AtLine at(where);
//     stage.split(…);                    model.cpp:12: split: expected …
//   }
#include <ashlar/ir/expr.h>

namespace ashlar {

class AtLine {
 public:
  explicit AtLine(Where);
  ~AtLine();
  AtLine(const AtLine&) = delete;
  AtLine& operator=(const AtLine&) = delete;

  static Where of(Where where);  // the line to show on this thread: the first AtLine's, or `where` if none lives

 private:
  bool first_;
};

}  // namespace ashlar
