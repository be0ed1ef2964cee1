// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f_run: the entry on plain pointers. It checks what codegen/llvm/run.cpp checks, in the same order and with the same
// sentences; until then nothing is written, and it needs no runtime.
#include <algorithm>

#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/runtime/desc.h>

#include "codegen/c/entries.h"
#include "codegen/extents.h"
#include "codegen/workspace_text.h"

namespace ashlar::codegen::c {

using ir::Op;

std::string Helpers::named(const std::string& name) {
  if (name == "choose") return define(name, "static inline int64_t choose(bool c, int64_t a, int64_t b) { return c ? a : b; }");
  if (name == "both") return define(name, "static inline bool both(bool a, bool b) { return a && b; }");
  if (name == "either") return define(name, "static inline bool either(bool a, bool b) { return a || b; }");
  if (name == "at_least_one")
    return define(name, "static inline int64_t at_least_one(int64_t extent) { return extent > 1 ? extent : 1; }");
  if (name == "view")
    return define(
        name,
        "/* A tensor as the checks see it. */\nstruct view {\n"
        "  uint64_t address;\n  int32_t rank;\n  int64_t bytes;      /* of an element, or of two that share a byte */\n"
        "  bool packed, empty;\n  bool given_rows;    /* the outermost stride is an argument */\n"
        "  int64_t low, high;  /* bytes from element 0 that are touched: [low, high) */\n"
        "  int64_t extent[8], stride[8];\n};");
  if (name == "span") {
    named("view"), named("at_least_one"), checked(Op::add), checked(Op::sub), checked(Op::mul);
    return define(name,
                  "/* What is touched; true where more than 63 bits are needed to say it. */\n"
                  "static bool span(struct view *v) {\n"
                  "  bool overflow = false;\n  int64_t low = 0, high = 0;\n"
                  "  for (int32_t d = 0; d < v->rank; ++d) {\n"
                  "    const int64_t reach = checked_mul(at_least_one(v->extent[d]) - 1, v->stride[d], &overflow);\n"
                  "    low = checked_add(low, reach < 0 ? reach : 0, &overflow);\n"
                  "    high = checked_add(high, reach < 0 ? 0 : reach, &overflow);\n  }\n"
                  "  high = checked_add(high, 1, &overflow);\n"
                  "  if (v->packed) low = low >> 1, high = (high >> 1) + (high & 1); /* element e lies in byte e / 2 */\n"
                  "  v->low = checked_mul(low, v->bytes, &overflow);\n"
                  "  v->high = checked_mul(high, v->bytes, &overflow);\n"
                  "  (void)checked_sub(v->high, v->low, &overflow);\n"
                  "  return overflow || (!v->empty && v->address + (uint64_t)v->high < v->address);\n}");
  }
  if (name == "overlaps_itself") {
    named("view"), binary(Op::mul, i64), binary(Op::add, i64), negative(i64);
    define("abs_i64", "static inline int64_t abs_i64(int64_t a) {\n  return a < 0 ? neg_i64(a) : a;\n}");
    return define(name,
                  "/* Unless the dimensions, by growing stride, each step over all that the smaller ones reach. */\n"
                  "static bool overlaps_itself(const struct view *v, int64_t *least, int64_t *found) {\n"
                  "  int32_t sorted[8];\n  int64_t reach = 0;\n"
                  "  for (int32_t d = 0; d < v->rank; ++d) sorted[d] = v->rank - 1 - d;\n"
                  "  for (int32_t n = v->rank; n > 1; --n)\n    for (int32_t j = 0; j + 1 < n; ++j) {\n"
                  "      const int32_t x = sorted[j], y = sorted[j + 1];\n"
                  "      const int64_t sx = v->extent[x] > 1 ? abs_i64(v->stride[x]) : INT64_MAX;\n"
                  "      const int64_t sy = v->extent[y] > 1 ? abs_i64(v->stride[y]) : INT64_MAX;\n"
                  "      if (sx > sy) sorted[j] = y, sorted[j + 1] = x;\n    }\n"
                  "  for (int32_t j = 0; j < v->rank; ++j) {\n    const int32_t d = sorted[j];\n"
                  "    const int64_t stride = abs_i64(v->stride[d]);\n    if (v->extent[d] <= 1) continue;\n"
                  "    if (stride <= reach) {\n      *least = reach + 1, *found = stride;\n      return !v->empty;\n    }\n"
                  "    reach = add_i64(reach, mul_i64(stride, v->extent[d] - 1));\n  }\n  return false;\n}");
  }
  if (name == "overlaps") {
    named("view"), named("at_least_one");
    return define(
        name,
        "/* By their spans, unless both step by one distance from row to row and lie beside each other in it. */\n"
        "static bool overlaps(const struct view *a, const struct view *b) {\n"
        "  if (a->empty || b->empty) return false;\n"
        "  if (a->address + (uint64_t)a->low >= b->address + (uint64_t)b->high) return false;\n"
        "  if (b->address + (uint64_t)b->low >= a->address + (uint64_t)a->high) return false;\n"
        "  if (a->rank >= 2 && b->rank >= 2 && a->given_rows && b->given_rows && !b->packed) {\n"
        "    const uint64_t ra = (uint64_t)a->stride[0] * (uint64_t)a->bytes, rb = (uint64_t)b->stride[0] * "
        "(uint64_t)b->bytes;\n"
        "    const int64_t row = (int64_t)ra;\n"
        "    if (ra == rb && row > 0 && a->low == 0 && b->low == 0) {\n"
        "      const int64_t wide_a = (int64_t)((uint64_t)a->high - (uint64_t)(at_least_one(a->extent[0]) - 1) * ra);\n"
        "      const int64_t wide_b = (int64_t)((uint64_t)b->high - (uint64_t)(at_least_one(b->extent[0]) - 1) * rb);\n"
        "      const int64_t rest = (int64_t)(b->address - a->address) % row, past = rest < 0 ? rest + row : rest;\n"
        "      if (past >= wide_a && past <= row - wide_b) return false;\n    }\n  }\n  return true;\n}");
  }
  if (name == "same_elements") {
    named("view");
    return define(name,
                  "static bool same_elements(const struct view *a, const struct view *b) {\n"
                  "  if (a->address != b->address) return false;\n  for (int32_t d = 0; d < a->rank; ++d)\n"
                  "    if (a->extent[d] != b->extent[d] || a->stride[d] != b->stride[d]) return false;\n  return true;\n}");
  }
  throw InternalError("codegen: no helper is called " + name);
}

namespace {

struct View {
  const ArgField* field = nullptr;
  const ir::Buffer* buffer = nullptr;
  std::int64_t align = 1;
  int number = 0;    // among the arguments
  std::string name;  // of the struct view
  std::vector<bool> given;
  bool packed() const { return buffer->type.is_packed(); }
  std::size_t rank() const { return buffer->extents.size(); }
  std::int64_t bytes() const { return buffer->type.bytes(); }
};

class Run {
 public:
  explicit Run(File& file) : file_(file), k_(file.kernel), f_(file) {}

  void write() {
    call_itself();
    f_.line("bool overflow = false;");
    f_.line("(void)overflow;");
    symbols();
    views();
    memory();
    overlaps();
    assumptions();
    finish();
    file_.functions += "int " + file_.name + "_run(const " + file_.name + "_args *args, const ashlar_context *context) {\n" +
                       f_.text + "}\n\n";
  }

 private:
  static std::string n(std::int64_t v) { return v == INT64_MAX ? "INT64_MAX" : std::to_string(v); }

  void fail_if(const std::string& bad, const char* code, int argument, int dimension, const std::string& expected,
               const std::string& found, const std::string& what, const char* context = "context") {
    f_.line("if (" + bad + ")");
    f_.line("  return " + file_.name + "_fail(" + context + ", ASHLAR_E_" + code + ", " + std::to_string(argument) + ", " +
            std::to_string(dimension) + ", " + expected + ", " + found + ",");
    f_.line("      " + quoted(k_.name + ": " + what) + ");");
  }

  void call_itself() {
    // a context of another size has no error record that could be trusted
    fail_if("context != NULL && context->size < sizeof(ashlar_context)", "ABI", -1, -1, "(int64_t)sizeof(ashlar_context)",
            "(int64_t)context->size", "the context's size is {found}, expected at least {expected}", "NULL");
    fail_if("args == NULL", "NULL", -1, -1, "1", "0", "the argument structure is NULL");
  }

  void symbols() {
    for (const ArgField& field : file_.layout.fields) {
      if (field.kind == ArgField::Kind::pointer) continue;
      const std::string own = file_.name_of(field.id, field.name);
      if (field.kind == ArgField::Kind::scalar) continue;
      if (field.kind == ArgField::Kind::stride) continue;
      f_.line("const int64_t " + own + " = args->" + field.name + ";");
      f_.bind_value(field.id, own, ir::index_type);
      const ir::Symbol& s = k_.symbols.at(field.id);
      const std::int64_t least = std::max<std::int64_t>(s.min, 0);
      fail_if(own + " < " + n(least), s.min > 0 ? "FACT" : "SHAPE", -1, -1, n(least), own,
              s.name + " is {found}, expected at least {expected}");
      const std::int64_t most = most_of(s, static_cast<std::size_t>(file_.target.pointer_bytes()));
      if (most != INT64_MAX)
        fail_if(own + " > " + n(most), most == s.max ? "FACT" : "OVERFLOW", -1, -1, n(most), own,
                s.name + " is {found}, expected at most {expected}");
      if (s.multiple_of > 1)
        fail_if(own + " % " + n(s.multiple_of) + " != 0", "FACT", -1, -1, n(s.multiple_of), own,
                s.name + " is {found}, expected a multiple of {expected}");
    }
  }

  void views() {
    int number = -1;
    for (const ir::Argument& a : k_.arguments) {
      ++number;
      if (a.kind == ir::ArgumentKind::scalar) continue;
      View v;
      v.field = &file_.layout.field(ArgField::Kind::pointer, a.id);
      v.buffer = &k_.argument_buffers.at(a.id);
      v.number = number;
      const auto it = k_.buffers.find(a.id);
      v.align = std::max({it == k_.buffers.end() ? 1 : it->second.align, v.buffer->align, std::int64_t{v.bytes()}});
      v.name = file_.unique(v.field->name + "_view");
      file_.helpers.named("view");
      if (v.rank() > ASHLAR_ABI1_MAX_RANK)
        throw InternalError("codegen: " + v.field->name + " has more dimensions than a tensor may have");
      shape(v);
      views_.push_back(std::move(v));
    }
  }

  void shape(View& v) {
    const std::size_t rank = v.rank();
    const std::string me = v.name + ".";
    v.given.assign(rank, false);
    f_.line("struct view " + v.name + " = {0};");
    f_.line(me + "address = (uint64_t)(uintptr_t)args->" + v.field->name + ";");
    f_.line(me + "rank = " + std::to_string(rank) + ";");
    f_.line(me + "bytes = " + n(v.bytes()) + ";");
    if (v.packed()) f_.line(me + "packed = true;");
    std::string empty;
    for (std::size_t d = 0; d < rank; ++d) {
      const Expr& wanted = v.buffer->extents[d];
      const std::string extent = me + "extent[" + std::to_string(d) + "]";
      const std::string shape = v.field->name + ".shape[" + std::to_string(d) + "]";
      const int dim = static_cast<int>(d);
      f_.line(extent + " = " + f_.checked(wanted) + ";");
      if (!ir::args_of(wanted).empty())
        fail_if("overflow", "OVERFLOW", v.number, dim, "INT64_MAX", extent, shape + " exceeds {expected}");
      fail_if(extent + " < 0", "SHAPE", v.number, dim, "0", extent,
              shape + " is {found}, expected at least {expected} (" + ir::text(wanted) + ")");
      empty += (d ? " || " : "") + extent + " == 0";
    }
    if (rank > 0) f_.line(me + "empty = " + empty + ";");
    std::string dense = "1";
    for (std::size_t d = rank; d-- > 0;) {
      const std::string stride = me + "stride[" + std::to_string(d) + "]";
      const ArgField* given = nullptr;
      for (const ArgField& f : file_.layout.fields)
        if (f.kind == ArgField::Kind::stride && f.buffer == v.field->id && f.dim == static_cast<int>(d)) given = &f;
      f_.line(stride + " = " + (given ? "args->" + given->name + " == 0 ? " + dense + " : args->" + given->name : dense) + ";");
      if (given) {
        v.given[d] = true;
        order(v, d, dense);
      }
      if (d > 0) {
        const std::string next = file_.unique("dense");
        f_.line("const int64_t " + next + " = " + file_.helpers.checked(Op::mul) + "(" + dense + ", " +
                file_.helpers.named("at_least_one") + "(" + me + "extent[" + std::to_string(d) + "]), &overflow);");
        dense = next;
      }
    }
    if (rank > 0 && v.given[0]) f_.line(me + "given_rows = true;");
    if (rank > 1)
      fail_if("overflow", "OVERFLOW", v.number, -1, "INT64_MAX", dense, v.field->name + " reaches past {expected} bytes");
    fail_if(file_.helpers.named("span") + "(&" + v.name + ")", "OVERFLOW", v.number, -1, "INT64_MAX", "0",
            v.field->name + " reaches past {expected} bytes");
  }

  void order(const View& v, std::size_t d, const std::string& dense) {
    const std::string at = "[" + std::to_string(d) + "]", stride = v.name + ".stride" + at, extent = v.name + ".extent" + at;
    const std::string text = v.field->name + ".strides" + at;
    const bool inner = d + 1 == v.rank();
    using Order = ir::Buffer::Order;
    if (v.buffer->order == Order::dense || (inner && v.buffer->order == Order::inner_unit_stride))
      fail_if(extent + " > 1 && " + stride + " != " + dense, "STRIDE", v.number, static_cast<int>(d), dense, stride,
              text + " is {found}, expected {expected}");
    else if (v.buffer->order != Order::any)
      fail_if(extent + " > 1 && " + stride + " < 0", "STRIDE", v.number, static_cast<int>(d), "0", stride,
              text + " is {found}, expected at least {expected}");
  }

  void memory() {
    for (const View& v : views_) {
      const std::string me = v.name + ".";
      fail_if("!" + me + "empty && " + me + "address == 0", "NULL", v.number, -1, me + "high - " + me + "low", "0",
              v.field->name + " is NULL, expected {expected} bytes");
      for (std::size_t d = 0; v.packed() && d + 1 < v.rank(); ++d) {
        const std::string at = "[" + std::to_string(d) + "]", in_byte = n(8 / v.buffer->type.bits);
        fail_if("!" + me + "empty && " + me + "extent" + at + " > 1 && " + me + "stride" + at + " % " + in_byte + " != 0",
                "STRIDE", v.number, static_cast<int>(d), in_byte, me + "stride" + at,
                v.field->name + ".strides" + at + " is {found}, expected a multiple of {expected} (rows start on bytes)");
      }
      if (v.align <= 1) continue;
      const std::string past = me + "address % " + n(v.align);
      fail_if("!" + me + "empty && " + past + " != 0", "ALIGN", v.number, -1, n(v.align), "(int64_t)(" + past + ")",
              v.field->name + " begins {found} bytes past a multiple of {expected} bytes, expected a multiple of {expected}");
    }
  }

  void overlaps() {
    for (const View& out : views_) {
      if (!out.field->written) continue;
      if (std::any_of(out.given.begin(), out.given.end(), [](bool g) { return g; })) {  // others are dense
        f_.open("");
        f_.line("int64_t least = 0, found = 0;");
        fail_if(file_.helpers.named("overlaps_itself") + "(&" + out.name + ", &least, &found)", "ALIAS", out.number, -1,
                "least", "found", out.field->name + " overlaps itself: a stride is {found}, expected at least {expected}");
        f_.close();
      }
      for (const View& other : views_) {
        if (&other == &out || (other.field->written && other.number > out.number)) continue;
        const bool may = out.buffer->may_alias_inputs && !other.field->written && out.rank() == other.rank() &&
                         out.bytes() == other.bytes() && !other.packed();
        const std::string both = "(&" + out.name + ", &" + other.name + ")";
        fail_if(file_.helpers.named("overlaps") + both + (may ? " && !" + file_.helpers.named("same_elements") + both : ""),
                "ALIAS", out.number, -1, "-1", std::to_string(other.number),
                out.field->name + " overlaps " + other.field->name +
                    (may ? ", expected the same elements or none" : ", expected memory of its own"));
      }
    }
  }

  void assumptions() {
    for (const Expr& a : k_.assumptions) {
      for (const ArgField& field : file_.layout.fields)  // strides and scalars that it may use
        if (field.kind == ArgField::Kind::scalar && ir::uses_var(a, field.id) && !f_.is_bound(field.id)) {
          const std::string own = file_.name_of(field.id, field.name);
          f_.line("const " + value_type(field.type) + " " + own + " = args->" + field.name +
                  (field.type.is_bool() ? " != 0;" : ";"));
          f_.bind_value(field.id, own, field.type);
        }
      const std::string holds = file_.unique("holds");
      f_.line("const bool " + holds + " = " + f_.checked(a) + ";");
      fail_if("overflow || !" + holds, "FACT", -1, -1, "1", "0", "expected " + ir::text(a));
    }
  }

  void finish() {
    std::string nothing;
    for (const View& v : views_)
      if (v.field->written) nothing += (nothing.empty() ? "" : " && ") + v.name + ".empty";
    f_.line("if (" + (nothing.empty() ? "true" : nothing) + ") return ASHLAR_OK; /* there is nothing to compute */");
    f_.line("ashlar_context own = {0};");
    f_.line("if (context != NULL) own = *context;");
    std::string given = "args";
    if (std::any_of(file_.layout.fields.begin(), file_.layout.fields.end(),
                    [](const ArgField& f) { return f.kind == ArgField::Kind::stride; })) {
      given = "&inner";
      f_.line(file_.name + "_args inner = *args; /* with dense strides in place of zeros */");
      for (const View& v : views_)
        for (const ArgField& f : file_.layout.fields)
          if (f.kind == ArgField::Kind::stride && f.buffer == v.field->id)
            f_.line("inner." + f.name + " = " + v.name + ".stride[" + std::to_string(f.dim) + "];");
    }
    const std::string body = file_.name + "_body(" + given + ", &own)";
    if (!has_workspace(k_)) return f_.line("return " + body + ";");
    workspace();
    f_.line("const int code = " + body + ";");
    f_.line("if (owned != NULL && own.release != NULL) own.release(own.user, owned, 1, 0);");
    f_.line("return code;");
  }

  // Checks the workspace that was given, or asks `allocate`.
  void workspace() {
    f_.line("const int64_t slots = own.parallel_for != NULL && own.parallelism > 1 ? own.parallelism : 1;");
    for (const ArgField& f : file_.layout.fields)
      if (f.kind == ArgField::Kind::stride && (uses(k_.workspace_shared, f.id) || uses(k_.workspace_per_worker, f.id))) {
        const std::string own = file_.name_of(f.id, f.name);
        f_.line("const int64_t " + own + " = inner." + f.name + ";");
        f_.bind_value(f.id, own, ir::index_type);
      }
    workspace_sizes(f_);
    fail_if("overflow || total < 0", "OVERFLOW", -1, -1, "INT64_MAX", "0",
            about_workspace(k_, "the workspace exceeds {expected} bytes"));
    const std::string align = n(k_.workspace_align), past = "(uintptr_t)own.workspace % " + align;
    f_.line("void *owned = NULL;");
    f_.open("if (own.workspace != NULL || total == 0)");
    fail_if("own.workspace_bytes < (size_t)total", "MEMORY", -1, -1, "total", "(int64_t)own.workspace_bytes",
            "the workspace has {found} bytes, expected at least {expected}");
    fail_if(past + " != 0", "ALIGN", -1, -1, align, "(int64_t)(" + past + ")",
            "the workspace begins {found} bytes past a multiple of {expected} bytes, expected a multiple of {expected}");
    f_.close(" else {");
    f_.reopen();
    fail_if("own.allocate == NULL", "MEMORY", -1, -1, "total", "0",
            "the workspace has {found} bytes, expected at least {expected}, and the context has no allocator");
    f_.line("owned = own.allocate(own.user, (size_t)total, " + align + ", 1, 0);");
    fail_if("owned == NULL", "MEMORY", -1, -1, "total", "0",
            about_workspace(k_, "no memory for a workspace of {expected} bytes"));
    f_.line("own.workspace = owned;");
    f_.close();
  }

  static bool uses(const Expr& e, ir::Id id) { return !e.empty() && ir::uses_var(e, id); }

  File& file_;
  const ir::Kernel& k_;
  Function f_;
  std::vector<View> views_;
};

}  // namespace

void write_run(File& file) { Run(file).write(); }

}  // namespace ashlar::codegen::c
