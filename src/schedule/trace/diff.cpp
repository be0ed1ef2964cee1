// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The longest common subsequence of two traces (Hirschberg: A linear space algorithm for computing maximal common subsequences,
// CACM 1975, describes the table), by the keys of their steps.
#include <ashlar/schedule/diff.h>

#include <algorithm>
#include <vector>

#include <ashlar/schedule/cpp_text.h>

namespace ashlar {
namespace {

struct Statement {  // the steps that one call makes
  std::string key, text;
};

std::vector<Statement> statements(const Schedule& s) {
  const schedule::CppText all = schedule::cpp_text(s.algorithm(), s.scheduled().trace, s.target(), "schedule");
  std::vector<Statement> result;
  for (std::size_t k = 0; k < all.statements.size(); ++k)
    if (all.statements[k].empty() && !result.empty())
      result.back().key += ", then " + all.keys[k];
    else
      result.push_back({all.keys[k], all.statements[k]});
  return result;
}

}  // namespace

ScheduleDiff diff(const Schedule& first, const Schedule& second) {
  const std::vector<Statement> a = statements(first), b = statements(second);
  // common[i][j]: how many statements a[i...] and b[j...] have in common
  std::vector<std::vector<std::size_t>> common(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t j = b.size(); j-- > 0;)
      common[i][j] = a[i].key == b[j].key ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  ScheduleDiff result;
  const auto line = [&](const char* sign, const Statement& s) { result.text += sign + s.text + "\n"; };
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i].key == b[j].key) {
      line("  ", a[i]), ++i, ++j;
    } else if (i < a.size() && (j == b.size() || common[i + 1][j] >= common[i][j + 1])) {
      line("- ", a[i++]), result.equal = false;
    } else {
      line("+ ", b[j++]), result.equal = false;
    }
  }
  if (result.equal) result.text.clear();
  return result;
}

}  // namespace ashlar
