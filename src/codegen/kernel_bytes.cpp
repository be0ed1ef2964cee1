// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/kernel_bytes.h"

#include <bit>
#include <cstring>
#include <type_traits>
#include <unordered_map>

#include <ashlar/ir/function.h>

namespace ashlar::codegen {

namespace {

using namespace ir;

// Structured bindings name every member of a structure: one that is added breaks the line that takes it apart.
class Writer {
 public:
  explicit Writer(bool with_places) : with_places_(with_places) {}

  template <class T>
    requires(std::is_integral_v<T> || std::is_enum_v<T>)
  void put(T value) {
    const auto bits = static_cast<std::uint64_t>(value);
    char bytes[8];
    for (int k = 0; k < 8; ++k) bytes[k] = static_cast<char>(bits >> (8 * k));
    out_.append(bytes, sizeof bytes);
  }
  void put(const std::string& s) { text(s.data(), s.size()); }
  void put(const Type& t) {
    const auto& [code, bits, lanes, scalable] = t;
    put(code), put(bits), put(lanes), put(scalable);
  }
  void put(const Scope& s) {
    const auto& [name, limits] = s;
    const auto& [bytes, align, address_space, qualifier] = limits;
    put(std::string(name)), put(bytes), put(align), put(address_space), put(std::string(qualifier));
  }
  void put(const Where& w) {
    if (!with_places_) return;
    put(w.line()), put(w.column()), put(std::string(w.file_name()));
  }
  void put(const ThreadAxis& a) {
    const auto& [level, dim] = a;
    put(level), put(dim);
  }

  // An expression: 0 for an empty one, the number of one that was written, or the next number and the node.
  void put(const Expr& e) {
    if (e.empty()) return put(0);
    const Node& n = *e.node();
    const auto [place, is_new] = numbers_.try_emplace(&n, numbers_.size() + 1);
    put(place->second);
    if (!is_new) return;
    put(n.op), put(n.type), put(n.count), put(n.where);
    put(n.op == Op::float_const ? std::bit_cast<std::uint64_t>(n.f) : std::bit_cast<std::uint64_t>(n.i));
    put(std::string(n.name ? n.name : ""));
    if (n.op == Op::call) put_function(n.id);
    for (std::uint32_t k = 0; k < n.count; ++k) put(n.args[k]);
  }

  template <class T>
  void put(const std::vector<T>& list) {
    put(list.size());
    for (const T& each : list) put(each);
  }
  template <class K, class V>
  void put(const std::map<K, V>& table) {
    put(table.size());
    for (const auto& [key, value] : table) put(key), put(value);
  }
  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <class T>
  void put(const std::shared_ptr<const T>& value) {
    put(value != nullptr);
    if (value) put(*value);
  }
  template <class T, std::size_t N>
  void put(const T (&list)[N]) {
    for (const T& each : list) put(each);
  }
  void put(const std::vector<std::byte>& data) { text(reinterpret_cast<const char*>(data.data()), data.size()); }

  void put(const Argument& a) {
    const auto& [kind, id] = a;
    put(kind), put(id);
  }
  void put(const Symbol& s) {
    const auto& [id, name, min, max, multiple_of, where] = s;
    put(id), put(name), put(min), put(max), put(multiple_of), put(where);
  }
  void put(const ScalarArg& s) {
    const auto& [id, name, type, where] = s;
    put(id), put(name), put(type), put(where);
  }
  void put(const StrideArg& s) {
    const auto& [id, buffer, dim] = s;
    put(id), put(buffer), put(dim);
  }
  void put(const AlignmentArg& a) {
    const auto& [id, buffer] = a;
    put(id), put(buffer);
  }
  void put(const Layout& l) {
    const auto& [vars, map, strides, dropped, align_dim, pad_to] = l;
    put(vars), put(map), put(strides), put(dropped), put(align_dim), put(pad_to);
  }
  void put(const Buffer& b) {
    const auto& [id, name, type, rank, role, stage, extents, scope, layout, align, may_alias, injective, streamed, order,
                 packed, data, where] = b;
    put(id), put(name), put(type), put(rank), put(role), put(stage), put(extents), put(scope), put(layout), put(align);
    put(may_alias), put(injective), put(streamed), put(order), put(packed), put(data), put(where);
  }
  void put(const KBuffer& b) {
    const auto& [id, name, type, storage, elements, align, written, offset, per_worker, data, inside, lowering] = b;
    static_cast<void>(lowering);  // a finished kernel has none
    put(id), put(name), put(type), put(storage), put(elements), put(align), put(written), put(offset), put(per_worker);
    put(data), put(inside);
  }
  void put(const Launch& l) {
    const auto& [name, grid, cluster, threads, warp, block, thread, shared_bytes, registers] = l;
    put(name), put(grid), put(cluster), put(threads), put(warp), put(block), put(thread), put(shared_bytes), put(registers);
  }
  void put(const Sync& s) {
    const auto& [kind, buffer, index, count, bytes, parity, rank, group] = s;
    put(kind), put(buffer), put(index), put(count), put(bytes), put(parity), put(rank), put(group);
  }
  void put(const Call::Actual& a) {
    const auto& [buffer, address, positions, strides, extents] = a;
    put(buffer), put(address), put(positions), put(strides), put(extents);
  }
  void put(const Call& c) {
    const auto& [intrinsic, function, actuals, results] = c;
    put(intrinsic), put(function), put(actuals), put(results);
    if (function != 0) put_function(function);
  }
  void put(const IntrinsicOperand& o) {
    const auto& [name, kind, access, place, proxy, completion, type, shape, id, scope, extents, min, max, multiple_of, vars,
                 map] = o;
    put(name), put(kind), put(access), put(place), put(proxy), put(completion), put(type), put(shape), put(id), put(scope);
    put(extents), put(min), put(max), put(multiple_of), put(vars), put(map);
  }
  void put(const Intrinsic& i) {
    const auto& [id, name, group, operands, spatial, reduce, reduce_extents, value, accumulates, rounds_freely, device, emit,
                 wait, needs, spatial_extents, reduce_sizes, where] = i;
    put(id), put(name), put(group), put(operands), put(spatial), put(reduce), put(reduce_extents), put(value);
    put(accumulates), put(rounds_freely), put(device), put(emit), put(wait), put(needs), put(spatial_extents);
    put(reduce_sizes), put(where);
  }
  void put(const TensorMap& m) {
    const auto& [id, name, buffer, type, extents, strides, box, swizzle] = m;
    put(id), put(name), put(buffer), put(type), put(extents), put(strides), put(box), put(swizzle);
  }
  void put(const KFor& n) {
    const auto& [var, name, begin, extent, kind, body, bound_to, ring] = n;
    static_cast<void>(bound_to), static_cast<void>(ring);  // a finished kernel has none
    put(var), put(name), put(begin), put(extent), put(kind), put(body);
  }
  void put(const KIf& n) {
    const auto& [condition, body, otherwise] = n;
    put(condition), put(body), put(otherwise);
  }
  void put(const KLet& n) {
    const auto& [var, name, value, body] = n;
    put(var), put(name), put(value), put(body);
  }
  void put(const KStore& n) {
    const auto& [buffer, address, value, mask, atomic, group] = n;
    static_cast<void>(group);  // a finished kernel has none
    put(buffer), put(address), put(value), put(mask), put(atomic);
  }
  void put(const KPrefetch& n) {
    const auto& [buffer, address] = n;
    put(buffer), put(address);
  }
  void put(const KLaunch& n) {
    // The kernel of a launch of tiles is told by its bytecode, which the key of the cache has too.
    static_assert(sizeof(KLaunch) == sizeof(Launch) + sizeof(KBody) + sizeof n.tile + sizeof n.tensors + sizeof n.parameters);
    put(static_cast<const Launch&>(n)), put(n.body), put(n.tile != nullptr), put(n.tensors), put(n.parameters);
  }
  void put(const KStmt& s) {
    const auto& [where, node, nest] = s;
    static_cast<void>(nest);  // a finished kernel has none
    put(where), put(node.index());
    std::visit([this](const auto& n) { put(n); }, node);
  }
  void put(const Kernel& k) {
    const auto& [name, arguments, symbols, scalars, strides, alignments, argument_buffers, buffers, intrinsics, tensor_maps,
                 body, assumptions, workspace_shared, workspace_per_worker, workspace_align, next_id] = k;
    static_cast<void>(next_id);  // code is made of what there is
    put(name), put(arguments), put(symbols), put(scalars), put(strides), put(alignments), put(argument_buffers), put(buffers),
        put(intrinsics);
    put(tensor_maps), put(body), put(assumptions), put(workspace_shared), put(workspace_per_worker), put(workspace_align);
  }

  std::string take() { return std::move(out_); }

 private:
  void text(const char* data, std::size_t size) {
    put(size);
    out_.append(data, size);
  }
  // What code knows of a function in C is how it was declared; its address here is no part of that.
  void put_function(Id id) {
    const auto& [symbol, parameters, result, address, run, where, region, compute] = function(id);
    static_cast<void>(address), static_cast<void>(run), static_cast<void>(compute);
    put(symbol), put(parameters), put(result), put(where), put(region);
  }

  bool with_places_;
  std::string out_;
  std::unordered_map<const Node*, std::size_t> numbers_;
};

}  // namespace

std::string kernel_bytes(const Kernel& kernel, bool with_places) {
  Writer w(with_places);
  w.put(kernel);
  return w.take();
}

}  // namespace ashlar::codegen
