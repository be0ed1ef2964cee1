// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/ir/function.h>

#include <map>
#include <mutex>

#include <ashlar/ir/build.h>
#include <ashlar/ir/print.h>
#include <ashlar/ir/refusal.h>

namespace ashlar::ir {
namespace {

// FNV-1a, 64 bits (Fowler, Noll, Vo); never 0, which is not an id.
Id id_of(const std::string& symbol) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (const char c : symbol) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h | 1;
}

std::map<Id, Function>& table() {
  static std::map<Id, Function> functions;
  return functions;
}
std::mutex guard;

std::string signature(const Function& f) {
  std::string s = text(f.result) + " " + f.symbol + "(";
  for (std::size_t k = 0; k < f.parameters.size(); ++k) s += (k ? ", " : "") + text(f.parameters[k]);
  return s + ")";
}

}  // namespace

TensorCode tensor_code(Type t) {
  const std::uint8_t bits = t.is_packed() ? t.bits : static_cast<std::uint8_t>(t.bytes() * 8);
  switch (t.code) {
    case Type::Code::signed_:
    case Type::Code::index:
      return {0, bits};
    case Type::Code::unsigned_:
      return {1, bits};
    case Type::Code::ieee:
      return {2, bits};
    case Type::Code::bfloat:
      return {4, bits};
    case Type::Code::boolean:
      return {6, bits};
    case Type::Code::e4m3:
      return {10, bits};
    case Type::Code::e5m2:
      return {12, bits};
    default:
      throw InternalError("a handle cannot be an element of a tensor");
  }
}

Id declare(const Function& f) {
  const Id id = id_of(f.symbol);
  const std::lock_guard lock(guard);
  const auto [at, fresh] = table().emplace(id, f);
  Function& known = at->second;
  if (fresh) return id;
  if (known.symbol != f.symbol)
    refuse(f.symbol, "another name", "one whose symbol is already used for " + known.symbol, f.where);
  if (known.region != f.region)
    refuse(f.symbol, known.region ? "a function that computes regions, as it was declared before" : signature(known),
           "another kind of function", f.where);
  if (f.region) {
    if (!known.compute)
      known.compute = f.compute;
    else if (f.compute && f.compute != known.compute)
      refuse(f.symbol, "the function that was declared by this name", "another one", f.where);
    return id;
  }
  if (known.parameters != f.parameters || !(known.result == f.result))
    refuse(f.symbol, signature(known) + ", as it was declared before", signature(f), f.where);
  if (!known.run)
    known.address = f.address, known.run = f.run;
  else if (f.run && known.address != f.address)
    refuse(f.symbol, "the function that was declared by this name", "another one", f.where);
  return id;
}

const Function& function(Id id) {
  const std::lock_guard lock(guard);
  const auto at = table().find(id);
  if (at == table().end()) throw InternalError("a call of a function that nobody declared");
  return at->second;
}

const Function* function_of(const std::string& symbol) {
  const std::lock_guard lock(guard);
  const auto at = table().find(id_of(symbol));
  return at == table().end() || at->second.symbol != symbol ? nullptr : &at->second;
}

const Function* computed_by(const std::vector<Expr>& values) {
  if (values.empty() || !is(values.front(), Op::call)) return nullptr;
  const Function& f = function(values.front().node()->id);
  return f.region ? &f : nullptr;
}

std::vector<Needed> needed_by(const Expr& call) {
  std::vector<Needed> all;
  const auto operands = args_of(call);
  for (std::size_t k = 0; k + 1 < operands.size(); k += 2) {
    Needed n{operands[k], operands[k + 1], {}};
    if (is(n.first, Op::select)) n = {args_of(operands[k])[1], args_of(operands[k + 1])[1], args_of(operands[k])[0]};
    if (!is(n.first, Op::load) || !is(n.last, Op::load)) throw InternalError("a stage computed by a function reads no memory");
    all.push_back(n);
  }
  return all;
}

Value run(const Function& f, const Value* operands) {
  if (!f.run) throw InternalError("the function " + f.symbol + " is not in this process");
  return f.run(f.address, operands);
}

}  // namespace ashlar::ir
