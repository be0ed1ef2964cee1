// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// A Refusal says why something the user asked for was not done: what was expected, what was found, where (the line of the
// user's call), and for illegal schedules two conflicting iterations. It travels as the C++ exception RefusalError inside
// the library; Schedule::attempt returns it as a value; the generator tool prints it and exits.
//
//   matmul.cpp:31: vectorize(k): expected a loop whose iterations are independent, found a reduction of `C`
//     conflict: iterations k=0 and k=1 both update C[0, 0]
#include <exception>
#include <string>
#include <utility>

#include <ashlar/ir/expr.h>

namespace ashlar {

struct Refusal {
  std::string primitive, expected, found, conflict;
  Where where = {};
  std::string text() const;  // the sentence(s) above; file names without their folders
};

class RefusalError : public std::exception {
 public:
  explicit RefusalError(Refusal);
  const char* what() const noexcept override { return text_.c_str(); }
  Refusal refusal;

 private:
  std::string text_;
};

[[noreturn]] void refuse(std::string primitive, std::string expected, std::string found, Where, std::string conflict = {});

// A broken invariant of the compiler itself: a bug, never the user's fault.
class InternalError : public std::exception {
 public:
  explicit InternalError(std::string text) : text_("internal error: " + std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

std::string location(Where);  // "matmul.cpp:31", without folders: the same text in every checkout

}  // namespace ashlar
