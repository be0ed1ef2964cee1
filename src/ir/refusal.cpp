// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ir/refusal.h>

#include <optional>

#include <ashlar/ir/at_line.h>
#include <ashlar/ir/scope.h>

namespace ashlar {

const Scope Scope::global{"global"}, Scope::stack{"stack", {.bytes = 256 * 1024}}, Scope::shared{"shared"},
    Scope::registers{"registers"}, Scope::fragment{"fragment"}, Scope::tile{"tile"};

std::string location(Where where) {
  std::string file = where.file_name();
  if (const auto slash = file.find_last_of('/'); slash != std::string::npos) file.erase(0, slash + 1);
  return file.empty() ? std::string("(no line)") : file + ":" + std::to_string(where.line());
}

std::string Refusal::text() const {
  std::string s = location(where) + ": " + primitive + ": expected " + expected + ", found " + found;
  if (!conflict.empty()) s += "\n  conflict: " + conflict;
  return s;
}

RefusalError::RefusalError(Refusal r) : refusal(std::move(r)), text_(refusal.text()) {}

void refuse(std::string primitive, std::string expected, std::string found, Where where, std::string conflict) {
  throw RefusalError({std::move(primitive), std::move(expected), std::move(found), std::move(conflict), AtLine::of(where)});
}

namespace {
thread_local std::optional<Where> outermost;
}  // namespace

AtLine::AtLine(Where where) : first_(!outermost) {
  if (first_) outermost = where;
}
AtLine::~AtLine() {
  if (first_) outermost.reset();
}
Where AtLine::of(Where where) { return outermost.value_or(where); }

}  // namespace ashlar
