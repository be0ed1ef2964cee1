// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// One file of C in the making: names, the functions that are finished, what stands before them.
//
// Names: a variable of the kernel has one identifier in the whole file, its own name made an identifier and unique. No
// identifier is that of a helper, a keyword, a macro of the headers that are included, or of an entry.
#include <map>
#include <optional>
#include <set>
#include <string>

#include <ashlar/codegen/abi_layout.h>
#include <ashlar/ir/kernel.h>
#include <ashlar/target/target.h>

#include "codegen/c/helpers.h"
#include "codegen/places.h"

namespace ashlar::codegen::c {

class File {
 public:
  File(const ir::Kernel&, const Target&);

  const ir::Kernel& kernel;
  const Target& target;
  const AbiLayout layout;
  const std::string name;  // of the simple entry
  Helpers helpers;

  std::string unique(const std::string& wanted);                            // an identifier that nobody has yet
  std::string name_of(ir::Id, const std::string& wanted);                   // of a variable or a buffer: the same each time
  const std::string& field(ArgField::Kind, ir::Id) const;                   // of f_args
  void include(const std::string& line);                                    // a line of the preprocessor
  void declare(const std::string& symbol, const std::string& declaration);  // of a function that others define
  std::string data_of(const ir::KBuffer&);                                  // a constant's array; its name

  std::optional<Places> places;  // where lines are asked for
  // #line 10 "matmul.cpp"; empty without `places`, and for what is not a line of the user's
  std::string directive(Where) const;

  std::string functions;  // finished ones, each behind those it calls
  std::string text(const std::string& head, const std::string& entries) const;
  const std::map<std::string, std::string>& declared() const { return declared_; }

 private:
  std::set<std::string> taken_;
  std::map<std::string, int> last_;  // number behind a name
  std::map<ir::Id, std::string> names_;
  std::map<ir::Id, std::string> data_names_;
  std::map<std::string, std::string> declared_;  // by symbol
  std::string includes_, data_;
};

// May two buffers of a kernel share bytes (ir/kernel.h)?
bool may_overlap(const ir::Kernel&, const ir::KBuffer&, const ir::KBuffer&);
bool is_alone(const ir::Kernel&,
              const ir::KBuffer&);  // none that is written, or any other if it is written itself, shares its bytes
// Is some of its memory accessed through another type?
bool has_other_types(const ir::Kernel&, const ir::KBuffer&);
std::string element_type(const ir::KBuffer&);  // of its memory in C: two packed elements are a byte
bool is_packed(const ir::KBuffer&);            // an argument with two elements to a byte

// A file whose lines with a place stand behind directives: with those that lead back to itself, called `own` (quoted).
std::string with_own_lines(const std::string& text, const std::string& own);
std::string quoted(const std::string&);  // a string literal
std::string in_comment(std::string);     // without what would end a comment

}  // namespace ashlar::codegen::c
