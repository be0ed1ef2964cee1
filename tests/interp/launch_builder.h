#pragma once
// Parallel programs written by hand, statement by statement, each remembering the line it was written on.
//
//   Builder b("copy");
//   Expr n = b.symbol("N");
//   Id in = b.input("in", f32, {n}), out = b.output("out", f32, {n});
//   b.launch(ceil_div(n, 32), 32, [&](Expr block, Expr thread) {
//     Expr i = b.let("i", block * 32 + thread);                       // its scope ends with the braces around it
//     b.when(lt(i, n), [&] { b.store(out, i, b.at(in, i)); });
//     b.block_barrier({"tile"});                                      // the buffers whose accesses it protects
//   });
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ashlar/ir/build.h>
#include <ashlar/ir/intrinsics.h>
#include <ashlar/ir/kernel.h>

namespace launches {

using namespace ashlar;
using ir::Id;
using ir::KStmt;
using ir::Sync;

inline Expr num(std::int64_t x) { return ir::index(x); }
inline Expr operator+(const Expr& a, const Expr& b) { return ir::add(a, b); }
inline Expr operator+(const Expr& a, std::int64_t b) { return ir::add(a, num(b)); }
inline Expr operator-(const Expr& a, const Expr& b) { return ir::sub(a, b); }
inline Expr operator-(const Expr& a, std::int64_t b) { return ir::sub(a, num(b)); }
inline Expr operator*(const Expr& a, const Expr& b) { return ir::mul(a, b); }
inline Expr operator*(const Expr& a, std::int64_t b) { return ir::mul(a, num(b)); }
inline Expr operator/(const Expr& a, std::int64_t b) { return ir::div(a, num(b)); }
inline Expr operator%(const Expr& a, std::int64_t b) { return ir::mod(a, num(b)); }
inline Expr operator%(const Expr& a, const Expr& b) { return ir::mod(a, b); }
inline Expr operator/(const Expr& a, const Expr& b) { return ir::div(a, b); }
inline Expr below(const Expr& a, std::int64_t b) { return ir::lt(a, num(b)); }
inline Expr exclusive_or(const Expr& a, const Expr& b) { return ir::binary(ir::Op::bit_xor, a, b); }

using Names = std::vector<std::string>;

class Builder {
 public:
  ir::Kernel k;
  std::map<std::uint_least32_t, Names> guards;  // by line: what the statement there protects

  explicit Builder(std::string name) {
    k.name = std::move(name);
    k.next_id = 1001;
    open_.push_back(&k.body);
  }

  Expr symbol(const std::string& name, std::int64_t multiple_of = 1) {
    const Id id = k.fresh();
    k.symbols[id] = {id, name, 0, INT64_MAX, multiple_of, {}};
    return ir::var(id, name);
  }
  Id input(const std::string& name, Type t, std::vector<Expr> extents) {
    return argument(ir::ArgumentKind::input, name, t, std::move(extents));
  }
  Id output(const std::string& name, Type t, std::vector<Expr> extents) {
    return argument(ir::ArgumentKind::output, name, t, std::move(extents));
  }
  Id registers(const std::string& name, Type t, std::int64_t n) { return buffer(name, t, ir::Storage::registers, n, -1); }
  Id shared(const std::string& name, Type t, std::int64_t n, std::int64_t offset) {
    return buffer(name, t, ir::Storage::shared, n, offset);
  }
  Id workspace(const std::string& name, Type t, std::int64_t n, std::int64_t offset) {
    return buffer(name, t, ir::Storage::workspace, n, offset);
  }
  Id barriers(const std::string& name, std::int64_t n, std::int64_t offset) {
    return buffer(name, u64, ir::Storage::barrier, n, offset);
  }
  Id tensor_map(const std::string& name, Id of, std::vector<Expr> extents, std::vector<Expr> strides,
                std::vector<std::int64_t> box, int swizzle) {
    const Id id = k.fresh();
    k.tensor_maps[id] = {id, name, of, k.buffers.at(of).type, std::move(extents), std::move(strides), std::move(box), swizzle};
    return id;
  }
  const ir::Intrinsic& intrinsic(ir::Intrinsic f) {
    const Id id = f.id;
    return k.intrinsics.emplace(id, std::move(f)).first->second;
  }
  Expr at(Id b, const Expr& address) const {
    const ir::KBuffer& info = k.buffers.at(b);
    return ir::load(b, info.name, info.type, {&address, 1});
  }
  Expr at(Id b, const Expr& address, const Expr& mask) const {
    const ir::KBuffer& info = k.buffers.at(b);
    const Expr operands[2] = {address, mask};
    return ir::load(b, info.name, info.type, operands);
  }

  // ---- statements
  void launch(const Expr& grid, std::int64_t threads, std::int64_t shared_bytes, const std::function<void(Expr, Expr)>& body,
              Where where = Where::current(), std::int64_t warp = 32) {
    ir::KLaunch l;
    l.name = k.name;
    l.grid[0] = grid;
    l.threads = threads;
    l.shared_bytes = shared_bytes;
    l.warp = static_cast<int>(warp);
    const Id x = l.block[0] = k.fresh();
    const Id thread = l.thread = k.fresh();
    nested({where, std::move(l)}, [&] { body(ir::var(x, "block_x"), ir::var(thread, "thread")); });
  }
  void store(Id b, const Expr& address, const Expr& value, Where where = Where::current()) {
    add({where, ir::KStore{b, address, value}});
  }
  void loop(const std::string& name, const Expr& extent, const std::function<void(Expr)>& body,
            Where where = Where::current()) {
    const Id var = k.fresh();
    nested({where, ir::KFor{var, name, num(0), extent}}, [&] { body(ir::var(var, name)); });
  }
  void when(const Expr& condition, const std::function<void()>& body, Where where = Where::current()) {
    nested({where, ir::KIf{condition}}, body);
  }
  void within(const std::function<void()>& body) { scope(*open_.back(), body); }  // a scope for lets, no statement
  void either(const Expr& condition, const std::function<void()>& body, const std::function<void()>& otherwise,
              Where where = Where::current()) {
    nested({where, ir::KIf{condition}}, body);
    scope(open_.back()->back().get<ir::KIf>().otherwise, otherwise);
  }
  Expr let(const std::string& name, const Expr& value, Where where = Where::current()) {
    const Id var = k.fresh();
    add({where, ir::KLet{var, name, value}});
    open_.push_back(&open_.back()->back().get<ir::KLet>().body);
    return ir::var(var, name, value.type());
  }

  // ---- synchronization: what it protects comes first
  void block_barrier(Names protects, Where where = Where::current()) {
    sync(Sync::Kind::block, protects, where, [](Sync&) {});
  }
  void warp_barrier(Names protects, Where where = Where::current()) {
    sync(Sync::Kind::warp, protects, where, [](Sync&) {});
  }
  void named(Names protects, const Expr& index, std::int64_t threads, Where where = Where::current()) {
    sync(Sync::Kind::named, protects, where, [&](Sync& s) { s.index = index, s.count = num(threads); });
  }
  void named_arrive(Names protects, const Expr& index, std::int64_t threads, Where where = Where::current()) {
    sync(Sync::Kind::named_arrive, protects, where, [&](Sync& s) { s.index = index, s.count = num(threads); });
  }
  void init(Id b, const Expr& index, std::int64_t arrivals, Where where = Where::current()) {
    sync(Sync::Kind::mbarrier_init, {k.buffers.at(b).name}, where,
         [&](Sync& s) { s.buffer = b, s.index = index, s.count = num(arrivals); });
  }
  void arrive(Names protects, Id b, const Expr& index, Where where = Where::current()) {
    protects.push_back(k.buffers.at(b).name);
    sync(Sync::Kind::mbarrier_arrive, protects, where, [&](Sync& s) { s.buffer = b, s.index = index; });
  }
  void expect(Names protects, Id b, const Expr& index, const Expr& bytes, Where where = Where::current()) {
    protects.push_back(k.buffers.at(b).name);
    sync(Sync::Kind::mbarrier_expect, protects, where, [&](Sync& s) { s.buffer = b, s.index = index, s.bytes = bytes; });
  }
  void wait(Names protects, Id b, const Expr& index, const Expr& parity, Where where = Where::current()) {
    protects.push_back(k.buffers.at(b).name);
    sync(Sync::Kind::mbarrier_wait, protects, where, [&](Sync& s) { s.buffer = b, s.index = index, s.parity = parity; });
  }
  void commit(Names protects, ir::Completion group, Where where = Where::current()) {
    sync(Sync::Kind::commit, protects, where, [&](Sync& s) { s.group = group; });
  }
  void wait_group(Names protects, ir::Completion group, std::int64_t pending, Where where = Where::current()) {
    sync(Sync::Kind::wait, protects, where, [&](Sync& s) { s.group = group, s.count = num(pending); });
  }
  void wait_read(Names protects, std::int64_t pending, Where where = Where::current()) {
    sync(Sync::Kind::wait_read, protects, where,
         [&](Sync& s) { s.group = ir::Completion::bulk_group, s.count = num(pending); });
  }
  void fence(Names protects, Sync::Kind kind, Where where = Where::current()) {
    sync(kind, protects, where, [](Sync&) {});
  }
  void set_registers(std::int64_t n, Where where = Where::current()) {
    sync(Sync::Kind::registers, {}, where, [&](Sync& s) { s.count = num(n); });
  }

  // ---- calls
  struct Operand {
    ir::Call::Actual actual;
    Operand(Id b, const Expr& address) : actual{b, address, {}, {}, {}} {}
    Operand(const Expr& value) : actual{0, value, {}, {}, {}} {}
    Operand(std::int64_t value) : actual{0, num(value), {}, {}, {}} {}
    Operand(Id map, std::vector<Expr> positions) : actual{map, {}, std::move(positions), {}, {}} {}
  };
  void call(const ir::Intrinsic& f, const std::vector<Operand>& operands, Where where = Where::current()) {
    ir::KCall c;
    c.intrinsic = f.id;
    for (const Operand& o : operands) c.actuals.push_back(o.actual);
    add({where, std::move(c)});
  }
  void add_sync(const Sync& s, Where where) { add({where, s}); }

 private:
  void add(KStmt s) { open_.back()->push_back(std::move(s)); }
  void nested(KStmt s, const std::function<void()>& body) {
    add(std::move(s));
    scope(**open_.back()->back().bodies().begin(), body);
  }
  void scope(std::vector<KStmt>& list, const std::function<void()>& body) {
    const std::size_t depth = open_.size();
    open_.push_back(&list);
    body();
    open_.resize(depth);
  }
  template <class F>
  void sync(Sync::Kind kind, const Names& protects, Where where, F&& fill) {
    Sync s;
    s.kind = kind;
    fill(s);
    Names& names = guards[where.line()];
    names.insert(names.end(), protects.begin(), protects.end());
    add_sync(s, where);
  }
  Id argument(ir::ArgumentKind kind, const std::string& name, Type t, std::vector<Expr> extents) {
    const Id id = k.fresh();
    k.arguments.push_back({kind, id});
    ir::Buffer b;
    b.id = id;
    b.name = name;
    b.type = t;
    b.rank = static_cast<int>(extents.size());
    b.extents = std::move(extents);
    k.argument_buffers[id] = b;
    ir::KBuffer kb;
    kb.id = id;
    kb.name = name;
    kb.type = t;
    kb.written = kind == ir::ArgumentKind::output;
    k.buffers[id] = kb;
    return id;
  }
  Id buffer(const std::string& name, Type t, ir::Storage storage, std::int64_t n, std::int64_t offset) {
    ir::KBuffer b;
    b.id = k.fresh();
    b.name = name;
    b.type = t;
    b.storage = storage;
    b.elements = num(n);
    b.align = storage == ir::Storage::shared ? 128 : 8;
    if (offset >= 0) b.offset = num(offset);
    k.buffers[b.id] = b;
    return b.id;
  }

  std::vector<std::vector<KStmt>*> open_;
};

}  // namespace launches
