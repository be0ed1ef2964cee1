// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Directives that map a file of C to the user's lines. While the file is written a line that has a place stands behind the
// directive that names it; here those go that say what follows anyhow, and others come that lead back to the file itself.
//
//   #line 10 "matmul.cpp"
//     C[i * N + j] = t;
//   #line 214 "matmul.c"
//   }
#include <algorithm>

#include "codegen/c/file.h"

namespace ashlar::codegen::c {

std::string File::directive(Where where) const {
  const std::string* user = places ? places->file(where) : nullptr;
  return user ? "#line " + std::to_string(where.line()) + " " + quoted(*user) + "\n" : "";
}

std::string with_own_lines(const std::string& text, const std::string& own) {
  std::string out, asked, next;  // asked: the directive just read; next: the one that would say where the compiler is
  std::int64_t written = 0;      // lines
  bool away = false, continues = false;
  const auto put = [&](const std::string& s) {
    out += s;
    ++written;
  };
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size() - 1);
    const std::string line = text.substr(from, end + 1 - from);
    from = end + 1;
    if (line.starts_with("#line ")) {
      asked = line;
      continue;
    }
    if (!continues) {
      if (!asked.empty() && !(away && asked == next)) put(asked);
      if (asked.empty() && away) put("#line " + std::to_string(written + 2) + " " + own + "\n");
      away = !asked.empty();
      next = asked;
    }
    if (away) {  // the next line is one further down
      const std::size_t number = 6, behind = next.find(' ', number);
      next = "#line " + std::to_string(std::stoll(next.substr(number, behind - number)) + 1) + next.substr(behind);
    }
    continues = line.ends_with("\\\n");
    asked.clear();
    put(line);
  }
  return out;
}

}  // namespace ashlar::codegen::c
