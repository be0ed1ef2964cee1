// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tile kernel as a module of bytecode: a magic word, a version, and sections, each with its number, its length and its
// alignment. The entry tells the facts of its arguments, makes the views, and then runs the body.
//
// The format is that of version 13.1, or of 13.3 where a hint is for every chip or says how many warps compute, as NVIDIA
// documents it: "Tile IR"
// (docs.nvidia.com/cuda/tile-ir, sections "Binary format" and "Operations"), the tables of the public repository
// NVIDIA/cuda-tile, and what later versions add, from the package `cuda-tile`.
#include <algorithm>
#include <map>

#include <ashlar/codegen/tileir.h>
#include <ashlar/ir/build.h>
#include <ashlar/ir/refusal.h>

#include "codegen/tileir/code.h"

namespace ashlar::codegen::tileir {

namespace {

using ir::Id;
using ir::tile::Stmt;
using Number = Code::Number;
namespace tile = ir::tile;

// What an assumption says of a value.
enum Fact : std::uint64_t { divisible = 8, bounded = 12 };

// A constant of the kernel by its place among them.
std::string global_name(const tile::Kernel& k, const tile::Tensor& constant) {
  return k.name + "_constant" + std::to_string(&constant - k.constants.data());
}

// The constants of a kernel as globals. A global is a tile of one dimension, so it is padded to a power of two.
void globals(Bytes& to, const tile::Kernel& k, Types& types, Table& constants, Table& strings) {
  for (const tile::Tensor& t : k.constants) {
    const auto elements = static_cast<std::int64_t>(t.data->size()) / t.element.bytes();
    std::int64_t padded = 1;
    while (padded < elements) padded *= 2;
    std::string bytes(reinterpret_cast<const char*>(t.data->data()), t.data->size());
    bytes.resize(static_cast<std::size_t>(padded * t.element.bytes()));
    Bytes constant;
    constant.number(bytes.size());
    constant.append(bytes);
    to.number(strings(global_name(k, t)));
    to.number(types.tile(t.element, {padded}));
    to.number(constants(constant.data()));
    to.number(static_cast<std::uint64_t>(t.align));
    if (types.minor >= 3) to.number(0), to.number(1);  // seen by all modules' names; never written
  }
}

// Hints as the format has them: a dictionary by chip, each of one by name.
class HintWriter {
 public:
  HintWriter(Types& types, Table& strings) : types_(types), strings_(strings) {}

  // Behind `to`, without a tag.
  void append(std::vector<std::uint64_t>& to, const std::vector<ir::Hint>& hints) {
    std::vector<std::string> chips;
    for (const ir::Hint& h : hints)
      if (std::find(chips.begin(), chips.end(), h.chip) == chips.end()) chips.push_back(h.chip);
    to.push_back(chips.size());
    for (const std::string& chip : chips) {
      to.push_back(strings_(chip.empty() ? "default" : chip));
      to.push_back(dictionary);
      to.push_back(static_cast<std::uint64_t>(
          std::count_if(hints.begin(), hints.end(), [&](const ir::Hint& h) { return h.chip == chip; })));
      for (const ir::Hint& h : hints)
        if (h.chip == chip) one(to, h);
    }
  }

  static constexpr std::uint64_t tag = 11;

 private:
  enum Tag : std::uint64_t { integer = 1, boolean = 3, dictionary = 10 };

  void one(std::vector<std::uint64_t>& to, const ir::Hint& h) {
    static constexpr const char* names[] = {"occupancy", "num_cta_in_cga", "num_worker_warps_per_cta", "latency", "allow_tma"};
    to.push_back(strings_(names[static_cast<int>(h.kind)]));
    if (h.kind == ir::HintKind::tma)
      to.push_back(boolean);
    else
      to.insert(to.end(), {integer, types_.element(i32)});
    to.push_back(static_cast<std::uint64_t>(h.value));
  }

  Types& types_;
  Table& strings_;
};

class Entry {
 public:
  Entry(const tile::Kernel& k, Types& types, Table& constants, Table& strings)
      : k_(k), code_(types, constants), types_(types), strings_(strings), hints_(types, strings) {}

  std::uint64_t signature() {
    std::vector<std::uint64_t> arguments;
    for (const tile::Tensor& t : k_.tensors) arguments.push_back(types_.pointers(t.element, {}));
    for (const tile::Parameter& p : k_.parameters) arguments.push_back(types_.tile(p.type, {}));
    return types_.function(arguments);
  }

  const Bytes& write() {
    for (const tile::Tensor& t : k_.tensors) values_[t.id] = {code_.argument(), {}};
    for (const tile::Parameter& p : k_.parameters) values_[p.id] = {code_.argument(), {p.type, {}}};
    facts();
    for (const tile::Tensor& t : k_.constants)
      values_[t.id] = {code_.emit(Opcode::get_global, types_.pointers(t.element, {}), {strings_(global_name(k_, t))}), {}};
    views();
    body(k_.body);
    code_.emit_all(Opcode::return_, {}, true, {0});
    return code_.bytes();
  }

 private:
  struct Known {
    Number number = 0;
    tile::TileType type;
  };

  void facts() {
    for (const tile::Tensor& t : k_.tensors)
      if (t.align > 1) assume(t.id, types_.pointers(t.element, {}), {divisible, static_cast<std::uint64_t>(t.align), 0});
    for (const tile::Parameter& p : k_.parameters) {
      const std::uint64_t type = types_.tile(p.type, {});
      if (p.not_negative) assume(p.id, type, {bounded, 1, 0});  // from 0 on
      if (p.divisor > 1) assume(p.id, type, {divisible, static_cast<std::uint64_t>(p.divisor), 0});
    }
  }
  void assume(Id id, std::uint64_t type, std::vector<std::uint64_t> fact) {
    Number& n = values_.at(id).number;
    fact.push_back(n);
    n = code_.emit(Opcode::assume, type, fact);
  }

  void views() {
    for (const tile::View& v : k_.views) {
      const tile::Tensor& t = k_.tensor(v.tensor);
      const bool plain = v.every.empty() && v.extents.empty();
      const Number tensor = plain && tensors_.count(t.id) ? tensors_.at(t.id) : tensor_view(t, v);
      if (plain) tensors_[t.id] = tensor;
      views_[v.id] = code_.emit(Opcode::make_partition_view, types_.partition(t, v), {tensor});
    }
  }
  Number tensor_view(const tile::Tensor& t, const tile::View& v) {
    std::vector<std::uint64_t> operands{v.every.empty() ? number(t.id) : first_element(t, v)};
    const auto& extents = v.extents.empty() ? t.extents : v.extents;
    for (const auto* list : {&extents, &t.strides}) {
      const std::size_t count = operands.size();
      operands.push_back(0);
      for (std::size_t d = 0; d < list->size(); ++d) {
        const tile::Extent& e = (*list)[d];
        if (!e.parameter) continue;
        ++operands[count];
        operands.push_back(v.every.empty()    ? number(e.parameter)
                           : list == &extents ? elements_of(number(e.parameter), v.every[d])
                                              : product(number(e.parameter), v.every[d].step));
      }
    }
    return code_.emit_all(Opcode::make_tensor_view, {types_.tensor(t, v)}, true, operands);
  }
  // Of every step-th element: the address of the first one, how many there are, and how far apart, in 64 bits.
  Number wide(Number n) { return code_.emit(Opcode::exti, types_.tile(i64, {}), {1, n}); }
  Number product(Number n, std::int64_t by) {
    const Number w = wide(n), factor = code_.constant(ir::int_value(i64, by), {});
    return code_.emit(Opcode::muli, types_.tile(i64, {}), {0, w, factor});
  }
  Number sum(Number a, Number b) { return code_.emit(Opcode::addi, types_.tile(i64, {}), {0, a, b}); }
  Number elements_of(Number extent, const tile::View::Every& e) {
    const Number w = wide(extent), rest = code_.constant(ir::int_value(i64, e.step - 1 - e.first), {});
    const Number most = sum(w, rest), step = code_.constant(ir::int_value(i64, e.step), {});
    return code_.emit(Opcode::divi, types_.tile(i64, {}), {1, to_zero, most, step});
  }
  Number first_element(const tile::Tensor& t, const tile::View& v) {
    std::optional<Number> offset;
    for (std::size_t d = 0; d < v.every.size(); ++d) {
      if (v.every[d].first == 0) continue;
      const tile::Extent& s = t.strides[d];
      const Number more = s.parameter ? product(number(s.parameter), v.every[d].first)
                                      : code_.constant(ir::int_value(i64, s.constant * v.every[d].first), {});
      offset = offset ? sum(*offset, more) : more;
    }
    if (!offset) return number(t.id);
    return code_.emit(Opcode::offset, types_.pointers(t.element, {}), {number(t.id), *offset});
  }

  Number number(Id id) const { return values_.at(id).number; }
  const tile::TileType& type(Id id) const { return values_.at(id).type; }
  std::vector<Number> numbers(const std::vector<Id>& ids) const {
    std::vector<Number> list;
    for (const Id id : ids) list.push_back(number(id));
    return list;
  }
  static void append(std::vector<std::uint64_t>& to, const std::vector<Number>& list) {  // behind their number
    to.push_back(list.size());
    to.insert(to.end(), list.begin(), list.end());
  }

  void body(const tile::Body& list) {
    for (const Stmt& s : list) {
      const Number first = statement(s);
      for (std::size_t i = 0; i < s.results.size(); ++i) values_[s.results[i].id] = {first + i, s.results[i].type};
    }
  }

  // The number of its first result; its others follow.
  Number statement(const Stmt& s) {
    const tile::TileType result = s.results.empty() ? tile::TileType{} : s.results[0].type;
    const auto own = [&] { return types_.tile(result); };
    return s.visit(
        [&](const tile::Constant& n) { return code_.constant(n.value, result.extents); },
        [&](const tile::Iota&) { return code_.emit(Opcode::iota, own(), {}); },
        [&](const tile::BlockIndex& n) { return block(n.axis); },
        [&](const tile::Apply& n) {
          return apply(code_, n.op, type(n.args[n.op == ir::Op::select ? 1 : 0]).element, result.element, result.extents,
                       numbers(n.args));
        },
        [&](const tile::Broadcast& n) { return code_.emit(Opcode::broadcast, own(), {number(n.value)}); },
        [&](const tile::Reshape& n) { return code_.emit(Opcode::reshape, own(), {number(n.value)}); },
        [&](const tile::Permute& n) { return permute(n, own()); },
        [&](const tile::Reduce& n) { return combine(Opcode::reduce, s, n.values, n.dimension, {}, n.identity, n.combine); },
        [&](const tile::Scan& n) {
          return combine(Opcode::scan, s, n.values, n.dimension, {n.reverse}, n.identity, n.combine);
        },
        [&](const tile::Mma& n) { return mma(n, own()); },
        [&](const tile::Load& n) {
          std::vector<std::uint64_t> fields = options(0, n.hints);
          fields.push_back(views_.at(n.view));
          append(fields, numbers(n.at));
          return code_.emit_all(Opcode::load_view_tko, {own(), types_.token()}, true, fields);
        },
        [&](const tile::Store& n) {
          std::vector<std::uint64_t> fields = options(0, n.hints);
          fields.insert(fields.end(), {number(n.value), views_.at(n.view)});
          append(fields, numbers(n.at));
          return code_.emit_all(Opcode::store_view_tko, {types_.token()}, true, fields);
        },
        [&](const tile::Gather& n) {  // with a mask, and what stands in its place
          std::vector<std::uint64_t> fields = options(4 | 8, n.hints);
          fields.insert(fields.end(), {pointers(n.tensor, n.offsets), number(n.mask), number(n.otherwise)});
          return code_.emit_all(Opcode::load_ptr_tko, {own(), types_.token()}, false, fields);
        },
        [&](const tile::Scatter& n) {
          std::vector<std::uint64_t> fields = options(4, n.hints);
          fields.insert(fields.end(), {pointers(n.tensor, n.offsets), number(n.value), number(n.mask)});
          return code_.emit_all(Opcode::store_ptr_tko, {types_.token()}, false, fields);
        },
        [&](const tile::Atomic& n) { return atomic(n); }, [&](const tile::For& n) { return loop(n); });
  }

  Number block(int axis) {
    const std::uint64_t t = types_.tile(i32, {});
    return code_.emit_all(Opcode::get_tile_block_id, {t, t, t}, false, {}) + static_cast<Number>(axis);
  }
  Number permute(const tile::Permute& n, std::uint64_t to) {
    std::vector<std::uint64_t> fields{n.order.size()};
    for (const int d : n.order) fields.insert(fields.end(), {static_cast<std::uint64_t>(d), 0, 0, 0});  // of four bytes each
    fields.push_back(number(n.value));
    return code_.emit(Opcode::permute, to, fields);
  }
  // What stands in front of an access's operands: which of them there are, and that its order is weak, as it may be of what
  // nobody else writes.
  std::vector<std::uint64_t> options(std::uint64_t flags, const std::vector<ir::Hint>& hints) {
    std::vector<std::uint64_t> fields{flags | (hints.empty() ? 0u : 2u), 0};
    if (!hints.empty()) hints_.append(fields, hints);
    return fields;
  }
  // Relaxed, on the device, under a mask.
  Number atomic(const tile::Atomic& n) {
    const tile::TileType t = type(n.value);
    const Number at = pointers(n.tensor, n.offsets);
    return code_.emit_all(Opcode::atomic_rmw_tko, {types_.tile(t), types_.token()}, false,
                          {1, 1, 1, atomically(n.op, t.element), at, number(n.value), number(n.mask)});
  }
  static Atomically atomically(ir::Op op, Type t) {
    switch (op) {
      case ir::Op::add:
        return t.is_float() ? atomic_add_float : atomic_add;
      case ir::Op::min:
        return t.is_signed() ? atomic_min : atomic_min_unsigned;
      case ir::Op::max:
        return t.is_signed() ? atomic_max : atomic_max_unsigned;
      case ir::Op::bit_and:
        return atomic_and;
      case ir::Op::bit_or:
        return atomic_or;
      case ir::Op::bit_xor:
        return atomic_xor;
      default:
        throw InternalError(std::string("no atomic update of CUDA Tile IR: ") + ir::op_name(op));
    }
  }
  // Of numbers of tf32 the conversion is exact.
  Number as_tf32(Id value) {
    return code_.emit(Opcode::ftof, types_.tile_of_tf32(type(value).extents), {nearest_even, number(value)});
  }
  Number mma(const tile::Mma& n, std::uint64_t to) {
    const Type a = type(n.a).element, b = type(n.b).element;
    const Number left = n.tf32 ? as_tf32(n.a) : number(n.a), right = n.tf32 ? as_tf32(n.b) : number(n.b);
    if (a.is_float() && types_.minor < 3) return code_.emit(Opcode::mmaf, to, {left, right, number(n.sum)});
    if (a.is_float()) return code_.emit(Opcode::mmaf, to, {0, left, right, number(n.sum)});  // no faster sums
    return code_.emit(Opcode::mmai, to, {a.is_signed(), b.is_signed(), number(n.a), number(n.b), number(n.sum)});
  }
  Number pointers(Id tensor, Id offsets) {
    const Type element = k_.tensor(tensor).element;
    const Code::Extents& extents = type(offsets).extents;
    const std::uint64_t to = types_.pointers(element, extents);
    const Number base = extents.empty()
                            ? number(tensor)
                            : code_.spread(number(tensor), types_.pointers(element, Code::Extents(extents.size(), 1)), to);
    return code_.emit(Opcode::offset, to, {base, number(offsets)});
  }

  // An identity tells its type with its value: an integer by its bits, a float by its bits as if they were a signed number.
  void identity(std::vector<std::uint64_t>& to, const ir::Value& v) {
    to.insert(to.end(), {v.type.is_float() ? 2u : 1u, types_.element(v.type)});
    const std::uint64_t bits = v.type.is_bool() ? v.i != 0 : ir::to_bits(v);
    const bool zigzag = v.type.is_float() && v.type.bits > 8;
    to.push_back(zigzag ? bits << 1 ^ (bits >> 63 ? ~std::uint64_t{0} : 0) : bits);
  }
  Number combine(Opcode op, const Stmt& s, const std::vector<Id>& values, int dimension,
                 const std::vector<std::uint64_t>& options, const std::vector<ir::Value>& identities,
                 const tile::Region& region) {
    std::vector<std::uint64_t> results, parameters, fields{static_cast<std::uint64_t>(dimension)};
    for (const tile::Result& r : s.results) results.push_back(types_.tile(r.type));
    for (const tile::Result& p : region.parameters) parameters.push_back(types_.tile(p.type));
    fields.insert(fields.end(), options.begin(), options.end());
    fields.push_back(identities.size());
    std::vector<std::size_t> bytes;
    for (const ir::Value& v : identities) {
      identity(fields, v);
      if (v.type.is_float() && v.type.bits == 8 && fields.back() >= 0x80) bytes.push_back(fields.size() - 1);
    }
    append(fields, numbers(values));
    // A float of 8 bits is a byte, not a variable number. One of 0x80 and more begins as such a number does that goes on, so it
    // is written with the number behind it, which is never 0, as one: these are the bytes of both.
    for (std::size_t k = bytes.size(); k-- > 0;) {
      fields[bytes[k]] = (fields[bytes[k]] & 0x7F) | fields[bytes[k] + 1] << 7;
      fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(bytes[k]) + 1);
    }
    return code_.emit_block(op, results, fields, parameters, [&](Number first) {
      for (const tile::Result& p : region.parameters) values_[p.id] = {first++, p.type};
      body(region.body);
      std::vector<std::uint64_t> yields;
      append(yields, numbers(region.yields));
      code_.emit_all(Opcode::yield, {}, true, yields);
    });
  }
  Number loop(const tile::For& n) {
    std::vector<std::uint64_t> results, parameters{types_.tile(i32, {})};
    std::vector<Number> operands = numbers({n.begin, n.end, n.step});
    for (const tile::Carried& c : n.carried) {
      results.push_back(types_.tile(c.parameter.type));
      parameters.push_back(results.back());
      operands.push_back(number(c.start));
    }
    std::vector<std::uint64_t> fields;
    if (types_.minor >= 2) fields.push_back(0);  // bounds have a sign
    append(fields, operands);
    return code_.emit_block(Opcode::for_, results, fields, parameters, [&](Number first) {
      values_[n.var] = {first++, {i32, {}}};
      for (const tile::Carried& c : n.carried) values_[c.parameter.id] = {first++, c.parameter.type};
      body(n.body);
      std::vector<std::uint64_t> yields;
      append(yields, numbers(n.yields));
      code_.emit_all(Opcode::continue_, {}, true, yields);
    });
  }

  const tile::Kernel& k_;
  Code code_;
  Types& types_;
  Table& strings_;
  HintWriter hints_;
  std::map<Id, Known> values_;  // of tensors: their pointers
  std::map<Id, Number> tensors_, views_;
};

enum Section : std::uint64_t { no_more = 0, of_strings = 1, of_functions = 2, of_constants = 4, of_types = 5, of_globals = 6 };

// Version 13.3 knows how many warps compute, and hints for every chip.
bool needs_13_3(const std::vector<ir::Hint>& hints) {
  return std::any_of(hints.begin(), hints.end(),
                     [](const ir::Hint& h) { return h.chip.empty() || h.kind == ir::HintKind::worker_warps; });
}
bool needs_13_3(const tile::Body& body) {
  return std::any_of(body.begin(), body.end(), [](const Stmt& s) {
    if (const auto* n = s.as<tile::Load>()) return needs_13_3(n->hints);
    if (const auto* n = s.as<tile::Store>()) return needs_13_3(n->hints);
    if (const auto* n = s.as<tile::Gather>()) return needs_13_3(n->hints);
    if (const auto* n = s.as<tile::Scatter>()) return needs_13_3(n->hints);
    if (const auto* n = s.as<tile::For>()) return needs_13_3(n->body);
    return false;
  });
}

void section(Bytes& to, Section id, std::size_t alignment, const Bytes& what) {
  to.byte(id | 0x80);  // aligned
  to.number(what.size());
  to.number(alignment);
  to.align(alignment);
  to.append(what);
}

}  // namespace

std::string bytecode(std::span<const tile::Kernel> kernels) {
  int minor = 1;
  for (const tile::Kernel& kernel : kernels)
    if (needs_13_3(kernel.hints) || needs_13_3(kernel.body)) minor = 3;
  Types types(minor);
  Table constants, strings;
  Bytes functions;
  functions.number(kernels.size());
  for (const tile::Kernel& kernel : kernels) {
    tile::verify(kernel);
    functions.number(strings(kernel.name));
    Entry entry(kernel, types, constants, strings);
    functions.number(entry.signature());
    functions.byte(kernel.hints.empty() ? 2 : 2 | 4);  // an entry, with hints or without
    functions.number(0);                               // its line is unknown
    if (!kernel.hints.empty()) {
      std::vector<std::uint64_t> hints{HintWriter::tag};
      HintWriter(types, strings).append(hints, kernel.hints);
      for (const std::uint64_t n : hints) functions.number(n);
    }
    const Bytes& body = entry.write();
    functions.number(body.size());
    functions.append(body);
  }

  Bytes all_globals;
  std::size_t count = 0;
  for (const tile::Kernel& kernel : kernels) count += kernel.constants.size();
  all_globals.number(count);
  for (const tile::Kernel& kernel : kernels) globals(all_globals, kernel, types, constants, strings);

  Bytes module;
  module.append(std::string("\x7FTileIR\0", 8));
  module.byte(13), module.byte(static_cast<std::uint64_t>(minor)), module.fixed(0, 2);
  section(module, of_functions, 8, functions);
  if (count) section(module, of_globals, 8, all_globals);
  if (!constants.empty()) section(module, of_constants, 8, constants.section(8));
  section(module, of_types, 4, types.table().section(4));
  section(module, of_strings, 4, strings.section(4));
  module.byte(no_more);
  return module.data();
}

}  // namespace ashlar::codegen::tileir
