// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ir/emit_text.h>

#include <algorithm>
#include <optional>

#include <ashlar/ir/refusal.h>

namespace ashlar::ir {
namespace {

// Calls plain(text) and field(placeholder) in order; gives the rest of the text from a brace without partner on.
template <class Plain, class Field>
std::string_view scan(std::string_view text, Plain&& plain, Field&& field) {
  for (std::size_t k = 0; k < text.size();) {
    const char c = text[k];
    if (c != '{' && c != '}') {
      const std::size_t end = std::min(text.find_first_of("{}", k), text.size());
      plain(text.substr(k, end - k));
      k = end;
    } else if (k + 1 < text.size() && text[k + 1] == c) {
      plain(text.substr(k, 1));
      k += 2;
    } else {
      const std::size_t end = c == '{' ? text.find_first_of("{}", k + 1) : std::string_view::npos;
      if (end == std::string_view::npos || text[end] == '{') return text.substr(k);
      const std::string_view inside = text.substr(k + 1, end - k - 1);
      const std::size_t dot = std::min(inside.find('.'), inside.size());
      field(Placeholder{std::string(inside.substr(0, dot)), std::string(inside.substr(std::min(dot + 1, inside.size())))});
      k = end + 1;
    }
  }
  return {};
}

}  // namespace

Placeholders placeholders_of(std::string_view text) {
  Placeholders p;
  p.wrong = scan(text, [](std::string_view) {}, [&](Placeholder f) { p.list.push_back(std::move(f)); });
  return p;
}

std::string filled(std::string_view text, const std::function<std::string(const Placeholder&)>& value) {
  std::string out;
  const std::string_view wrong =
      scan(text, [&](std::string_view plain) { out += plain; }, [&](const Placeholder& f) { out += value(f); });
  if (!wrong.empty()) throw InternalError("a text with an unmatched brace: " + std::string(wrong));
  return out;
}

std::optional<RegisterRange> registers_named(const Placeholder& p) {
  RegisterRange r;
  std::int64_t* number = &r.first;
  bool digits = false;
  for (const char c : p.field) {
    if (c == '-' && digits && number == &r.first) {
      number = &r.last, digits = false;
      continue;
    }
    if (c < '0' || c > '9' || *number > 999) return std::nullopt;
    *number = *number * 10 + (c - '0'), digits = true;
  }
  if (!digits) return std::nullopt;
  if (number == &r.first) r.last = r.first, r.single = true;
  if (r.last < r.first) return std::nullopt;
  return r;
}

namespace {
bool names(const Intrinsic& f, const std::string& back_end, const IntrinsicOperand& o, std::string_view field) {
  const auto text = f.emit.find(back_end);
  if (text == f.emit.end()) return false;
  const auto named = placeholders_of(text->second).list;
  return std::any_of(named.begin(), named.end(), [&](const Placeholder& p) { return p.name == o.name && p.field == field; });
}

}  // namespace

bool names_stride(const Intrinsic& f, const std::string& back_end, const IntrinsicOperand& o, std::size_t dimension) {
  return names(f, back_end, o, "stride" + std::to_string(dimension));
}

bool has_result(const Intrinsic& f, const std::string& back_end, const IntrinsicOperand& o) {
  return names(f, back_end, o, "result");
}

bool by_value(const Intrinsic& f, const std::string& back_end, const IntrinsicOperand& o) {
  return names(f, back_end, o, "value") || has_result(f, back_end, o);
}

}  // namespace ashlar::ir
