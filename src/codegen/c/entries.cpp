// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The entries on tensors: f and f_with, thunks over one constant descriptor (runtime/desc.h); and the whole file.
#include <algorithm>

#include <ashlar/codegen/affine.h>
#include <ashlar/codegen/c.h>
#include <ashlar/codegen/launches.h>
#include <ashlar/codegen/library.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/ir/vscale.h>
#include <ashlar/runtime/desc.h>

#include "codegen/legalize.h"
#include "codegen/c/entries.h"
#include "codegen/workspace_text.h"

namespace ashlar::codegen::c {

namespace {

class Descriptor {
 public:
  explicit Descriptor(File& file) : file_(file), k_(file.kernel) {
    for (const ArgField& f : file.layout.fields)
      if (f.kind == ArgField::Kind::symbol) symbols_.push_back(f.id);
  }

  void write() {
    std::string arguments;
    for (const ir::Argument& a : k_.arguments) arguments += a.kind == ir::ArgumentKind::scalar ? scalar(a) : tensor(a);
    std::string symbols, assumptions;
    for (const ir::Id id : symbols_) {
      const ir::Symbol& s = k_.symbols.at(id);
      symbols += "  {" + quoted(s.name) + ", " + std::to_string(std::max<std::int64_t>(s.min, 0)) + ", " +
                 (s.max == INT64_MAX ? "INT64_MAX" : std::to_string(s.max)) + ", " + std::to_string(s.multiple_of) + ", " +
                 offset(file_.field(ArgField::Kind::symbol, id)) + ", 0},\n";
    }
    for (const Expr& a : k_.assumptions) assumptions += "  " + quoted(ir::text(a)) + ",\n";
    const auto table = [&](const char* type, const char* name, const std::string& rows) -> std::string {
      if (rows.empty()) return "NULL";
      const std::string own = file_.unique(file_.name + name);
      tables_ += "static const " + std::string(type) + " " + own + "[] = {\n" + rows + "};\n";
      return own;
    };
    const std::string a = table("ashlar_abi1_argument", "_arguments", arguments),
                      s = table("ashlar_abi1_symbol", "_symbols", symbols),
                      n = table("char *const", "_assumptions", assumptions);
    const std::string shape = shape_callback(), assume = assume_callback();
    const bool workspace = has_workspace(k_);
    file_.functions += thunk_run();
    file_.functions += tables_ + "static const ashlar_abi1_desc " + file_.name + "_abi1_desc = {\n";
    const auto field = [&](const char* name, const std::string& value) {
      file_.functions += "  ." + std::string(name) + " = " + value + ",\n";
    };
    field("abi", "1");
    field("size", "sizeof(ashlar_abi1_desc)");
    field("name", quoted(k_.name));
    field("device_type", "1");
    field("argument_count", std::to_string(k_.arguments.size()));
    field("symbol_count", std::to_string(symbols_.size()));
    field("computed_count", std::to_string(computed_.size()));
    field("assumption_count", std::to_string(k_.assumptions.size()));
    field("args_bytes", "sizeof(" + file_.name + "_args)");
    field("arguments", a);
    field("symbols", s);
    field("assumptions", n);
    field("shape", shape);
    field("assume", assume);
    field("workspace_bytes", workspace ? file_.name + "_workspace_of" : "NULL");
    field("workspace_align", std::to_string(workspace ? k_.workspace_align : 0));
    field("run", file_.name + "_checked");
    field("workspace_stages", workspace ? quoted(workspace_stages(k_)) : "NULL");
    file_.functions += "};\n\n";
  }

 private:
  std::string offset(const std::string& field) const { return "(int32_t)offsetof(" + file_.name + "_args, " + field + ")"; }

  // What the descriptor calls takes any pointer.
  std::string thunk_run() const {
    std::string out = "static int " + file_.name + "_checked(const void *args, const ashlar_context *context) {\n  return " +
                      file_.name + "_body(args, context);\n}\n\n";
    if (has_workspace(k_))
      out += "static size_t " + file_.name + "_workspace_of(const void *args, const ashlar_context *context) {\n  return " +
             file_.name + "_workspace_bytes(args, context);\n}\n\n";
    return out;
  }

  std::string dimension(const Expr& extent) {
    const auto a = affine(extent);
    if (!a) {
      computed_.push_back(extent);
      return "{" + quoted(ir::text(extent)) + ", 0, NULL, 0, " + std::to_string(computed_.size() - 1) + "}";
    }
    std::string terms;
    std::size_t count = 0;
    for (std::size_t s = 0; s < symbols_.size(); ++s)
      if (const auto it = a->terms.find(symbols_[s]); it != a->terms.end())
        terms += (count++ ? ", {" : "{") + std::to_string(it->second) + ", " + std::to_string(s) + "}";
    if (count != a->terms.size())
      throw InternalError("codegen: an extent of kernel " + k_.name + " uses something that is not a symbol");
    std::string name = "NULL";
    if (count > 0) {
      name = file_.unique(file_.name + "_terms");
      tables_ += "static const ashlar_abi1_term " + name + "[] = {" + terms + "};\n";
    }
    return "{" + quoted(ir::text(extent)) + ", " + std::to_string(a->constant) + ", " + name + ", " + std::to_string(count) +
           ", -1}";
  }

  std::string tensor(const ir::Argument& a) {
    const ir::Buffer& b = k_.argument_buffers.at(a.id);
    const auto kb = k_.buffers.find(a.id);
    std::string dims, strides;
    bool any = false;
    for (std::size_t d = 0; d < b.extents.size(); ++d) {
      dims += "  " + dimension(b.extents[d]) + ",\n";
      std::string at = "-1";
      for (const ArgField& f : file_.layout.fields)
        if (f.kind == ArgField::Kind::stride && f.buffer == a.id && f.dim == static_cast<int>(d))
          at = offset(f.name), any = true;
      strides += (d ? ", " : "") + at;
    }
    std::string dims_name = "NULL", strides_name = "NULL";
    const std::string& field = file_.field(ArgField::Kind::pointer, a.id);
    if (!dims.empty()) {
      dims_name = file_.unique(file_.name + "_" + field + "_dims");
      tables_ += "static const ashlar_abi1_dim " + dims_name + "[] = {\n" + dims + "};\n";
    }
    if (any) {
      strides_name = file_.unique(file_.name + "_" + field + "_strides");
      tables_ += "static const int32_t " + strides_name + "[] = {" + strides + "};\n";
    }
    const TensorType type = tensor_type(b.type);
    const char* const order = b.order == ir::Buffer::Order::dense ? "ASHLAR_ABI1_DENSE"
                              : b.order == ir::Buffer::Order::any ? "ASHLAR_ABI1_ANY"
                                                                  : "ASHLAR_ABI1_INNER_UNIT_STRIDE";
    const bool out = a.kind == ir::ArgumentKind::output;
    return "  {" + quoted(b.name) + ", " + dims_name + ", " + strides_name + ", " +
           std::to_string(std::max(b.align, kb == k_.buffers.end() ? 0 : kb->second.align)) + ", " +
           (out ? "ASHLAR_ABI1_OUTPUT" : "ASHLAR_ABI1_INPUT") + ", " + std::to_string(b.extents.size()) + ", " + order + ", " +
           (out && b.may_alias_inputs ? "ASHLAR_ABI1_MAY_ALIAS" : "0") + ", " + offset(field) + ", 0, " +
           std::to_string(type.code) + ", " + std::to_string(type.bits) + ", {0}},\n";
  }

  std::string scalar(const ir::Argument& a) {
    const ir::ScalarArg& s = k_.scalars.at(a.id);
    const TensorType type = tensor_type(s.type);
    const ArgField& f = file_.layout.field(ArgField::Kind::scalar, a.id);
    return "  {" + quoted(s.name) + ", NULL, NULL, 0, ASHLAR_ABI1_SCALAR, 0, 0, 0, " + offset(f.name) + ", " +
           std::to_string(f.bytes) + ", " + std::to_string(type.code) + ", " + std::to_string(type.bits) + ", {0}},\n";
  }

  void bind_symbols(Function& f, const std::vector<Expr>& used) {
    for (std::size_t s = 0; s < symbols_.size(); ++s) {
      if (std::none_of(used.begin(), used.end(), [&](const Expr& e) { return ir::uses_var(e, symbols_[s]); })) continue;
      const std::string own = file_.name_of(symbols_[s], k_.symbols.at(symbols_[s]).name);
      f.line("const int64_t " + own + " = symbols[" + std::to_string(s) + "];");
      f.bind_value(symbols_[s], own, ir::index_type);
    }
  }

  std::string shape_callback() {
    if (computed_.empty()) return "NULL";
    Function f(file_);
    f.line("bool overflow = false;");
    f.line("(void)symbols;");
    bind_symbols(f, computed_);
    for (std::size_t n = 0; n < computed_.size(); ++n)
      f.line("results[" + std::to_string(n) + "] = " + f.checked(computed_[n]) + "; /* the extents themselves are checked */");
    f.line("(void)overflow;");
    file_.functions += "static void " + file_.name + "_shape(const int64_t *symbols, int64_t *results) {\n" + f.text + "}\n\n";
    return file_.name + "_shape";
  }

  std::string assume_callback() {
    if (k_.assumptions.empty()) return "NULL";
    Function f(file_);
    f.line("bool overflow = false;");
    f.line("(void)symbols;");
    bind_symbols(f, k_.assumptions);
    for (std::size_t n = 0; n < k_.assumptions.size(); ++n)
      f.line("if (!" + f.checked(k_.assumptions[n]) + " || overflow) return " + std::to_string(n + 1) + ";");
    f.line("return 0;");
    file_.functions += "static int " + file_.name + "_assume(const int64_t *symbols) {\n" + f.text + "}\n\n";
    return file_.name + "_assume";
  }

  File& file_;
  const ir::Kernel& k_;
  std::vector<ir::Id> symbols_;
  std::vector<Expr> computed_;
  std::string tables_;
};

struct Signature {
  std::string parameters, list;  // of f; with a comma behind where there are some
};

Signature signature(const File& file) {
  Signature s;
  for (const ir::Argument& a : file.kernel.arguments) {
    if (a.kind == ir::ArgumentKind::scalar) {
      const ArgField& f = file.layout.field(ArgField::Kind::scalar, a.id);
      s.parameters += f.declaration() + ", ", s.list += "&" + f.name + ", ";
    } else {
      const std::string& name = file.field(ArgField::Kind::pointer, a.id);
      s.parameters += std::string(a.kind == ir::ArgumentKind::output ? "" : "const ") + "ashlar_tensor *" + name + ", ";
      s.list += name + ", ";
    }
  }
  return s;
}

std::string without_comma(const std::string& s) { return s.empty() ? "void" : s.substr(0, s.size() - 2); }

// A name for the parameter that no argument has.
std::string context_name(const File& file) {
  std::string name = "context";
  for (bool again = true; again;) {
    again = false;
    for (const ArgField& f : file.layout.fields)
      if (f.name == name) name += '_', again = true;
  }
  return name;
}

std::string prototypes(const File& file, bool hosted) {
  const std::string& f = file.name;
  std::string out = "typedef struct " + f + "_args {\n";
  for (const ArgField& field : file.layout.fields) out += "  " + field.declaration() + ";\n";
  if (file.layout.fields.empty()) out += "  char unused;\n";
  out += "} " + f + "_args;\n";
  if (hosted) {
    const Signature s = signature(file);
    out += "int " + f + "(" + without_comma(s.parameters) + ");\nint " + f + "_with(" + s.parameters +
           "const ashlar_context *" + context_name(file) + ");\n";
  }
  return out + "int " + f + "_run(const " + f + "_args *args, const ashlar_context *context);\nsize_t " + f +
         "_workspace_bytes(const " + f + "_args *args, const ashlar_context *context);\n";
}

// The first statement whose vectors have a length that only the machine knows.
const ir::KStmt* scalable(const std::vector<ir::KStmt>& list) {
  for (const ir::KStmt& s : list) {
    bool any = false;
    for_each_expr(s, [&](const Expr& e) {
      ir::walk(e, [&](const Expr& x) {
        any = any || x.type().scalable || (ir::is(x, ir::Op::var) && x.node()->id == ir::vscale_id);
        return !any;
      });
    });
    if (any) return &s;
    for (const auto* part : s.bodies())
      if (const ir::KStmt* inside = scalable(*part)) return inside;
  }
  return nullptr;
}

}  // namespace

void write_tensor_entries(File& file) {
  Descriptor(file).write();
  const Signature s = signature(file);
  const std::string context = context_name(file);
  const auto entry = [&](bool with) {
    // a name of its own for the list, whatever the arguments are called
    std::string list = "arguments";
    while (std::any_of(file.layout.fields.begin(), file.layout.fields.end(), [&](const ArgField& f) { return f.name == list; }))
      list += '_';
    const std::string parameters = with ? s.parameters + "const ashlar_context *" + context : without_comma(s.parameters);
    file.functions += "int " + file.name + (with ? "_with(" : "(") + parameters + ") {\n  const void *" + list + "[] = {" +
                      (s.list.empty() ? "NULL" : s.list.substr(0, s.list.size() - 2)) + "};\n  return ashlar_abi1_call(&" +
                      file.name + "_abi1_desc, " + list + ", " + (with ? context : "NULL") + ");\n}\n";
  };
  entry(false);
  file.functions += "\n";
  entry(true);
}

namespace {

// Operators with an expansion that C has, or that are a function of the file, so that a formula stays readable (spelled.cpp).
Offers offers_of_c() {
  using ir::Op;
  Offers all;
  for (const Op op : {Op::add_sat,     Op::sub_sat,   Op::halving_add,  Op::rounding_halving_add,
                      Op::halving_sub, Op::abs_diff,  Op::mul_high,     Op::mul_high_rounding,
                      Op::shl,         Op::shr,       Op::rounding_shr, Op::div,
                      Op::mod,         Op::trunc_div, Op::trunc_rem,    Op::abs,
                      Op::popcount,    Op::clz,       Op::ctz,          Op::isnan,
                      Op::isinf,       Op::copysign})
    all.rows.push_back({op});
  for (const Op op :
       {Op::min, Op::max, Op::mul, Op::bit_and, Op::bit_or, Op::bit_xor, Op::bit_not, Op::lt, Op::le, Op::gt, Op::ge})
    all.rows.push_back({op, [](Type t, Type) { return !t.is_bool(); }});
  for (const Op op : {Op::floor, Op::ceil, Op::round, Op::trunc, Op::fma})
    all.rows.push_back({op, [](Type t, Type) { return t.is_float(); }});
  all.rows.push_back({Op::cast, [](Type from, Type to) { return from.element() == f32 || to.element() == f32; }});
  all.rows.push_back({Op::saturate, [](Type from, Type to) {  // where it clamps
                        if (from.is_bool() || to.is_bool() || from.is_packed() || ir::is_narrow(from)) return false;
                        return to.is_float() ? from.is_float() || to.bits < 32 : from.element() != to.element();
                      }});
  return all;
}

}  // namespace

std::string source(const ir::Kernel& written, const Target& target, const Options& options) {
  const ir::Kernel kernel = legalize(written, offers_of_c());
  if (target.is_gpu() || !launches_of(kernel).empty())
    refuse("c", "a target that is a processor", std::string(target.text()) + ", whose launches C cannot say", Where{});
  if (const ir::KStmt* s = scalable(kernel.body))
    refuse("c", "vectors of a known length", "lanes counted by vscale, which C cannot say, in kernel " + kernel.name, s->where);
  const bool hosted = target.os() != "none";
  File file(kernel, target);
  if (options.line_tables) file.places.emplace(kernel);
  write_fail(file);
  write_body(file);
  write_workspace_bytes(file);
  write_run(file);
  if (hosted) write_tensor_entries(file);
  const auto taken = [&](const std::string& symbol) {
    if (file.helpers.defines(symbol)) refuse("c", "a name that no helper function of the file has", symbol, Where{});
  };
  for (const char* suffix : {"", "_with", "_run", "_body", "_args", "_fail"}) taken(file.name + suffix);
  for (const auto& [symbol, declaration] : file.declared()) taken(symbol);

  std::string head =
      "/* Kernel " + in_comment(kernel.name) + ", scheduled for " + std::string(target.text()) +
      ", as C99.\n"
      " * gcc: -ffp-contract=off, or -std=c99; never -ffast-math. -lm where functions of <math.h> are called. */\n";
  if (options.header.empty()) {
    head += "#include <ashlar/runtime/desc.h>\n\n#include <float.h>\n";
  } else {
    head += "#include " + quoted(options.header) + "\n\n" + (hosted ? "#include <ashlar/runtime/desc.h>\n\n" : "") +
            "#include <float.h>\n";
  }
  if (file.helpers.uses_math()) head += "#include <math.h>\n";
  head += "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n";
  if (options.header.empty()) file.functions.insert(0, prototypes(file, hosted) + "\n");
  const std::string text = file.text(head, "");
  return options.line_tables ? with_own_lines(text, quoted(options.file.empty() ? file.name + ".c" : options.file)) : text;
}

}  // namespace ashlar::codegen::c
