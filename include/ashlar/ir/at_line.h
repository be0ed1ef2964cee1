// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// While an AtLine lives, refusals and the steps of a schedule stand at its line: a function that makes many steps is one call
// of its user's, and so is what is said of it. Of several the first one counts, which is the outermost call.
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

  static Where of(Where where);  // the line that counts on this thread: the first one's, or `where` where none lives

 private:
  bool first_;
};

}  // namespace ashlar
