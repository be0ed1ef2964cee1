// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tile kernel as a module of bytecode: a magic word, a version, and sections, each with its number, its length and its
// alignment. The entry tells the facts of its arguments, makes the views, and then runs the body.
//
// The format is that of version 13.1, or of 13.3 where a kernel says how many warps compute, as NVIDIA documents it: "Tile IR"
// (docs.nvidia.com/cuda/tile-ir, sections "Binary format" and "Operations"), the tables of the public repository
// NVIDIA/cuda-tile, and what later versions add, from the package `cuda-tile`.
#include <map>

#include <ashlar/codegen/tileir.h>
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

class Entry {
 public:
  Entry(const tile::Kernel& k, Types& types, Table& constants) : k_(k), code_(types, constants), types_(types) {}

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
      if (!tensors_.count(t.id)) {
        std::vector<std::uint64_t> operands{number(t.id)};
        for (const auto* list : {&t.extents, &t.strides}) {
          const std::size_t count = operands.size();
          operands.push_back(0);
          for (const tile::Extent& e : *list)
            if (e.parameter) operands.push_back(number(e.parameter)), ++operands[count];
        }
        tensors_[t.id] = code_.emit_all(Opcode::make_tensor_view, {types_.tensor(t)}, true, operands);
      }
      views_[v.id] = code_.emit(Opcode::make_partition_view, types_.partition(t, v), {tensors_.at(t.id)});
    }
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
          std::vector<std::uint64_t> fields{0, 0, views_.at(n.view)};  // no options; weak, as what nobody else writes may be
          append(fields, numbers(n.at));
          return code_.emit_all(Opcode::load_view_tko, {own(), types_.token()}, true, fields);
        },
        [&](const tile::Store& n) {
          std::vector<std::uint64_t> fields{0, 0, number(n.value), views_.at(n.view)};
          append(fields, numbers(n.at));
          return code_.emit_all(Opcode::store_view_tko, {types_.token()}, true, fields);
        },
        [&](const tile::Gather& n) {  // with a mask, and what stands in its place
          return code_.emit_all(Opcode::load_ptr_tko, {own(), types_.token()}, false,
                                {4 | 8, 0, pointers(n.tensor, n.offsets), number(n.mask), number(n.otherwise)});
        },
        [&](const tile::Scatter& n) {
          return code_.emit_all(Opcode::store_ptr_tko, {types_.token()}, false,
                                {4, 0, pointers(n.tensor, n.offsets), number(n.value), number(n.mask)});
        },
        [&](const tile::For& n) { return loop(n); });
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
  Number mma(const tile::Mma& n, std::uint64_t to) {
    const Type a = type(n.a).element, b = type(n.b).element;
    if (a.is_float() && types_.minor < 3) return code_.emit(Opcode::mmaf, to, {number(n.a), number(n.b), number(n.sum)});
    if (a.is_float()) return code_.emit(Opcode::mmaf, to, {0, number(n.a), number(n.b), number(n.sum)});  // no faster sums
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
  std::map<Id, Known> values_;  // of tensors: their pointers
  std::map<Id, Number> tensors_, views_;
};

enum Section : std::uint64_t { no_more = 0, of_strings = 1, of_functions = 2, of_constants = 4, of_types = 5 };

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
    if (kernel.worker_warps) minor = 3;
  Types types(minor);
  Table constants, strings;
  Bytes functions;
  functions.number(kernels.size());
  for (const tile::Kernel& kernel : kernels) {
    tile::verify(kernel);
    functions.number(strings(kernel.name));
    Entry entry(kernel, types, constants);
    functions.number(entry.signature());
    functions.byte(kernel.worker_warps ? 2 | 4 : 2);  // an entry, with hints or without
    functions.number(0);                              // its line is unknown
    if (kernel.worker_warps) {                        // hints, by chip: a dictionary for all, of one integer
      for (const std::uint64_t n :
           {std::uint64_t{11}, std::uint64_t{1}, strings("default"), std::uint64_t{10}, std::uint64_t{1},
            strings("num_worker_warps_per_cta"), std::uint64_t{1}, types.element(i32)})
        functions.number(n);
      functions.number(static_cast<std::uint64_t>(kernel.worker_warps));
    }
    const Bytes& body = entry.write();
    functions.number(body.size());
    functions.append(body);
  }

  Bytes module;
  module.append(std::string("\x7FTileIR\0", 8));
  module.byte(13), module.byte(static_cast<std::uint64_t>(minor)), module.fixed(0, 2);
  section(module, of_functions, 8, functions);
  if (!constants.empty()) section(module, of_constants, 8, constants.section(8));
  section(module, of_types, 4, types.table().section(4));
  section(module, of_strings, 4, strings.section(4));
  module.byte(no_more);
  return module.data();
}

}  // namespace ashlar::codegen::tileir
