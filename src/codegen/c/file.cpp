// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/c/file.h"

#include <algorithm>
#include <iterator>

#include <ashlar/ir/numeric.h>
#include <ashlar/ir/refusal.h>

namespace ashlar::codegen::c {

namespace {

// Words of C99, of the headers that a file includes, and of its own functions.
constexpr const char* kTaken[] = {
    "args",     "context", "loop",      "slot",      "closure",      "first",     "past",      "chunk",    "overflow",
    "own",      "inner",   "workspace", "workers",   "slots",        "restrict",  "inline",    "signed",   "asm",
    "typeof",   "NULL",    "NAN",       "INFINITY",  "HUGE_VAL",     "HUGE_VALF", "signbit",   "isnan",    "isinf",
    "sqrt",     "sqrtf",   "floor",     "floorf",    "ceil",         "ceilf",     "trunc",     "truncf",   "fabs",
    "fabsf",    "fma",     "fmaf",      "nearbyint", "nearbyintf",   "copysign",  "copysignf", "memcpy",   "memset",
    "offsetof", "size_t",  "bool",      "prefetch",  "code",         "fail",      "view",      "span",     "wrong",
    "exp",      "log",     "pow",       "isfinite",  "isnormal",     "ptrdiff_t", "uintptr_t", "intptr_t", "least",
    "found",    "share",   "chunks",    "bodies",    "worker_bytes", "next",      "apart",     "begin",    "extent",
    "dense",    "owned",   "bytes",     "total",     "arguments",    "symbols",   "results",   "room",     "each",
    "count",    "what",    "expected",  "argument",  "dimension",    "main",      "choose",    "lane",     "both",
    "either",   "padded",  "shared",    "zeros",     "errno",        "OVERFLOW",  "DOMAIN",    "UNDERFLOW"};

constexpr const char* kEnds[] = {"_i4",  "_i8",  "_i16",  "_i32",  "_i64",  "_u4",   "_u8", "_u16", "_u32", "_u64", "_f16",
                                 "_f32", "_f64", "_bf16", "_e4m3", "_e5m2", "_bool", "_t",  "_MAX", "_MIN", "_bits"};

bool is_reserved(const std::string& s) {
  for (const char* end : kEnds)
    if (s.ends_with(end)) return true;
  for (const char* begin : {"FLT_", "DBL_", "FP_", "INT", "UINT", "checked_", "overlaps", "same_", "at_least", "ashlar_",
                            "ASHLAR_", "atomic_", "load_", "store_", "saturate_", "M_", "__"})
    if (s.starts_with(begin)) return true;
  return s.size() > 1 && s[0] == '_' && s[1] >= 'A' && s[1] <= 'Z';
}

std::string element_text(Type t, const ir::Value& v) {
  if (t.is_float() && t.bits >= 32) return real_text(v.f, t.bits);
  if (t.is_float()) return std::to_string(ir::to_bits(v)) + "u";
  if (t.is_unsigned() && t.bits == 64) return "UINT64_C(" + std::to_string(static_cast<std::uint64_t>(v.i)) + ")";
  if (t.bits == 64) return v.i == INT64_MIN ? "INT64_MIN" : "INT64_C(" + std::to_string(v.i) + ")";
  if (t.bits == 32 && t.is_signed()) return v.i == INT32_MIN ? "INT32_MIN" : std::to_string(v.i);
  return std::to_string(v.i) + (t.is_unsigned() ? "u" : "");
}

}  // namespace

File::File(const ir::Kernel& k, const Target& t)
    : kernel(k), target(t), layout(abi_layout(k, t.pointer_bytes())), name(c_identifier(k.name)) {
  taken_.insert(std::begin(kTaken), std::end(kTaken));
  for (const char* suffix : {"", "_with", "_run", "_workspace_bytes", "_args", "_body", "_abi1_desc", "_shape", "_assume",
                             "_fail", "_checked", "_workspace_of"})
    taken_.insert(name + suffix);
}

std::string File::unique(const std::string& wanted) {
  std::string base = c_identifier(wanted);
  if (is_reserved(base)) base = (base[0] == '_' ? "v" : "") + base + (is_reserved(base + "_") ? "_v" : "_");
  if (is_reserved(base)) base = "v_" + base;
  std::string made = base;
  for (int& n = last_.emplace(base, 1).first->second; !taken_.insert(made).second;) made = base + std::to_string(++n);
  return made;
}

std::string File::name_of(ir::Id id, const std::string& wanted) {
  std::string& known = names_[id];
  if (known.empty()) known = unique(wanted.empty() ? "v" : wanted);
  return known;
}

const std::string& File::field(ArgField::Kind kind, ir::Id id) const { return layout.field(kind, id).name; }

void File::include(const std::string& line) {
  if (includes_.find(line + "\n") == std::string::npos) includes_ += line + "\n";
}

void File::declare(const std::string& symbol, const std::string& declaration) { declared_.emplace(symbol, declaration); }

std::string File::data_of(const ir::KBuffer& buffer) {
  std::string& known = data_names_[buffer.id];
  if (!known.empty()) return known;
  known = name_of(buffer.id, buffer.name);
  const Type t = buffer.type.element();
  const auto bytes = static_cast<std::size_t>(t.bytes());
  const std::size_t count = buffer.data->size() / bytes;
  if (t.is_float() && t.bits >= 32) helpers.math();  // NAN and INFINITY
  data_ += "static const " + memory_type(t) + " " + known + "[" + std::to_string(std::max<std::size_t>(count, 1)) + "] = {";
  std::string line;
  for (std::size_t e = 0; e < count; ++e) {
    const std::string one = element_text(t, ir::read_value(t, buffer.data->data() + e * bytes)) + (e + 1 < count ? ", " : "");
    if (line.size() + one.size() > 110) data_ += "\n  " + line, line.clear();
    line += one;
  }
  data_ += (count > 16 ? "\n  " : "") + line + (count == 0 ? "0" : "") + "};\n";
  return known;
}

std::string File::text(const std::string& head, const std::string& entries) const {
  std::string out = head + includes_;
  out +=
      "\n#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || "
      "defined(__ASSOCIATIVE_MATH__)\n"
      "#error \"these results are those of IEEE 754: compile without -ffast-math\"\n#endif\n"
      "#if FLT_EVAL_METHOD != 0\n"
      "#error \"floats must be computed in their own types: FLT_EVAL_METHOD is not 0\"\n#endif\n"
      "#if defined(__GNUC__) && !defined(__clang__)\n"
      "#pragma GCC optimize(\"fp-contract=off\") /* gcc ignores the pragma of C99 */\n#else\n"
      "#pragma STDC FP_CONTRACT OFF\n#endif\n";
  // what a kernel asks may be known beforehand, and what stands under a condition that never holds may lie outside
  out +=
      "#if defined(__GNUC__)\n#pragma GCC diagnostic ignored \"-Wtautological-compare\"\n"
      "#pragma GCC diagnostic ignored \"-Wtype-limits\"\n#pragma GCC diagnostic ignored \"-Warray-bounds\"\n"
      "#if !defined(__clang__)\n#pragma GCC diagnostic ignored \"-Wbool-compare\"\n#endif\n#endif\n";
  if (helpers.uses_atomics())
    out +=
        "#if !defined(__GNUC__)\n#error \"parallel loops and atomic stores need __atomic_fetch_add of gcc and "
        "clang\"\n#endif\n";
  out += "\n";
  for (const auto& [symbol, declaration] : declared_) out += declaration + "\n";
  if (!declared_.empty()) out += "\n";
  out += helpers.text();
  if (!helpers.text().empty()) out += "\n";
  out += data_;
  if (!data_.empty()) out += "\n";
  return out + functions + entries;
}

bool is_packed(const ir::KBuffer& b) { return b.type.is_packed() && b.storage == ir::Storage::argument; }

std::string element_type(const ir::KBuffer& b) { return is_packed(b) ? "uint8_t" : memory_type(b.type.element()); }

bool may_overlap(const ir::Kernel& k, const ir::KBuffer& a, const ir::KBuffer& b) {
  if (a.id == b.id) return true;
  if (a.storage != b.storage) return false;
  if (a.storage == ir::Storage::workspace) return a.per_worker == b.per_worker && ir::same(a.offset, b.offset);
  if (a.storage != ir::Storage::argument) return false;
  if (a.written == b.written) return !a.written;  // inputs may be one memory, which nobody writes
  const ir::KBuffer& out = a.written ? a : b;
  const auto it = k.argument_buffers.find(out.id);
  return it != k.argument_buffers.end() && it->second.may_alias_inputs;
}

bool is_alone(const ir::Kernel& k, const ir::KBuffer& b) {
  return std::none_of(k.buffers.begin(), k.buffers.end(), [&](const auto& other) {
    return other.first != b.id && (b.written || b.storage != ir::Storage::argument || other.second.written) &&
           may_overlap(k, b, other.second);
  });
}

bool has_other_types(const ir::Kernel& k, const ir::KBuffer& b) {
  if (b.storage != ir::Storage::workspace && b.storage != ir::Storage::argument) return false;
  if (element_type(b) == "uint8_t" && !b.written && b.storage == ir::Storage::argument) return false;
  return std::any_of(k.buffers.begin(), k.buffers.end(), [&](const auto& other) {
    return other.first != b.id && (b.written || other.second.written || b.storage == ir::Storage::workspace) &&
           may_overlap(k, b, other.second) && element_type(other.second) != element_type(b);
  });
}

std::string quoted(const std::string& s) {
  std::string out = "\"";
  for (const char c : s) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += std::string("\\") + c;
    } else if (u < ' ' || u >= 0x7F) {
      const char digits[] = {'\\', static_cast<char>('0' + (u >> 6)), static_cast<char>('0' + (u >> 3 & 7)),
                             static_cast<char>('0' + (u & 7))};
      out.append(digits, 4);
    } else {
      out += c;
    }
    if (c == '?') out += "\"\"";  // two in a row may begin a trigraph
  }
  return out + "\"";
}

std::string in_comment(std::string s) {
  for (std::size_t at = 0; (at = s.find("*/", at)) != std::string::npos;) s.insert(at + 1, " ");
  for (std::size_t at = 0; (at = s.find("/*", at)) != std::string::npos;) s.insert(at + 1, " ");
  for (char& c : s)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  return s;
}

}  // namespace ashlar::codegen::c
