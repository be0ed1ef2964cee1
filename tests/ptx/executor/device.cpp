// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/ptx/executor/device.h"

#include <algorithm>
#include <cstring>
#include <sstream>

namespace ashlar::ptx {

void Coverage::merge(const Coverage& other) {
  for (const auto& [name, count] : other.counts) counts[name] += count;
}
std::string Coverage::text() const {
  std::ostringstream out;
  for (const auto& [name, count] : counts) out << name << ' ' << count << '\n';
  return out.str();
}

Allocation* Device::State::find(u64 address) const {
  auto at = allocations.upper_bound(address);
  if (at == allocations.begin()) return nullptr;
  Allocation& a = *std::prev(at)->second;
  return address - a.begin < a.size ? &a : nullptr;
}

Allocation& Device::State::hold(u64 address, u64 bytes, const char* what) const {
  Allocation* a = find(address);
  if (a == nullptr || bytes > a->size - (address - a->begin))
    throw Error(std::string(what) + " of " + std::to_string(bytes) + " bytes leaves every allocation", 0);
  return *a;
}

Allocation& Device::State::make(u64 bytes, u64 align) {
  auto a = std::make_unique<Allocation>();
  // What lies behind the last byte belongs to nobody.
  a->owned = std::make_unique_for_overwrite<u8[]>(bytes + align + 64);
  const u64 raw = reinterpret_cast<u64>(a->owned.get());
  a->begin = (raw + align - 1) / align * align, a->size = bytes;
  a->data = reinterpret_cast<u8*>(a->begin);
  std::memset(a->data, 0xA5, bytes);
  a->written.assign(bytes, 0);
  Allocation& r = *a;
  allocations[a->begin] = std::move(a);
  return r;
}

Loaded& Device::State::load(const std::shared_ptr<const Image>& image) {
  std::unique_ptr<Loaded>& l = modules[image.get()];
  if (l) return *l;
  l = std::make_unique<Loaded>();
  l->image = image;
  l->counts.resize(image->code.size());
  for (const Variable& v : image->variables) {
    if (v.space == Space::kGlobal || v.space == Space::kConst) {
      if (v.external) throw Error("the variable " + v.name + " is external, and nothing links it", 0);
      Allocation& a = make(v.bytes, std::max<u64>(v.align, 16));
      std::memcpy(a.data, v.initial.data(), v.bytes);
      a.mark(0, v.bytes);
      a.name = v.name, a.space = v.space, a.readonly = v.space == Space::kConst, a.internal = true;
      l->variables.push_back(a.begin);
    } else {
      l->variables.push_back(v.offset);
    }
  }
  for (const u32 f : image->kernel_functions) {
    Allocation& a = make(image->functions[f].kernel.parameter_bytes, 128);
    a.name = "parameters", a.space = Space::kParam, a.readonly = a.internal = true;
    l->parameters[f] = a.begin;
  }
  const auto address = [&](int variable, int function) {
    if (function >= 0) return kCodeWindow | static_cast<u64>(function);
    const Variable& v = image->variables[static_cast<std::size_t>(variable)];
    const u64 at = l->variables[static_cast<std::size_t>(variable)];
    return v.space == Space::kParam ? l->parameters.at(static_cast<u32>(v.function)) + at : at;
  };
  for (std::size_t n = 0; n < image->variables.size(); ++n)
    for (const Variable::Pointer& p : image->variables[n].pointers) {
      u64 value = address(p.variable, p.function) + static_cast<u64>(p.addend);
      if (p.generic && p.variable >= 0 && image->variables[static_cast<std::size_t>(p.variable)].space == Space::kShared)
        value |= kSharedWindow;
      std::memcpy(reinterpret_cast<u8*>(l->variables[n]) + p.at, &value, p.bytes);
    }
  for (const PoolEntry& e : image->pool) {
    l->pool.emplace_back();
    l->pool.back().fill(e.value + (e.variable >= 0 || e.function >= 0 ? address(e.variable, e.function) : 0));
  }
  return *l;
}

Device::Device() : state_(std::make_unique<State>()) {}
Device::~Device() = default;
Device::Device(Device&&) noexcept = default;
Device& Device::operator=(Device&&) noexcept = default;
Checks& Device::checks() { return state_->checks; }
Coverage& Device::coverage() { return state_->coverage; }

std::uint64_t Device::alloc(std::size_t bytes, std::size_t align) {
  if (bytes == 0 || align == 0 || (align & (align - 1)) != 0)
    throw Error("an allocation of " + std::to_string(bytes) + " bytes, aligned to " + std::to_string(align), 0);
  return state_->make(bytes, align).begin;
}

void Device::adopt(void* memory, std::size_t bytes) {
  auto a = std::make_unique<Allocation>();
  a->begin = reinterpret_cast<u64>(memory), a->size = bytes, a->data = static_cast<u8*>(memory);
  a->written.assign(bytes, 1);
  a->name = "memory of the host";
  state_->allocations[a->begin] = std::move(a);
}

void Device::free(std::uint64_t address) {
  const auto at = state_->allocations.find(address);
  if (at == state_->allocations.end() || at->second->internal) throw Error("free() of what is no allocation", 0);
  state_->allocations.erase(at);
}

void Device::write(std::uint64_t to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  Allocation& a = state_->hold(to, bytes, "a write");
  std::memcpy(a.data + (to - a.begin), from, bytes);
  a.mark(to - a.begin, bytes);
}
void Device::read(void* to, std::uint64_t from, std::size_t bytes) const {
  if (bytes == 0) return;
  const Allocation& a = state_->hold(from, bytes, "a read");
  std::memcpy(to, a.data + (from - a.begin), bytes);
}
void Device::fill(std::uint64_t to, std::uint8_t value, std::size_t bytes) {
  if (bytes == 0) return;
  Allocation& a = state_->hold(to, bytes, "a write");
  std::memset(a.data + (to - a.begin), value, bytes);
  a.mark(to - a.begin, bytes);
}
bool Device::holds(std::uint64_t address, std::size_t bytes) const {
  const Allocation* a = state_->find(address);
  return a != nullptr && bytes <= a->size - (address - a->begin);
}
bool Device::written(std::uint64_t address, std::size_t bytes) const {
  const Allocation& a = state_->hold(address, bytes, "a look");
  const auto at = a.written.begin() + static_cast<std::ptrdiff_t>(address - a.begin);
  return std::all_of(at, at + static_cast<std::ptrdiff_t>(bytes), [](u8 w) { return w != 0; });
}
std::size_t Device::allocations() const {
  return static_cast<std::size_t>(std::count_if(state_->allocations.begin(), state_->allocations.end(),
                                                [](const auto& a) { return !a.second->internal && a.second->owned; }));
}

void Device::unload(const Module& m) {
  const auto at = state_->modules.find(&m.image());
  if (at == state_->modules.end()) return;
  for (std::size_t n = 0; n < m.image().variables.size(); ++n) {
    const Variable& v = m.image().variables[n];
    if (v.space == Space::kGlobal || v.space == Space::kConst) state_->allocations.erase(at->second->variables[n]);
  }
  for (const auto& [f, address] : at->second->parameters) state_->allocations.erase(address);
  state_->modules.erase(at);
}

std::pair<std::uint64_t, std::size_t> Device::variable(const Module& m, std::string_view name) {
  const Loaded& l = state_->load(m.image_);
  for (std::size_t n = 0; n < m.image().variables.size(); ++n) {
    const Variable& v = m.image().variables[n];
    if (v.name == name && (v.space == Space::kGlobal || v.space == Space::kConst))
      return {l.variables[n], static_cast<std::size_t>(v.bytes)};
  }
  throw Error("there is no variable " + std::string(name), 0);
}

Report Device::launch(const Module& m, std::string_view kernel, const Grid& g, const std::vector<Piece>& parameters) {
  const Kernel& k = m.kernel(kernel);
  if (parameters.size() != k.parameters.size())
    throw Error("the entry " + k.name + " has " + std::to_string(k.parameters.size()) + " parameters, given are " +
                    std::to_string(parameters.size()),
                0);
  std::vector<std::byte> buffer(k.parameter_bytes);
  for (std::size_t n = 0; n < parameters.size(); ++n) {
    if (parameters[n].size() != k.parameters[n].bytes)
      throw Error("parameter " + std::to_string(n) + " of the entry " + k.name + " has " +
                      std::to_string(k.parameters[n].bytes) + " bytes, given are " + std::to_string(parameters[n].size()),
                  0);
    std::copy(parameters[n].begin(), parameters[n].end(), buffer.begin() + static_cast<std::ptrdiff_t>(k.parameters[n].offset));
  }
  return launch(m, kernel, g, buffer);
}

namespace {

u64 volume(const std::array<u32, 3>& e) { return u64(e[0]) * e[1] * e[2]; }

void check_launch(const Kernel& k, const Grid& g, const std::array<u32, 3>& cluster, std::size_t bytes) {
  const auto bad = [&](const std::string& what) { throw Error("the entry " + k.name + " " + what, 0); };
  if (bytes != k.parameter_bytes)
    bad("has " + std::to_string(k.parameter_bytes) + " bytes of parameters, given are " + std::to_string(bytes));
  if (volume(g.block) == 0 || volume(g.block) > 1024) bad("is launched with " + std::to_string(volume(g.block)) + " threads");
  if (volume(g.grid) == 0) bad("is launched with no block");
  if (k.required_threads[0] != 0 && k.required_threads != g.block)
    bad("demands " + std::to_string(volume(k.required_threads)) + " threads, launched are " + std::to_string(volume(g.block)));
  if (k.most_threads[0] != 0 && volume(k.most_threads) < volume(g.block))
    bad("has at most " + std::to_string(volume(k.most_threads)) + " threads, launched are " + std::to_string(volume(g.block)));
  for (std::size_t d = 0; d < 3; ++d)
    if (g.grid[d] % cluster[d] != 0) bad("is launched with a grid that clusters do not fill");
  if (volume(cluster) > 16) bad("has a cluster of more than 16 blocks");
}

}  // namespace

Report Device::launch(const Module& m, std::string_view kernel, const Grid& g, std::span<const std::byte> parameters) {
  const Image& image = m.image();
  const Function* f = nullptr;
  u32 number = 0;
  for (const u32 n : image.kernel_functions)
    if (image.functions[n].name == kernel) f = &image.functions[n], number = n;
  if (f == nullptr) throw Error("there is no entry " + std::string(kernel), 0);
  std::array<u32, 3> cluster = g.cluster[0] != 0           ? g.cluster
                               : f->kernel.cluster[0] != 0 ? f->kernel.cluster
                                                           : std::array<u32, 3>{1, 1, 1};
  if (g.cluster[0] != 0 && f->kernel.cluster[0] != 0 && g.cluster != f->kernel.cluster)
    throw Error("the entry " + f->name + " demands another cluster", 0);
  check_launch(f->kernel, g, cluster, parameters.size());
  Loaded& l = state_->load(m.image_);
  const u64 at = l.parameters.at(number);
  Allocation& a = *state_->allocations.at(at);
  std::memcpy(a.data, parameters.data(), parameters.size());
  a.mark(0, a.size);
  if (state_->time > (1u << 30)) {
    state_->time = 1;
    for (auto& r : state_->races) r->forget();
  }
  ++state_->launches;
  Run run{*state_, image, l, *f, g, cluster, at, {}, nullptr, state_->time};
  const auto count = [&] {
    for (std::size_t n = 0; n < l.counts.size(); ++n)
      if (l.counts[n] != 0 && image.code[n].run != nullptr)
        state_->coverage.counts[image.names[image.code[n].name]] += l.counts[n];
    std::fill(l.counts.begin(), l.counts.end(), 0);
  };
  try {
    run.go();
  } catch (...) {
    count();
    throw;
  }
  count();
  return run.report;
}

}  // namespace ashlar::ptx
