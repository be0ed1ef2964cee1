// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/c/helpers.h"

#include <charconv>
#include <cmath>

#include <ashlar/ir/numeric.h>
#include <ashlar/ir/refusal.h>

namespace ashlar::codegen::c {

using ir::Op;

std::string key(Type t) {
  if (t.is_index()) return "i64";
  if (t.is_bool()) return "bool";
  if (t.code == Type::Code::bfloat) return "bf16";
  if (t.code == Type::Code::e4m3) return "e4m3";
  if (t.code == Type::Code::e5m2) return "e5m2";
  return (t.is_float() ? "f" : t.is_signed() ? "i" : "u") + std::to_string(t.bits);
}

namespace {

// What a pattern's letters stand for: $T the type, $W the unsigned type that C computes in without promoting, $K its key.
std::string filled(const char* pattern, Type t) {
  const std::string wide = t.is_index() || t.bits == 64 ? "uint64_t" : "uint32_t";
  std::string out;
  for (const char* p = pattern; *p; ++p) {
    if (*p != '$') {
      out += *p;
      continue;
    }
    switch (*++p) {
      case 'T':
        out += value_type(t);
        break;
      case 'W':
        out += wide;
        break;
      case 'K':
        out += key(t);
        break;
      default:
        throw InternalError("codegen: a pattern of C with a letter that stands for nothing");
    }
  }
  return out;
}

}  // namespace

std::string value_type(Type t) {
  if (t.is_bool()) return "bool";
  return memory_type(t);
}

std::string memory_type(Type t) {
  if (t.is_index()) return "int64_t";
  if (t.is_bool()) return "uint8_t";
  if (t.is_float() && t.bits == 64) return "double";
  if (t.is_float() && t.bits == 32) return "float";
  return (t.is_signed() ? "int" : "uint") + std::to_string(t.bits < 8 ? 8 : t.bits) + "_t";
}

std::string real_text(double v, int bits) {
  const std::string suffix = bits == 32 ? "f" : "";
  if (std::isnan(v)) return bits == 32 ? "NAN" : "(double)NAN";
  if (std::isinf(v)) return std::string(bits == 32 ? "" : "(double)") + (v < 0 ? "-INFINITY" : "INFINITY");
  char shown[64];
  const auto r = bits == 32 ? std::to_chars(shown, shown + sizeof shown, static_cast<float>(v))
                            : std::to_chars(shown, shown + sizeof shown, v);
  std::string text(shown, r.ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + suffix;
}

std::string Helpers::define(const std::string& name, const std::string& text) {
  if (known_.emplace(name, true).second) text_ += text + "\n";
  return name;
}

std::string Helpers::of(const std::string& name, Type t, const char* pattern) { return define(name, filled(pattern, t)); }

std::string Helpers::text() const { return text_; }

// ---- integers ----------------------------------------------------------------------------------------------------------
std::string Helpers::negative(Type t) {
  return of("neg_" + key(t), t, "static inline $T neg_$K($T a) { return ($T)(($W)0 - ($W)a); }");
}

std::string Helpers::binary(Op op, Type t) {
  if (t.is_float()) throw InternalError(std::string("codegen: ") + ir::op_name(op) + " of floats is not a helper function");
  const std::string name = std::string(ir::op_name(op)) + "_" + key(t);
  switch (op) {
    case Op::add:
      return of(name, t, "static inline $T add_$K($T a, $T b) { return ($T)(($W)a + ($W)b); }");
    case Op::sub:
      return of(name, t, "static inline $T sub_$K($T a, $T b) { return ($T)(($W)a - ($W)b); }");
    case Op::mul:
      return of(name, t, "static inline $T mul_$K($T a, $T b) { return ($T)(($W)a * ($W)b); }");
    default:
      throw InternalError(std::string("codegen: ") + ir::op_name(op) + " was not expanded");
  }
}

// ---- bits and bytes ----------------------------------------------------------------------------------------------------
std::string Helpers::bits_of(Type t) {
  return define("bits_of_" + key(t), filled(t.bits == 64 ? "static inline uint64_t bits_of_$K($T v) {\n  uint64_t bits;\n"
                                                         : "static inline uint32_t bits_of_$K($T v) {\n  uint32_t bits;\n",
                                            t) +
                                         "  memcpy(&bits, &v, sizeof bits);\n  return bits;\n}");
}

std::string Helpers::from_bits(Type t) {
  return define(key(t) + "_of_bits", filled(t.bits == 64 ? "static inline $T $K_of_bits(uint64_t bits) {\n  $T v;\n"
                                                         : "static inline $T $K_of_bits(uint32_t bits) {\n  $T v;\n",
                                            t) +
                                         "  memcpy(&v, &bits, sizeof v);\n  return v;\n}");
}

std::string Helpers::load(Type t) {
  const std::string type = memory_type(t);
  return define("load_" + type, "static inline " + type + " load_" + type +
                                    "(const void *p) { /* memory that has another type elsewhere */\n  " + type +
                                    " v;\n  memcpy(&v, p, sizeof v);\n  return v;\n}");
}

std::string Helpers::store(Type t) {
  const std::string type = memory_type(t);
  return define("store_" + type, "static inline void store_" + type + "(void *p, " + type +
                                     " v) { /* memory that has another type elsewhere */\n  memcpy(p, &v, sizeof v);\n}");
}

std::string Helpers::load_packed(Type t) {
  return define("load_" + key(t),
                t.is_signed() ? "static inline int8_t load_i4(const uint8_t *p, int64_t e) { /* an even element lies low */\n"
                                "  const int v = (p[e >> 1] >> (e & 1 ? 4 : 0)) & 15;\n"
                                "  return (int8_t)(v < 8 ? v : v - 16);\n}"
                              : "static inline uint8_t load_u4(const uint8_t *p, int64_t e) { /* an even element lies low */\n"
                                "  return (uint8_t)((p[e >> 1] >> (e & 1 ? 4 : 0)) & 15);\n}");
}

std::string Helpers::atomic(Op op, Type t, const std::string& combined) {
  atomics_ = true;
  const std::string name = "atomic_" + std::string(ir::op_name(op)) + "_" + key(t), type = memory_type(t);
  if (!t.is_float() && (op == Op::add || op == Op::bit_and || op == Op::bit_or || op == Op::bit_xor)) {
    const char* const what = op == Op::add ? "add" : op == Op::bit_and ? "and" : op == Op::bit_or ? "or" : "xor";
    return define(name, "static inline void " + name + "(" + type + " *p, " + type + " v) {\n  (void)__atomic_fetch_" + what +
                            "(p, v, __ATOMIC_RELAXED);\n}");
  }
  if (op != Op::add && op != Op::min && op != Op::max)
    throw InternalError(std::string("codegen: an atomic ") + ir::op_name(op));
  return define(name, "static inline void " + name + "(" + type + " *p, " + type + " v) {\n  " + type +
                          " old, next;\n  __atomic_load(p, &old, __ATOMIC_RELAXED);\n  do {\n    next = " + combined +
                          ";\n  } while (!__atomic_compare_exchange(p, &old, &next, false, __ATOMIC_RELAXED, "
                          "__ATOMIC_RELAXED));\n}");
}

std::string Helpers::prefetch() {
  return define("prefetch",
                "static inline void prefetch(uintptr_t p) { /* a hint; p may be the address of nothing */\n"
                "#if defined(__GNUC__)\n  __builtin_prefetch((const void *)p, 0, 3);\n#else\n  (void)p;\n#endif\n}");
}

// ---- conversions -------------------------------------------------------------------------------------------------------
// Truncates toward zero, clamps to the type, NaN gives 0.
std::string Helpers::clamp(Type to, Type from) {
  const std::string type = value_type(to), real = value_type(from), suffix = from.bits == 32 ? "f" : "",
                    name = key(to) + "_from_" + key(from);
  const int bits = to.is_index() ? 64 : to.bits;
  const std::string width = std::to_string(bits);
  const std::string past = "0x1p" + std::to_string(to.is_unsigned() ? bits : bits - 1) + suffix;
  const std::string low = to.is_unsigned() ? "0" : "INT" + width + "_MIN",
                    high = (to.is_unsigned() ? "UINT" : "INT") + width + "_MAX";
  return define(name, "static inline " + type + " " + name + "(" + real +
                          " v) { /* toward 0, clamped; NaN gives 0 */\n  if (v != v) return 0;\n  if (v <= " +
                          (to.is_unsigned() ? "0" + std::string(".0") + suffix : "-" + past) + ") return " + low +
                          ";\n  return v >= " + past + " ? " + high + " : (" + type + ")v;\n}");
}

std::string Helpers::convert(Type to, Type from) {
  if (from.is_float() && to.is_integer()) return clamp(to, from);
  if (from.is_signed() && to.is_unsigned())  // as a function: gcc warns of products with such a cast in them
    return define(key(to) + "_from_" + key(from), "static inline " + value_type(to) + " " + key(to) + "_from_" + key(from) +
                                                      "(" + value_type(from) + " v) { return (" + value_type(to) + ")v; }");
  throw InternalError("codegen: a conversion that a cast of C does");
}

std::string converted(Helpers& h, Type to, Type from, const std::string& x) {
  to = to.element(), from = from.element();
  if (to == from) return x;
  if (to.is_bool()) return "((" + x + ") != " + (from.is_float() ? real_text(0, from.bits) : "0") + ")";
  if (from.is_float() && to.is_integer()) return h.convert(to, from) + "(" + x + ")";
  if (from.is_signed() && to.is_unsigned() && from.bits < 32 && to.bits >= 32) return h.convert(to, from) + "(" + x + ")";
  return "(" + value_type(to) + ")(" + x + ")";
}

// ---- for the entries ---------------------------------------------------------------------------------------------------
std::string Helpers::checked(Op op) {
  switch (op) {
    case Op::add:
      return define("checked_add",
                    "static inline int64_t checked_add(int64_t a, int64_t b, bool *overflow) {\n"
                    "  const int64_t r = (int64_t)((uint64_t)a + (uint64_t)b);\n"
                    "  if (b < 0 ? r > a : r < a) *overflow = true;\n  return r;\n}");
    case Op::sub:
      return define("checked_sub",
                    "static inline int64_t checked_sub(int64_t a, int64_t b, bool *overflow) {\n"
                    "  const int64_t r = (int64_t)((uint64_t)a - (uint64_t)b);\n"
                    "  if (b < 0 ? r < a : r > a) *overflow = true;\n  return r;\n}");
    default:
      return define("checked_mul",
                    "static inline int64_t checked_mul(int64_t a, int64_t b, bool *overflow) {\n"
                    "  const int64_t r = (int64_t)((uint64_t)a * (uint64_t)b);\n"
                    "  if (a == -1 ? b == INT64_MIN : a != 0 && r / a != b) *overflow = true;\n  return r;\n}");
  }
}

}  // namespace ashlar::codegen::c
