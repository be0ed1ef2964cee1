// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One module for a kernel, one entry point for a launch: parameters, storage, the body, what the device must offer.
#include <algorithm>
#include <optional>
#include <set>

#include <ashlar/analysis/narrow_indices.h>
#include <ashlar/codegen/abi_layout.h>
#include <ashlar/ir/numeric.h>
#include <ashlar/ir/refusal.h>
#include <ashlar/runtime/vulkan.h>

#include "codegen/legalize.h"
#include "codegen/spirv/emitter.h"
#include "codegen/spirv/tools.h"

namespace ashlar::codegen::spirv {

namespace {

constexpr std::int64_t kPushBytes = 128;  // what every device has
constexpr Word kBaseOffset = 0, kPartsOffset = 4, kFirstParameter = 8;
constexpr std::int64_t kPart = 65535;  // blocks along y and z of a dispatch that is one of several

// How the body of a launch accesses its buffers.
struct Accesses {
  explicit Accesses(const ir::Kernel& kernel) : k(kernel) {}
  const ir::Kernel& k;
  std::set<ir::Id> buffers, read, written;
  std::map<ir::Id, std::set<std::pair<std::int64_t, int>>> constant;  // first element and lanes of accesses
  std::set<ir::Id> variable;                                          // accessed at addresses that are not constants
  std::map<ir::Id, int> together;  // lanes of a vector of which all accesses are aligned ones, 4 or 2; 1: there is none
  Multiples multiples;             // of variables

  void access(ir::Id buffer, const Expr& address, bool masked) {
    buffers.insert(buffer);
    const auto ramp = address.type().lanes > 1 ? as_ramp(address) : std::nullopt;
    std::int64_t first = 0;
    const bool contiguous = address.type().lanes == 1 || (ramp && ir::is_int(ramp->stride, std::int64_t{1}));
    if (contiguous && ir::is_int(ramp ? ramp->base : address, &first))
      constant[buffer].emplace(first, address.type().lanes);
    else
      variable.insert(buffer);
    const int given = address.type().lanes, lanes = given % 4 == 0 ? 4 : given == 2 ? 2 : 1;
    const bool aligned = ramp && contiguous && !masked && known_multiple(ramp->base, multiples) % lanes == 0;
    int& all = together.try_emplace(buffer, lanes).first->second;
    if (!aligned || all != lanes) all = 1;
  }
  // Runs of four, as user_call.cpp accesses them.
  void tile(const ir::IntrinsicOperand& o, const ir::Call::Actual& a) {
    const std::vector<std::int64_t> all = registers_of(o, a);
    const auto one = [&](std::int64_t at) { access(a.buffer, ir::index(at), false); };
    for (std::size_t n = 0; n < all.size(); n += 4) {
      const auto row = std::span(all).subspan(n, std::min<std::size_t>(4, all.size() - n));
      if (row.size() == 4 && are_neighbors(row))
        access(a.buffer, ir::ramp(ir::index(row[0]), ir::index(1), 4), false);
      else
        std::for_each(row.begin(), row.end(), one);
    }
  }
  void look(const Expr& e) {
    ir::walk(e, [&](const Expr& x) {
      if (ir::is(x, ir::Op::load)) {
        access(x.node()->id, ir::args_of(x)[0], ir::args_of(x).size() > 1);
        read.insert(x.node()->id);
      }
      return true;
    });
  }
  void look(const std::vector<ir::KStmt>& list) {
    for (const ir::KStmt& s : list) {
      if (s.is<ir::KPrefetch>()) continue;
      for_each_expr(s, [&](const Expr& e) { look(e); });
      if (const auto* let = s.as<ir::KLet>(); let && let->value.type() == ir::index_type)
        if (const std::int64_t n = known_multiple(let->value, multiples); n > 1) multiples[let->var] = n;
      if (const auto* store = s.as<ir::KStore>()) {
        access(store->buffer, store->address, !store->mask.empty());
        written.insert(store->buffer);
        if (store->atomic) read.insert(store->buffer);
      }
      if (const auto* call = s.as<ir::KCall>()) {
        const ir::Intrinsic& f = k.intrinsics.at(call->intrinsic);
        for (std::size_t n = 0; n < call->actuals.size(); ++n) {
          const ir::Call::Actual& a = call->actuals[n];
          if (!a.buffer || a.address.empty()) continue;
          if (f.is_users())
            tile(f.operands[n], a);
          else
            access(a.buffer, a.address, false);
          read.insert(a.buffer), written.insert(a.buffer);
        }
      }
      for (const auto* part : s.bodies()) look(*part);
    }
  }
};

// Constant accesses that are pairwise the same or apart, each within a piece: then every group of lanes is one variable.
bool grouped(const std::set<std::pair<std::int64_t, int>>& accesses) {
  std::int64_t end = INT64_MIN;
  for (const auto& [first, lanes] : accesses) {
    if (first < end) return false;
    end = first + lanes;
  }
  return true;
}

class Translator {
 public:
  Translator(const ir::Kernel& kernel, const Options& o, const Offers& has)
      : k(kernel), options(o), offers(has), m({o.index32, o.float16}) {
    m.capability(spv::CapabilityShader);
    m.capability(spv::CapabilityPhysicalStorageBufferAddresses);
    if (!o.index32) m.capability(spv::CapabilityInt64);
    if (o.line_tables) m.places = &places_.emplace(kernel);
  }

  Code run() {
    Code code;
    for (const ir::KStmt* s : launches_of(k)) m.vulkan_memory = m.vulkan_memory || exchanges(s->get<ir::KLaunch>());
    if (m.vulkan_memory) m.capability(spv::CapabilityVulkanMemoryModel);
    for (const ir::KStmt* s : launches_of(k)) code.entries.push_back(launch(*s));
    for (const auto& [function, name, interface] : entries_) {
      m.entry(function, name, interface);
      m.mode(function, spv::ExecutionModeLocalSize, {threads_.at(function), 1, 1});
      for (int bits : {16, 32, 64})
        if (m.uses_float(bits)) {
          const auto width = static_cast<Word>(bits);
          m.mode(function, spv::ExecutionModeSignedZeroInfNanPreserve, {width});
          m.mode(function, spv::ExecutionModeDenormPreserve, {width});
          m.mode(function, spv::ExecutionModeRoundingModeRTE, {width});
        }
    }
    if (m.uses_float(16) || m.uses_float(32) || m.uses_float(64))
      for (spv::Capability f :
           {spv::CapabilitySignedZeroInfNanPreserve, spv::CapabilityDenormPreserve, spv::CapabilityRoundingModeRTE})
        m.capability(f);
    code.words = m.assemble();
    check(code.words, "before optimization");
    if (options.optimize) {
      code.words = optimized(code.words);
      check(code.words, "after optimization");
    }
    code.features = features(code.words);
    return code;
  }

 private:
  // Whether memory of the device is both read and written.
  bool reads_what_it_writes(const Accesses& uses) const {
    return std::any_of(uses.written.begin(), uses.written.end(), [&](ir::Id id) {
      const ir::Storage where = k.buffers.at(id).storage;
      return uses.read.contains(id) && (where == ir::Storage::argument || where == ir::Storage::workspace);
    });
  }

  static bool synchronizes(const std::vector<ir::KStmt>& list) {
    return std::any_of(list.begin(), list.end(), [](const ir::KStmt& s) {
      if (const auto* sync = s.as<ir::KSync>(); sync && sync->kind != ir::Sync::Kind::registers) return true;
      const auto parts = s.bodies();
      return std::any_of(parts.begin(), parts.end(), [](const auto* part) { return synchronizes(*part); });
    });
  }

  // Whether the threads of a launch may exchange values in memory of the device, which GLSL's memory model orders only for
  // variables that are declared coherent, and addresses are none.
  bool exchanges(const ir::KLaunch& l) const {
    Accesses uses(k);
    uses.look(l.body);
    return synchronizes(l.body) && reads_what_it_writes(uses);
  }

  void check(const std::vector<Word>& words, const char* when) const {
    const std::string text = invalid(words);
    if (!text.empty()) throw InternalError("spirv: kernel " + k.name + " is invalid " + when + ": " + text);
  }

  // ---- what a device must offer: read off the capabilities that are left
  std::uint32_t features(const std::vector<Word>& words) const {
    std::uint32_t f = ASHLAR_VULKAN_ADDRESSES;
    const std::pair<spv::Capability, std::uint32_t> table[] = {
        {spv::CapabilityInt8, ASHLAR_VULKAN_INT8},
        {spv::CapabilityInt16, ASHLAR_VULKAN_INT16},
        {spv::CapabilityInt64, ASHLAR_VULKAN_INT64},
        {spv::CapabilityVulkanMemoryModel, ASHLAR_VULKAN_MEMORY_MODEL},
        {spv::CapabilityFloat64, ASHLAR_VULKAN_FLOAT64},
        {spv::CapabilityFloat16, ASHLAR_VULKAN_FLOAT16},
        {spv::CapabilityDotProduct, ASHLAR_VULKAN_DOT8},
        {spv::CapabilityStorageBuffer8BitAccess, ASHLAR_VULKAN_STORAGE8},
        {spv::CapabilityStorageBuffer16BitAccess, ASHLAR_VULKAN_STORAGE16},
        {spv::CapabilityGroupNonUniformShuffle, ASHLAR_VULKAN_SHUFFLE},
        {spv::CapabilityGroupNonUniformShuffleRelative, ASHLAR_VULKAN_SHUFFLE_RELATIVE}};
    for (std::size_t at = 5; at < words.size(); at += words[at] >> 16)
      if ((words[at] & 0xFFFF) == spv::OpCapability)
        for (const auto& [capability, bit] : table)
          if (words[at + 1] == static_cast<Word>(capability)) f |= bit;
    if (fma32_ && options.native_fma) f |= ASHLAR_VULKAN_FMA32;
    if (fma64_ && options.native_fma) f |= ASHLAR_VULKAN_FMA64;
    return f;
  }

  std::string unique_name(const std::string& wanted) {
    const std::string base = c_identifier(wanted.empty() ? k.name : wanted);
    std::string name = base;
    for (int n = 2; !names_.insert(name).second; ++n) name = base + "_" + std::to_string(n);
    return name;
  }

  Entry launch(const ir::KStmt& s) {
    const ir::KLaunch& l = s.get<ir::KLaunch>();
    Entry entry;
    entry.launch = l;
    entry.name = unique_name(l.name);
    if (l.threads < 1 || l.threads > 1024)
      refuse("vulkan", "a block of 1 to 1024 threads", std::to_string(l.threads) + " in launch `" + l.name + "`", s.where);
    for (const Expr& c : l.cluster)
      if (!c.empty() && !ir::is_int(c, std::int64_t{1}))
        refuse("vulkan", "blocks without clusters, which Vulkan does not have", "a cluster in launch `" + l.name + "`",
               s.where);
    Accesses uses(k);
    for (const auto& [id, symbol] : k.symbols)
      if (symbol.multiple_of > 1) uses.multiples[id] = symbol.multiple_of;
    uses.look(l.body);
    entry.parameters = parameters_of(k, l, false);
    entry.parameter_bytes = 8 * static_cast<std::int64_t>(entry.parameters.size());
    entry.parameters_in_memory = kFirstParameter + entry.parameter_bytes > kPushBytes;
    entry.folded = (l.block[1] && may_be_split(k, l, 1)) || (l.block[2] && may_be_split(k, l, 2));

    Function c(m);
    c.at(m.line(s.where));
    Emitter e(k, c, offers);
    interface_.clear();
    const Ref push = push_constants(entry);
    numbers(e, entry, push);
    for (const Parameter& p : entry.parameters) bind(e, p, entry, push);
    storage(e, entry, uses, s.where);
    e.orders_device_memory = reads_what_it_writes(uses);
    e.statements(l.body);
    const Ref function = m.fresh();
    m.name(function, entry.name);
    c.finish(function);
    entry.uses_subgroups = e.uses_subgroups;
    if (e.uses_subgroups) {
      interface_.insert(m.built_in(spv::BuiltInSubgroupLocalInvocationId, u32));
      interface_.insert(m.built_in(spv::BuiltInSubgroupSize, u32));
      m.capability(spv::CapabilityGroupNonUniform);
    }
    fma32_ = fma32_ || e.math.used_fma32;
    fma64_ = fma64_ || e.math.used_fma64;
    threads_[function] = static_cast<Word>(l.threads);
    entries_.push_back({function, entry.name, {interface_.begin(), interface_.end()}});
    return entry;
  }

  // The type in which a parameter travels: at least 32 bits.
  Type travels(Type t) const {
    const Type physical = m.registers.physical(t);
    return physical.is_bool() || physical.bits < 32 ? u32 : physical;
  }

  Ref push_constants(const Entry& entry) {
    std::vector<Ref> members = {m.type(u32)};
    std::vector<Word> offsets = {kBaseOffset};
    if (entry.folded) {
      members.push_back(m.type(u32));
      offsets.push_back(kPartsOffset);
    }
    if (entry.parameters_in_memory) {
      members.push_back(m.type(m.registers.address()));
      offsets.push_back(kFirstParameter);
    } else {
      for (const Parameter& p : entry.parameters) {
        members.push_back(m.type(p.kind == Parameter::Kind::address ? m.registers.address() : travels(p.type)));
        offsets.push_back(kFirstParameter + static_cast<Word>(p.offset));
      }
    }
    const Ref block = m.structure(members, offsets);
    Ref& variable = push_[block];  // launches with parameters of the same types share it
    if (!variable) variable = m.global(spv::StorageClassPushConstant, block);
    interface_.insert(variable);
    return variable;
  }

  Ref member(Function& c, Ref push, Word number, Type t) {
    const Ref type = m.type(t), pointer = m.pointer(spv::StorageClassPushConstant, type);
    return c.op(spv::OpLoad, type, {c.op(spv::OpAccessChain, pointer, {push, m.integer(u32, number)})});
  }

  void bind(Emitter& e, const Parameter& p, const Entry& entry, Ref push) {
    const Word first = entry.folded ? 2 : 1;
    const Type t = p.kind == Parameter::Kind::address ? m.registers.address() : travels(p.type);
    Ref v = 0;
    if (entry.parameters_in_memory) {
      const Ref at = e.parameter(member(e.c, push, first, m.registers.address()), p.offset, t);
      v = e.c.op(spv::OpLoad, m.type(t), {at, spv::MemoryAccessAlignedMask, static_cast<Word>(t.bytes() * t.lanes)});
    } else {
      v = member(e.c, push, first + static_cast<Word>(p.offset / 8), t);
    }
    if (p.kind == Parameter::Kind::address) {
      Place place;
      place.buffer = &k.buffers.at(p.id);
      place.address = v;
      e.place(p.id, place);
      return;
    }
    Piece value{v, t};
    const Type physical = m.registers.physical(p.type);
    if (physical == f16)
      value = e.math.bitcast(f16, e.math.convert(u16, value));
    else if (!(t == physical))
      value = e.math.convert(p.type.is_bool() ? bool_ : physical, value);
    const auto symbol = k.symbols.find(p.id);
    e.bind(p.id, {p.type, {{value.id, p.type}}}, symbol == k.symbols.end() ? 1 : symbol->second.multiple_of);
  }

  // The numbers of the block and the thread. Blocks count from where the dispatch begins, so that a grid may exceed what one
  // has: along x from a base, along y and z, if the entry is folded, from a multiple of kPart.
  void numbers(Emitter& e, const Entry& entry, Ref push) {
    const ir::Launch& l = entry.launch;
    auto input = [&](spv::BuiltIn b, Type t) {
      const Ref variable = m.built_in(b, t);
      interface_.insert(variable);
      return Piece{e.c.op(spv::OpLoad, m.type(t), {variable}), t};
    };
    auto bind_number = [&](ir::Id id, Piece v) { e.bind(id, {ir::index_type, {e.math.convert(ir::index_type, v)}}, 1); };
    if (l.block[0] || l.block[1] || l.block[2]) {
      const Piece block = input(spv::BuiltInWorkgroupId, u32.with_lanes(3));
      for (int d = 0; d < 3; ++d) {
        if (!l.block[d]) continue;
        Piece n = e.math.lane(block, d);
        if (d == 0) n = e.math.binary(ir::Op::add, n, {member(e.c, push, 0, u32), u32});
        if (d > 0 && entry.folded) {
          const auto number = [&](std::int64_t v) { return Piece{m.integer(u32, v), u32}; };
          const Piece parts = {member(e.c, push, 1, u32), u32};
          const Piece before =
              d == 1 ? e.math.binary(ir::Op::shr, parts, number(16)) : e.math.binary(ir::Op::bit_and, parts, number(0xFFFF));
          n = e.math.binary(ir::Op::add, n, e.math.binary(ir::Op::mul, before, number(kPart)));
        }
        bind_number(l.block[d], n);
      }
    }
    if (l.thread) bind_number(l.thread, input(spv::BuiltInLocalInvocationIndex, u32));
  }

  void storage(Emitter& e, Entry& entry, const Accesses& uses, Where where) {
    std::map<std::pair<std::int64_t, Ref>, std::vector<const ir::KBuffer*>> shared;  // by offset and type
    for (ir::Id id : uses.buffers) {
      const ir::KBuffer& b = k.buffers.at(id);
      if (b.storage == ir::Storage::argument || b.storage == ir::Storage::workspace) continue;
      if (b.storage == ir::Storage::barrier)
        refuse("vulkan", "block and warp barriers, which are all that Vulkan has", "the mbarriers `" + b.name + "`", where);
      std::int64_t elements = 0, offset = 0;
      if (!ir::is_int(b.elements, &elements) || elements < 0)
        throw InternalError("spirv: the size of buffer " + b.name + " is not a constant");
      if (b.storage == ir::Storage::constant) {
        e.place(id, constant(b, elements, where));
        continue;
      }
      if (b.storage == ir::Storage::shared) {
        if (!ir::is_int(b.offset, &offset))
          throw InternalError("spirv: shared buffer " + b.name + " lies at a variable offset");
        const int lanes = elements % uses.together.at(id) == 0 ? uses.together.at(id) : 1;
        shared[{offset, m.type(held(b.type.element(), lanes))}].push_back(&b);
        continue;
      }
      e.place(id, own(e, b, elements, uses));
    }
    // Buffers that lie at one offset are never alive together: one variable. Launches share those of one type and size.
    std::map<Ref, std::size_t> used;
    for (const auto& [key, buffers] : shared) {
      const int lanes = m.type(buffers[0]->type.element()) == key.second ? 1 : uses.together.at(buffers[0]->id);
      std::int64_t most = 1;  // elements of the variable
      for (const ir::KBuffer* b : buffers) most = std::max(most, b->elements.node()->i / lanes);
      const Ref type = m.array(key.second, most);
      std::vector<Ref>& made = workgroup_[type];
      const std::size_t next = used[type]++;
      if (next == made.size()) {
        made.push_back(m.global(spv::StorageClassWorkgroup, type));
        m.name(made.back(), buffers[0]->name);
      }
      const Ref variable = made[next];
      interface_.insert(variable);
      entry.shared_bytes += most * lanes * (buffers[0]->type.is_bool() ? 4 : buffers[0]->type.bytes());
      for (const ir::KBuffer* b : buffers) {
        Place p;
        p.buffer = b;
        p.kind = Place::Kind::array;
        p.variable = variable;
        p.storage = spv::StorageClassWorkgroup;
        p.lanes = lanes;
        e.place(b->id, p);
      }
    }
  }

  // Data of the module: a private variable with an initial value, which nothing writes.
  Place constant(const ir::KBuffer& b, std::int64_t elements, Where where) {
    constexpr std::int64_t most_words = 60000;  // of an instruction: 65535
    if (elements > most_words)
      refuse("vulkan", "constants of at most " + std::to_string(most_words) + " elements (pass it as an input)",
             b.name + " of " + std::to_string(elements), where);
    Place p;
    p.buffer = &b;
    p.kind = Place::Kind::array;
    p.storage = spv::StorageClassPrivate;
    Ref& variable = constants_[b.id];
    if (!variable) {
      const Type t = b.type.element();
      const auto size = static_cast<std::size_t>(t.bytes());
      std::vector<Ref> members;
      for (std::int64_t n = 0; n < elements; ++n) {
        const ir::Value v = ir::read_value(t, b.data->data() + static_cast<std::size_t>(n) * size);
        if (t == f32 || t == f64 || (t == f16 && m.registers.physical(t) == f16))
          members.push_back(m.real(t, v.f));
        else
          members.push_back(m.integer(t.is_float() ? m.registers.physical(t) : t,
                                      t.is_float() ? static_cast<std::int64_t>(ir::to_bits(v)) : v.i));
      }
      const Ref type = m.array(m.type(t), elements);
      variable = m.global(spv::StorageClassPrivate, type, m.composite(type, members));
      m.name(variable, b.name);
    }
    interface_.insert(variable);
    p.variable = variable;
    return p;
  }

  // Registers and stack buffers of a thread.
  Place own(Emitter& e, const ir::KBuffer& b, std::int64_t elements, const Accesses& uses) {
    Place p;
    p.buffer = &b;
    const auto constant = uses.constant.find(b.id);
    if (uses.variable.contains(b.id) || constant == uses.constant.end()) {
      p.kind = Place::Kind::array;
      p.variable = e.c.local(m.array(m.type(b.type.element()), std::max<std::int64_t>(elements, 1)));
      return p;
    }
    p.kind = Place::Kind::slots;
    const bool groups = grouped(constant->second);
    for (const auto& [first, lanes] : constant->second) {
      std::int64_t at = first;
      std::vector<int> parts = groups ? piece_lanes(lanes) : std::vector<int>(static_cast<std::size_t>(lanes), 1);
      for (int n : parts) {
        if (!p.slots.contains(at)) p.slots[at] = {n, e.c.local(m.type(held(b.type.element(), n)))};
        at += n;
      }
    }
    return p;
  }

  struct EntryPoint {
    Ref function;
    std::string name;
    std::vector<Ref> interface;
  };

  const ir::Kernel& k;
  const Options& options;
  const Offers& offers;
  std::optional<Places> places_;  // with tables of lines
  Module m;
  std::set<std::string> names_;
  std::set<Ref> interface_;  // of the launch at hand
  std::map<ir::Id, Ref> constants_;
  std::map<Ref, std::vector<Ref>> workgroup_;  // by type: variables in shared memory
  std::map<Ref, Ref> push_;
  std::vector<EntryPoint> entries_;
  std::map<Ref, Word> threads_;
  bool fma32_ = false, fma64_ = false;
};

}  // namespace

namespace {

// What a device has of the operators with an expansion. One may take subnormal operands for zero where it says that it does
// not.
Offers offers_of(const Options& options) {
  using ir::Op;
  Offers all;
  all.subnormals = false;
  const auto of_numbers = [](Type t, Type) { return !t.is_bool(); };
  for (const Op op : {Op::mul, Op::bit_and, Op::bit_or, Op::bit_xor, Op::bit_not, Op::lt, Op::le, Op::gt, Op::ge})
    all.rows.push_back({op, of_numbers});
  for (const Op op : {Op::popcount, Op::clz}) all.rows.push_back({op, [](Type t, Type) { return t.element() == u32; }});
  for (const Op op : {Op::floor, Op::ceil, Op::round, Op::trunc})
    all.rows.push_back({op, [](Type t, Type) { return t.element() == f32; }});
  if (options.native_fma) all.rows.push_back({Op::fma, [](Type t, Type) { return t.is_float(); }});
  // f32 has more than twice the digits of f16, so that to compute there and round again is to round once; but not for fma.
  if (options.float16) {
    const auto between = [](Type from, Type to) {
      const Type x = from.element(), y = to.element();
      return (x == f16 && y == f32) || (x == f32 && y == f16);
    };
    all.rows.push_back({Op::cast, between});
    for (const Op op : {Op::add, Op::sub, Op::mul, Op::neg, Op::abs, Op::eq, Op::ne, Op::lt, Op::le, Op::gt, Op::ge})
      all.rows.push_back({op, [](Type t, Type) { return t.element() == f16; }, true});
  }
  return all;
}

}  // namespace

Expr indices_of_32_bits(const ir::Kernel& kernel) {
  const analysis::NarrowIndices narrow = analysis::narrow_indices(legalize(kernel, offers_of({})), 32, analysis::Reach::bytes);
  return narrow.whole ? narrow.condition : ir::boolean(false);
}

Code translate(const ir::Kernel& kernel, const Options& options) {
  const Offers offers = offers_of(options);
  const ir::Kernel k = legalize(kernel, offers);
  return Translator(k, options, offers).run();
}

}  // namespace ashlar::codegen::spirv
