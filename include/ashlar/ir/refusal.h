// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Refusals. A Refusal says why a request of the user was not carried out: what was expected, what was found, the line of the
// user's call, and for an illegal step two conflicting iterations. Inside the library it is the exception RefusalError;
// Schedule::attempt returns it as a value; the generator tool prints it and exits.
//
//   matmul.cpp:31: parallel: expected a loop whose iterations are independent (…), found k of C, a reduction
//     conflict: iterations k = 0 and k = 1 both update C[i, j]
#include <exception>
#include <string>
#include <utility>

#include <ashlar/ir/expr.h>

namespace ashlar {

struct Refusal {
  std::string primitive, expected, found, conflict;
  Where where = {};
  std::string text() const;  // the message above; file names are without folders
};

class RefusalError : public std::exception {
 public:
  explicit RefusalError(Refusal);
  const char* what() const noexcept override { return text_.c_str(); }
  Refusal refusal;

 private:
  std::string text_;
};

// Throws a RefusalError.
[[noreturn]] void refuse(std::string primitive, std::string expected, std::string found, Where, std::string conflict = {});

// A violated invariant of the compiler: a bug of Ashlar, never of the user's program.
class InternalError : public std::exception {
 public:
  explicit InternalError(std::string text) : text_("internal error: " + std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

std::string location(Where);  // "matmul.cpp:31", without folders, so that the text does not depend on the checkout

}  // namespace ashlar
