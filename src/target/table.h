// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The table of processors, their features and systems: src/target/targets.json, and what files of users added to it.
#include <cstdint>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ashlar/target/target.h>

namespace ashlar::targets {

struct Feature {
  std::string name;  // as LLVM spells it
  Architecture of = Architecture::x86_64;
  std::vector<std::string> needs;  // features it cannot be without; all stand before it
  std::vector<std::string> instructions, operations;
  int vector_bits = 0, narrow_vector_bits = 0, registers = 0;  // what it raises them to; narrow: of elements below 32 bits
  bool always = false;                                         // every processor of the architecture has it
  bool flushes_subnormals = false;
  bool of_compiler = true;  // told to the code generator; else it is for the code that is made
};

struct Base {
  std::string name, cpu, tune;
  std::string arch;  // what stands for ARCH in a system's triple
  Architecture of = Architecture::x86_64;
  std::vector<std::string> features;
  std::vector<std::string> systems;  // those it can be for; the first is meant where none is named
  std::int64_t caches[3] = {};       // of a typical core: schedules for a named target are the same everywhere
  int cache_line = 64;
};

struct System {
  std::string name;
  std::vector<std::pair<Architecture, std::string>> triples;
  const std::string* triple(Architecture) const;  // null: not there
};

struct Table {
  // Entries are appended and never moved or changed: what points at one may be kept. Features by architecture, in an order in
  // which each stands behind what it needs.
  std::deque<Feature> features;
  std::deque<Base> bases;
  std::deque<System> systems;

  const Feature* feature(Architecture, std::string_view name) const;
  const Base* base(std::string_view name) const;
  const System* system(std::string_view name) const;
  // Adds what a file holds, once, or nothing: std::runtime_error with the entry and what is wrong with it.
  void add(const std::string& json);

 private:
  std::set<std::string> added_;
};

// The one table, under its lock.
class Locked {
 public:
  Locked();
  const Table* operator->() const { return &table_; }
  const Table& operator*() const { return table_; }
  Table& edit() { return table_; }

 private:
  std::lock_guard<std::recursive_mutex> lock_;
  Table& table_;
};

bool has_here(const Feature&);                          // whether this machine is known to have it
int number_of(Architecture, std::string_view feature);  // its bit in runtime/cpu.h; -1: the runtime cannot tell
void read_caches(std::int64_t (&bytes)[3]);             // of this machine, by level; zero where they are not told
// Features of devices for Vulkan (Target::vulkan_features).
bool is_vulkan_feature(std::string_view);
int subgroup_of(std::string_view feature);               // lanes that it names; 0: none
const Device* with_subgroups(const Device&, int lanes);  // a device for Vulkan whose warps are subgroups of that size
extern const std::string_view built_in_json;             // src/target/targets.json

}  // namespace ashlar::targets
