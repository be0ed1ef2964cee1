// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generators/params.h"

#include <algorithm>
#include <cmath>

namespace ashlar::generators {

namespace {

// A text parameter that is read here: what is asked for, or the fallback, and whether it could be read.
template <class Read>
void read_param(const char* name, const char* type, const std::string& fallback, const char* doc, const std::string& wanted,
                Read read) {
  detail::ParamEntry entry({name, type, fallback, doc, {}, {}, wanted});
  if (entry.asked()) {
    if (read(*entry.asked())) return entry.accept(*entry.asked());
    entry.reject(type);
  }
  read(fallback);
}

bool read_int(const std::string& s, int least, int most, int* v) {
  std::int64_t bits = 0;
  if (!detail::parse_integer(s, least, static_cast<std::uint64_t>(most), &bits) || bits < least) return false;
  *v = static_cast<int>(bits);
  return true;
}

constexpr int many = 1 << 20;

}  // namespace

std::vector<std::string> split(const std::string& s, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end; (end = s.find(separator, begin)) != std::string::npos; begin = end + 1)
    parts.push_back(s.substr(begin, end - begin));
  parts.push_back(s.substr(begin));
  return parts;
}

// ---- types -----------------------------------------------------------------------------------------------------------------

Param<Type> type_param(Kind kind, const char* name, const char* doc) {
  switch (kind) {
    case Kind::floats:
      return {name, f32, {{f32, f16, bf16, f64}}, doc};
    case Kind::integers:
      return {name, i32, {{i8, i16, i32, i64, u8, u16, u32, u64}}, doc};
    case Kind::booleans:
      return {name, bool_, {{bool_}}, doc};
    case Kind::numbers:
      return {name, f32, {{f32, f16, bf16, f64, i8, i16, i32, i64, u8, u16, u32, u64}}, doc};
    case Kind::any:
      break;
  }
  return {name, f32, {{f32, f16, bf16, f64, i8, i16, i32, i64, u8, u16, u32, u64, bool_}}, doc};
}

const char* text(Kind kind) {
  return kind == Kind::floats     ? "floating types"
         : kind == Kind::integers ? "integers"
         : kind == Kind::booleans ? "bool"
         : kind == Kind::numbers  ? "numbers"
                                  : "any type";
}

bool takes(Kind kind, Type t) {
  return kind == Kind::floats     ? t.is_float()
         : kind == Kind::integers ? t.is_data_integer()
         : kind == Kind::booleans ? t == bool_
         : kind == Kind::numbers  ? t.is_float() || t.is_data_integer()
                                  : true;
}

// ---- shapes ----------------------------------------------------------------------------------------------------------------

namespace {
constexpr std::uint64_t most_extent = std::uint64_t{1} << 40;
constexpr std::size_t list_end = max_rank + 1;  // no axis

bool is_name(const std::string& s) {
  return !s.empty() && s[0] >= 'A' && s[0] <= 'Z' && std::all_of(s.begin(), s.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}
}  // namespace

Expr Extents::named(const std::string& name, const Symbol::Facts& facts) {
  std::unique_ptr<ExtentParam>& e = named_[name];
  if (!e) e = std::make_unique<ExtentParam>(name.c_str(), facts);
  return *e;
}
Expr Extents::operator[](const std::string& name) { return named(name, facts_); }

std::vector<std::string> Extents::words(const char* param, const char* fallback, const char* doc, int least_rank, int most_rank,
                                        bool products) {
  std::string ranks = std::to_string(least_rank) + " to " + std::to_string(most_rank);
  if (least_rank == most_rank) ranks = std::to_string(least_rank);
  std::vector<std::string> words;
  const auto is_factor = [&](const std::string& s) {
    std::int64_t v = 0;
    if (s.empty()) return false;
    return is_name(s) || (detail::parse_integer(s, 0, most_extent, &v) && v >= facts_.min);
  };
  const auto is_extent = [&](const std::string& s) {
    const std::vector<std::string> factors = split(s, '*');
    return (products || factors.size() == 1) && std::all_of(factors.begin(), factors.end(), is_factor);
  };
  read_param(param, "shape", fallback, doc,
             ranks + " extents, each a number" + (facts_.min > 0 ? " of at least " + std::to_string(facts_.min) : "") +
                 " or a name that begins with a capital letter" + (products ? ", or a product, M*2" : ""),
             [&](const std::string& s) {
               written_[param] = s;
               words = s.empty() ? std::vector<std::string>() : split(s, ',');
               const auto rank = static_cast<int>(words.size());
               return rank >= least_rank && rank <= most_rank && std::all_of(words.begin(), words.end(), is_extent);
             });
  return words;
}

std::vector<std::string> Extents::list(const char* param, const char* fallback, const char* doc, int least_rank,
                                       int most_rank) {
  return words(param, fallback, doc, least_rank, most_rank, false);
}

std::vector<Extent> Extents::shape(const std::vector<std::string>& list, std::size_t axis, Symbol::Facts of_axis) {
  const auto factor = [&](const std::string& s, const Symbol::Facts& facts) -> Expr {
    std::int64_t v = 0;
    if (is_name(s)) return named(s, facts);
    detail::parse_integer(s, 0, most_extent, &v);
    return ir::index(v);
  };
  const auto extent = [&](std::size_t d, const Symbol::Facts& facts) -> Extent {
    const std::vector<std::string> factors = split(list[d], '*');
    Expr e = factor(factors[0], facts);
    for (std::size_t k = 1; k < factors.size(); ++k) e = ops::detail::plain(e * factor(factors[k], facts));
    return e;
  };
  std::vector<Extent> shape(list.size(), Extent(0));
  if (axis < list.size()) shape[axis] = extent(axis, of_axis);  // first: another dimension may have the same name
  for (std::size_t d = 0; d < list.size(); ++d)
    if (d != axis) shape[d] = extent(d, facts_);
  return shape;
}

std::vector<Extent> Extents::shape(const char* param, const char* fallback, const char* doc, int least_rank, int most_rank) {
  return shape(words(param, fallback, doc, least_rank, most_rank, true), list_end, facts_);
}

// ---- lists of numbers ------------------------------------------------------------------------------------------------------

NumbersParam::NumbersParam(const char* name, int count, int fallback, int least, const char* doc) {
  const std::string each = " of at least " + std::to_string(least);
  read_param(name, "numbers", std::to_string(fallback), doc,
             count == 1 ? "a number" + each : std::to_string(count) + " numbers" + each + ", or one for all",
             [&](const std::string& s) {
               const std::vector<std::string> words = split(s, ',');
               if (words.size() != 1 && words.size() != static_cast<std::size_t>(count)) return false;
               values_.assign(static_cast<std::size_t>(count), 0);
               for (std::size_t k = 0; k < values_.size(); ++k)
                 if (!read_int(words[words.size() == 1 ? 0 : k], least, many, &values_[k])) return false;
               return true;
             });
}

WeightsParam::WeightsParam(const char* name, const char* fallback, const char* doc) {
  read_param(name, "numbers", fallback, doc, "an odd number of numbers", [&](const std::string& s) {
    const std::vector<std::string> words = split(s, ',');
    values_.assign(words.size(), 0);
    for (std::size_t k = 0; k < words.size(); ++k)
      if (!detail::parse_real(words[k], &values_[k]) || !std::isfinite(values_[k])) return false;
    return words.size() % 2 == 1;
  });
}

AxesParam::AxesParam(const char* name, const char* fallback, int rank, const char* doc) {
  read_param(name, "axes", fallback, doc,
             "all, or axes from " + std::to_string(-rank) + " to " + std::to_string(rank - 1) + ", each once",
             [&](const std::string& s) {
               values_.clear();
               if (s == "all") return true;
               for (const std::string& w : split(s, ',')) {
                 int v = 0;
                 if (!read_int(w, -rank, many, &v) || v >= rank) return false;
                 for (const int other : values_)
                   if ((other + rank) % rank == (v + rank) % rank) return false;
                 values_.push_back(v);
               }
               return true;
             });
}

Param<int> axis_param(int rank, int fallback, const char* name) {
  if (fallback >= rank || fallback < -rank) fallback = rank == 0 ? 0 : -1;
  return {name, fallback, between(rank == 0 ? 0 : -rank, rank == 0 ? 0 : rank - 1),
          "a dimension; negative numbers count from the end"};
}

// ---- paddings --------------------------------------------------------------------------------------------------------------

PaddingParam::PaddingParam(int count, const char* fallback, bool same) {
  const std::string each = "numbers of at least 0, each may be BEFORE:AFTER";
  read_param("padding", "numbers", fallback, "elements around the image",
             (count == 1 ? each : std::to_string(count) + " " + each + ", or one for all") + (same ? "; or same" : ""),
             [&](const std::string& s) {
               same_ = same && s == "same";
               if (same_) return true;
               const std::vector<std::string> words = split(s, ',');
               if (words.size() != 1 && words.size() != static_cast<std::size_t>(count)) return false;
               values_.assign(static_cast<std::size_t>(count), {});
               for (std::size_t k = 0; k < values_.size(); ++k) {
                 const std::vector<std::string> sides = split(words[words.size() == 1 ? 0 : k], ':');
                 int before = 0, after = 0;
                 if (sides.size() > 2 || !read_int(sides.front(), 0, many, &before) || !read_int(sides.back(), 0, many, &after))
                   return false;
                 values_[k] = ops::Pad(before, after);
               }
               return true;
             });
}

// ---- layouts ---------------------------------------------------------------------------------------------------------------

LayoutParam::LayoutParam(int dimensions, bool blocked) : dimensions_(dimensions) {
  const std::string image = dimensions == 1   ? "w"
                            : dimensions == 2 ? "hw"
                                              : "dhw",
                    first = "nc" + image, last = "n" + image + "c";
  std::vector<std::string> names{first, last};
  if (blocked)
    for (const char* block : {"4", "8", "16", "32"}) names.push_back(first + block + "c");
  detail::ParamEntry entry({"layout", "name", first, "layout of x and the result", names, {}});
  if (!entry.asked()) return;
  const auto found = std::find(names.begin(), names.end(), *entry.asked());
  if (found == names.end()) {
    entry.reject("");
    return;
  }
  entry.accept(*found);
  if (*found == last) layout_ = ops::Layout::channels_last;
  if (*found != last && *found != first) {
    layout_ = ops::Layout::channels_blocked;
    block_ = std::stoi(found->substr(first.size()));
  }
}

std::vector<int> LayoutParam::channels() const {
  if (layout_ == ops::Layout::channels_last) return {dimensions_ + 1};
  if (blocked()) return {1, dimensions_ + 2};
  return {1};
}

}  // namespace ashlar::generators
