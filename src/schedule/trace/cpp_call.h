// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What a primitive's line of C++ is made of. Most are calls of one of three forms, with the arguments in their order; others
// put them together by themselves.
//
//   of_loop       s[C].split(j, 8, Tail::exact)
//   of_stage      B_cache.align(1, 8)
//   of_schedule   s.cache_write(C, Scope::stack)
#include <string>

#include "schedule/edit.h"

namespace ashlar::schedule {

struct NoForm {};  // thrown: this step is not a call of the language with the handles there are

class CppCall {
 public:
  virtual ~CppCall() = default;
  virtual const Program& program() const = 0;
  virtual std::string schedule() = 0;            // "s"
  virtual std::string own(const Arg& loop) = 0;  // whose call it is: "s[C]"
  virtual std::string loop(const Arg&) = 0;      // "jo"
  virtual std::string stage(Id) = 0;             // "s[C]", "C_cache": calls stand behind it
  virtual std::string stage_ref(Id) = 0;         // "C", "C_cache": as an argument
  virtual std::string buffer_ref(Id) = 0;
  virtual std::string map(const Arg&) = 0;     // "[](Var c0) { return at(c0 / 8, c0 % 8); }"
  virtual std::string point(const Expr&) = 0;  // over symbols
  virtual std::string intrinsic(const ir::Intrinsic&) = 0;
};

using CppLine = std::string (*)(CppCall&, const Step&);
std::string of_loop(CppCall&, const Step&);
std::string of_stage(CppCall&, const Step&);
std::string of_schedule(CppCall&, const Step&);

// "{A, B}": the stages among the arguments, from one on; with calls behind them or as arguments.
std::string stages_from(CppCall&, const Step&, std::size_t first, std::string (CppCall::*item)(Id));
std::string scope_text(const Arg&);  // "Scope::stack"

}  // namespace ashlar::schedule
