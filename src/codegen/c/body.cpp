// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The function that does the work once everything is checked, and the size of its workspace.
#include <set>

#include "codegen/c/entries.h"
#include "codegen/uses.h"

namespace ashlar::codegen::c {

bool has_workspace(const ir::Kernel& k) {
  for (const auto& [id, b] : k.buffers)
    if (b.storage == ir::Storage::workspace) return true;
  return false;
}

namespace {

void bind_field(Function& f, const ArgField& field, const std::string& from) {
  const std::string own = f.file.name_of(field.id, field.name);
  f.declare(own);
  const Type t = field.kind == ArgField::Kind::scalar ? field.type : ir::index_type;
  f.line("const " + value_type(t) + " " + own + " = " + from + field.name + (t.is_bool() ? " != 0" : "") + ";");
  f.bind_value(field.id, own, t);
}

void bind_used(Function& f, const std::set<ir::Id>& vars) {
  for (const ArgField& field : f.file.layout.fields)
    if (field.kind != ArgField::Kind::pointer && vars.count(field.id)) bind_field(f, field, "args->");
}

constexpr const char* kSlots = "context->parallel_for != NULL && context->parallelism > 1 ? context->parallelism : 1";

bool has_parallel(const std::vector<ir::KStmt>& list) {
  for (const ir::KStmt& s : list) {
    if (ir::as_loop(s, ir::LoopKind::parallel)) return true;
    for (const auto* part : s.bodies())
      if (has_parallel(*part)) return true;
  }
  return false;
}

void add_vars(const Expr& e, std::set<ir::Id>& all) {
  if (e.empty()) return;
  for (const ir::Id id : ir::free_vars(e)) all.insert(id);
}

}  // namespace

void bind_arguments(Function& f, const std::vector<Expr>& used) {
  std::set<ir::Id> vars;
  for (const Expr& e : used) add_vars(e, vars);
  bind_used(f, vars);
}

void write_fail(File& file) {
  file.functions +=
      "/* Records an error where there is a place for it. */\nstatic int " + file.name +
      "_fail(const ashlar_context *context, int32_t code, int32_t argument, int32_t dimension, int64_t expected,\n"
      "    int64_t found, const char *what) {\n"
      "  if (context != NULL && context->error != NULL) {\n"
      "    context->error->code = code;\n    context->error->argument = argument;\n"
      "    context->error->dimension = dimension;\n    context->error->expected = expected;\n"
      "    context->error->found = found;\n    context->error->what = what;\n  }\n  return code;\n}\n\n";
}

void workspace_sizes(Function& f) {
  const ir::Kernel& k = f.k;
  const std::string align = std::to_string(k.workspace_align);
  const auto padded = [&](const char* name, const Expr& bytes) {
    std::string sum = "0";
    if (!bytes.empty()) {
      const std::string whole = f.checked(bytes);
      sum = f.file.helpers.checked(ir::Op::add) + "(" + whole + ", " + std::to_string(k.workspace_align - 1) +
            ", &overflow) / " + align + " * " + align;
    }
    f.line("const int64_t " + std::string(name) + " = " + sum + ";");
  };
  padded("shared", k.workspace_shared);
  padded("each", k.workspace_per_worker);
  f.line("const int64_t total = " + f.file.helpers.checked(ir::Op::add) + "(shared, " + f.file.helpers.checked(ir::Op::mul) +
         "(each, slots, &overflow), &overflow);");
}

void write_body(File& file) {
  const ir::Kernel& k = file.kernel;
  Function f(file);
  const bool parallel = has_parallel(k.body), workspace = has_workspace(k);
  std::set<ir::Id> vars = uses_of(k.body).vars;
  const std::set<ir::Id> buffers = uses_of(k.body).buffers;
  bool per_worker = false, any = false;
  for (const auto& [id, b] : k.buffers)
    if (b.storage == ir::Storage::workspace && buffers.count(id))
      add_vars(b.offset, vars), per_worker = per_worker || b.per_worker, any = true;
  if (workspace && per_worker) add_vars(k.workspace_shared, vars), add_vars(k.workspace_per_worker, vars);
  bind_used(f, vars);
  for (const ArgField& field : file.layout.fields) {
    if (field.kind != ArgField::Kind::pointer || !buffers.count(field.id)) continue;
    const ir::KBuffer& b = k.buffers.at(field.id);
    const std::string own = file.name_of(field.id, field.name);
    f.declare(own);
    f.line(std::string(field.written ? "" : "const ") + element_type(b) + " *" + (is_alone(k, b) ? "restrict " : "") + own +
           " = args->" + field.name + ";");
    f.bind_buffer(field.id, own);
  }
  if (parallel) f.line(std::string("const int64_t slots = ") + kSlots + ";");
  if (any) {
    f.line("char *const workspace = context->workspace;");
    if (per_worker) {
      if (!parallel) f.line("const int64_t slots = 1;");
      const auto padded = [&](const Expr& bytes) {
        if (bytes.empty()) return std::string("0");
        f.prepare({&bytes});
        const std::string align = std::to_string(k.workspace_align);
        return "(" + f.value(bytes) + " + " + std::to_string(k.workspace_align - 1) + ") / " + align + " * " + align;
      };
      if (!parallel) f.line("(void)slots;");
      f.line("char *const workers = workspace + " + padded(k.workspace_shared) + ";");
      if (parallel) f.line("const int64_t worker_bytes = " + padded(k.workspace_per_worker) + ";");
      f.has_worker_bytes = parallel;
    }
    for (const auto& [id, b] : k.buffers) {
      if (b.storage != ir::Storage::workspace || !buffers.count(id)) continue;
      const std::string own = file.name_of(id, b.name), type = memory_type(b.type.element());
      f.prepare({&b.offset});
      const std::string offset = f.operand(b.offset);
      f.declare(own);
      f.line(type + " *" + (is_alone(k, b) ? "restrict " : "") + own + " = (" + type + " *)(void *)(" +
             (b.per_worker ? "workers" : "workspace") + (offset == "0" ? "" : " + " + offset) + ");");
      f.bind_buffer(id, own);
    }
  }
  f.allocate(k.body);
  f.statements(k.body);
  const std::string args = f.text.find("args->") == std::string::npos ? "  (void)args;\n" : "";
  const std::string context = f.text.find("context") == std::string::npos ? "  (void)context;\n" : "";
  file.functions += "/* Everything is checked, and the workspace is set. */\nstatic int " + file.name + "_body(const " +
                    file.name + "_args *args, const ashlar_context *context) {\n" + args + context + f.text +
                    "  return ASHLAR_OK;\n}\n\n";
}

void write_workspace_bytes(File& file) {
  const ir::Kernel& k = file.kernel;
  Function f(file);
  std::string& out = file.functions;
  const std::string head =
      "size_t " + file.name + "_workspace_bytes(const " + file.name + "_args *args, const ashlar_context *context) {\n";
  if (!has_workspace(k)) {
    out += head + "  (void)args;\n  (void)context;\n  return 0;\n}\n\n";
    return;
  }
  f.line("if (args == NULL) return SIZE_MAX;");
  f.line("bool overflow = false;");
  f.line(std::string("const int64_t slots = context != NULL && ") + kSlots + ";");
  std::vector<Expr> used = {k.workspace_shared, k.workspace_per_worker};
  // a stride of 0 is dense
  std::set<ir::Id> vars;
  for (const Expr& e : used) add_vars(e, vars);
  for (const ArgField& field : file.layout.fields) {
    if (field.kind != ArgField::Kind::stride || !vars.count(field.id)) continue;
    const auto& extents = k.argument_buffers.at(field.buffer).extents;
    for (std::size_t d = static_cast<std::size_t>(field.dim) + 1; d < extents.size(); ++d) add_vars(extents[d], vars);
  }
  for (const ArgField& field : file.layout.fields)
    if ((field.kind == ArgField::Kind::symbol || field.kind == ArgField::Kind::scalar) && vars.count(field.id))
      bind_field(f, field, "args->");
  for (const ArgField& field : file.layout.fields) {
    if (field.kind != ArgField::Kind::stride || !vars.count(field.id)) continue;
    const auto& extents = k.argument_buffers.at(field.buffer).extents;
    std::string dense = "1";
    for (std::size_t d = extents.size(); d-- > static_cast<std::size_t>(field.dim) + 1;)
      dense = file.helpers.checked(ir::Op::mul) + "(" + dense + ", " + file.helpers.named("at_least_one") + "(" +
              f.checked(extents[d]) + "), &overflow)";
    const std::string own = file.name_of(field.id, field.name);
    f.line("const int64_t " + own + " = args->" + field.name + " == 0 ? " + dense + " : args->" + field.name + ";");
    f.bind_value(field.id, own, ir::index_type);
  }
  workspace_sizes(f);
  f.line("return overflow || total < 0 ? SIZE_MAX : (size_t)total;");
  out += "/* More than any memory holds where 63 bits do not. */\n" + head + f.text + "}\n\n";
}

}  // namespace ashlar::codegen::c
