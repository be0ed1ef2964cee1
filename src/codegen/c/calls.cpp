// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parallel loops, and calls of what others wrote: functions in C that compute boxes, users' intrinsics.
//
// A parallel loop becomes static int f_worker(void *closure, int32_t slot), which pulls chunks of iterations from a counter
// until none is left; context->parallel_for runs as many of them as there are slots to work in, or as there are chunks. The
// closure lies on the stack of the caller, who waits.
//
// The text of an intrinsic for c is statements, in a block of their own: {A.ptr} is a pointer to the tile's first element (of
// the type that the header gives such elements), {A.stride0}, sizes and indices are int64_t, a parameter has the type of its
// value. Lines that begin with # go to the head of the file; a function that the text calls is declared by what it includes, or
// by a line `extern ...;` in the text. {token} is an int64_t of the block.
#include <algorithm>
#include <sstream>

#include <ashlar/ir/emit_text.h>
#include <ashlar/ir/function.h>
#include <ashlar/ir/refusal.h>

#include "codegen/c/function.h"
#include "codegen/uses.h"

namespace ashlar::codegen::c {

using ir::KStmt;
using Operand = ir::IntrinsicOperand;

namespace {

constexpr int kChunksEach = 8;  // a slot's fair share is handed out in this many pieces

// Symbols of the functions that compute stages inside, whose failures a worker returns.
void functions_called(const std::vector<KStmt>& list, std::vector<std::string>& all) {
  for (const KStmt& s : list) {
    if (const auto* call = s.as<ir::KCall>(); call && call->function)
      if (const std::string& f = ir::function(call->function).symbol; std::find(all.begin(), all.end(), f) == all.end())
        all.push_back(f);
    for (const auto* part : s.bodies()) functions_called(*part, all);
  }
}

std::string pointer_to(const ir::KBuffer& b, bool written) { return (written ? "" : "const ") + element_type(b) + " *"; }

bool stores_to(const std::vector<KStmt>& list, ir::Id buffer) {
  for (const KStmt& s : list) {
    if (const auto* store = s.as<ir::KStore>(); store && store->buffer == buffer) return true;
    if (const auto* call = s.as<ir::KCall>())
      for (const ir::Call::Actual& a : call->actuals)
        if (a.buffer == buffer) return true;
    for (const auto* part : s.bodies())
      if (stores_to(*part, buffer)) return true;
  }
  return false;
}

}  // namespace

void Function::parallel_for(const ir::KFor& s, const KStmt& statement) {
  comment(statement);
  file.helpers.atomics();
  const std::string name = file.name_of(s.var, s.name);
  const Uses uses = uses_of(s.body);
  const std::string worker = file.unique(file.name + "_worker"), type = file.unique(file.name + "_loop");
  // The closure's fields, and how the worker and the caller see them.
  std::string fields;
  std::vector<std::string> given;
  Function w(file);
  w.is_worker = true;
  w.depth_ = 1;
  w.line("struct " + type + " *loop = closure;");
  bool sliced = false;
  std::string slices;
  for (const auto& [id, v] : vars_) {
    if (!uses.vars.contains(id)) continue;
    const std::string own = file.name_of(id, "v"), t = value_type(v.type);
    fields += "  " + std::string(v.is_array ? "const " : "") + t + (v.is_array ? " *" : " ") + own + ";\n";
    given.push_back("loop." + own + " = " + v.text.s + ";");
    w.line("const " + t + (v.is_array ? " *" : " ") + own + " = loop->" + own + ";");
    w.bind(id, own, v.is_array, v.wild);
    w.vars_[id].type = v.type;
  }
  for (const auto& [id, base] : buffers_) {
    if (!uses.buffers.contains(id)) continue;
    const ir::KBuffer& b = k.buffers.at(id);
    if (b.storage == ir::Storage::constant) continue;
    const bool written = b.storage != ir::Storage::argument || b.written;
    const std::string pointer = pointer_to(b, written);
    fields += "  " + pointer + base + ";\n";
    given.push_back("loop." + base + " = " + base + ";");
    const bool slice = b.storage == ir::Storage::workspace && b.per_worker;
    sliced = sliced || slice;
    const std::string own = written && !stores_to(s.body, id) ? pointer_to(b, false) : pointer;
    const bool alone = (b.storage == ir::Storage::argument || slice) && is_alone(k, b);
    slices += "  " + own + (alone ? "restrict " : "") + base + " = " +
              (slice ? "(" + pointer + ")(void *)((char *)loop->" + base + " + slot * loop->worker_bytes)" : "loop->" + base) +
              ";\n";
    w.bind_buffer(id, base);
  }
  w.text += slices;
  if (!sliced) w.line("(void)slot;");
  w.allocate(s.body);
  w.open("for (;;)");
  w.line("const int64_t first = loop->chunk * __atomic_fetch_add(&loop->next, 1u, __ATOMIC_RELAXED);");
  w.line("if (first >= loop->extent) return 0;");
  w.line("const int64_t past = first + loop->chunk < loop->extent ? first + loop->chunk : loop->extent;");
  w.open("for (int64_t " + name + " = loop->begin + first; " + name + " < loop->begin + past; ++" + name + ")");
  w.bind(s.var, name);
  w.vars_[s.var].type = ir::index_type;
  w.statements(s.body);
  w.close();
  w.close();
  file.functions += "/* The loop over " + in_comment(name) +
                    ": `next` counts the chunks that were handed out, on a cache line of its own. */\nstruct " + type +
                    " {\n  uint32_t next;\n  char apart[60];\n  int64_t begin, extent, chunk, worker_bytes;\n" + fields +
                    "};\n\nstatic int " + worker + "(void *closure, int32_t slot) {\n" + w.text + "}\n\n";

  prepare({&s.begin, &s.extent});
  open("");
  const std::string begin = value(s.begin), extent = value(s.extent);
  line("struct " + type + " loop;");
  line("loop.begin = " + begin + ";");
  line("loop.extent = " + extent + ";");
  line("if (loop.extent > 0) {");
  ++depth_;
  const std::string div = "loop.extent / (slots * " + std::to_string(kChunksEach) + ")";
  line("const int64_t share = " + div + " > 1 ? " + div + " : 1, chunks = (loop.extent - 1) / share + 1;");
  line("const int32_t bodies = (int32_t)(slots < chunks ? slots : chunks);");
  line("int code;");
  line("loop.next = 0;");
  line("loop.chunk = slots == 1 ? loop.extent : share;");
  line(std::string("loop.worker_bytes = ") + (has_worker_bytes ? "worker_bytes;" : "0;"));
  for (const std::string& g : given) line(g);
  line("code = bodies == 1 ? " + worker + "(&loop, 0) : context->parallel_for(context->user, bodies, " + worker + ", &loop);");
  std::vector<std::string> functions;
  functions_called(s.body, functions);
  std::string who;
  for (const std::string& f : functions) who += f + " or ";
  line("if (code != 0) return " + file.name + "_fail(context, ASHLAR_E_LAUNCH, -1, -1, 0, code,");
  line("    " + quoted(k.name + ": " + who + "parallel_for returned {found}, expected {expected}") + ");");
  --depth_;
  line("}");
  close();
}

void Function::call_of_region(const ir::KCall& call) {
  const ir::Function& f = ir::function(call.function);
  file.declare(f.symbol, "extern int " + f.symbol + "(const ashlar_tensor *regions, const int64_t *begin);");
  open("");
  const auto list = [&](const std::vector<Expr>& values, const std::string& name) {
    std::string made;
    for (const Expr& e : values) {
      prepare({&e});
      made += (made.empty() ? "" : ", ") + value(e);
    }
    const std::string array = file.unique(name);
    line("int64_t " + array + "[" + std::to_string(std::max<std::size_t>(values.size(), 1)) + "] = {" +
         (made.empty() ? "0" : made) + "};");
    return array;
  };
  std::vector<Expr> first;
  for (const ir::Call::Actual& a : call.actuals) first.insert(first.end(), a.positions.begin(), a.positions.end());
  const std::string begin = list(first, "begin"), regions = file.unique("regions");
  std::string rows;
  for (const ir::Call::Actual& a : call.actuals) {
    const ir::KBuffer& b = k.buffers.at(a.buffer);
    const TensorType type = tensor_type(b.type);
    const std::string shape = list(a.extents, "shape"), strides = list(a.strides, "strides");
    prepare({&a.address});
    const std::string index = value(a.address);
    const std::string at = is_packed(b) ? base_of(b.id) + " + (" + index + ") / 2" : "&" + element(b.id, index);
    rows += std::string(rows.empty() ? "" : ",\n") + std::string(static_cast<std::size_t>(2 * depth_ + 4), ' ') + "{(void *)(" +
            at + "), 1, 0, " + std::to_string(a.extents.size()) + ", " + std::to_string(type.code) + ", " +
            std::to_string(type.bits) + ", 1, " + shape + ", " + strides + ", 0}";
  }
  line("ashlar_tensor " + regions + "[" + std::to_string(std::max<std::size_t>(call.actuals.size(), 1)) + "] = {\n" + rows +
       "};");
  const std::string code = file.unique("rc");
  line("const int " + code + " = " + f.symbol + "(" + regions + ", " + begin + ");");
  if (is_worker)
    line("if (" + code + " != 0) return " + code + "; /* parallel_for hands it on */");
  else
    line("if (" + code + " != 0) return " + file.name + "_fail(context, ASHLAR_E_LAUNCH, -1, -1, 0, " + code + ", " +
         quoted(k.name + ": " + f.symbol + " returned {found}, expected {expected}") + ");");
  close();
}

void Function::call_of_user(const ir::KCall& c, Where where) {
  const ir::Intrinsic& f = k.intrinsics.at(c.intrinsic);
  const auto text_of = f.emit.find("c");
  if (text_of == f.emit.end())
    refuse("c", "a text of " + f.name + " for c (m.emit(Backend::c, ...))", "none, where " + location(where) + " calls it",
           f.where);
  open("");
  std::map<std::string, std::string> values;  // "A.ptr" -> a variable
  for (std::size_t n = 0; n < f.operands.size(); ++n) {
    const Operand& o = f.operands[n];
    const ir::Call::Actual& a = c.actuals.at(n);
    const auto give = [&](const std::string& placeholder, const std::string& type, const std::string& made) {
      std::string wanted = placeholder;
      std::replace(wanted.begin(), wanted.end(), '.', '_');
      const std::string own = file.unique(wanted);
      line(type + (type.back() == '*' ? "" : " ") + own + " = " + made + ";");
      line("(void)" + own + ";");
      values[placeholder] = own;
    };
    prepare({&a.address});
    if (o.kind != Operand::Kind::tile) {
      give(o.name, "const " + value_type(a.address.type()), value(a.address));
      continue;
    }
    const ir::KBuffer& b = k.buffers.at(a.buffer);
    const std::string index = value(a.address);
    give(o.name + ".ptr", pointer_to(b, o.access != Operand::Access::read), "&" + element(b.id, index));
    std::int64_t dense = 1;  // what the stride must be where the text does not name it
    for (std::size_t d = a.strides.size(); d-- > 0;) {
      const bool gaps = d < o.shape.size() && o.shape[d] > 1 && !ir::is_int(a.strides[d], dense);
      if (ir::by_value(f, "llvm", o) && gaps && !ir::names_stride(f, "c", o, d))
        refuse("c",
               "{" + o.name + ".stride" + std::to_string(d) + "} in the text of " + f.name + " for c, where " +
                   location(where) + " calls it on a tile with gaps",
               "a text that takes the tile for dense", f.where);
      if (d < o.shape.size()) dense *= o.shape[d];
    }
    for (std::size_t d = 0; d < a.strides.size(); ++d) {
      if (ir::names_stride(f, "llvm", o, d) && !ir::names_stride(f, "c", o, d))
        refuse("c", "{" + o.name + ".stride" + std::to_string(d) + "} in the text of " + f.name + " for c, as in that for llvm",
               "a text that takes the tile for dense", f.where);
      prepare({&a.strides[d]});
      give(o.name + ".stride" + std::to_string(d), "const int64_t", value(a.strides[d]));
    }
  }
  std::string wanted = text_of->second;
  if (const auto wait = f.wait.find("c"); wait != f.wait.end()) wanted += "\n" + wait->second;
  if (wanted.find("{token}") != std::string::npos) {
    values["token"] = file.unique("token");
    line("int64_t " + values["token"] + ";");
  }
  std::istringstream lines(ir::filled(wanted, [&](const ir::Placeholder& p) {
    const auto it = values.find(p.field.empty() ? p.name : p.name + "." + p.field);
    if (it == values.end()) throw InternalError("codegen: the text of " + f.name + " names what it has not: " + p.name);
    return it->second;
  }));
  for (std::string one; std::getline(lines, one);) {
    const std::size_t from = one.find_first_not_of(" \t");
    if (from == std::string::npos) continue;
    if (one[from] == '#')
      file.include(one.substr(from));
    else
      line(one.substr(from));
  }
  close();
}

}  // namespace ashlar::codegen::c
