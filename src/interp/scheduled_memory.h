// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// The buffers of a scheduled program while it runs: where each is stored, and every access to an element, which is checked here
// and reported to a watcher.
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ashlar/interp/watcher.h>
#include <ashlar/ir/refusal.h>

#include "interp/arguments.h"
#include "interp/scheduled_code.h"

namespace ashlar::interp::scheduled {

class PlacedMemory : public Memory {
 public:
  int resolve(Id buffer, const char* name) override {
    for (std::size_t k = 0; k < places_.size(); ++k)
      if (places_[k].info->id == buffer) return static_cast<int>(k);
    const auto at = program_.buffers.find(buffer);
    if (at == program_.buffers.end()) throw InternalError(std::string("a load of an unknown buffer ") + (name ? name : ""));
    Place place;
    place.info = &at->second;
    if (const auto a = arrays_.find(buffer); a != arrays_.end()) {
      place.array = a->second;
      if (place.info->role == ir::Role::output) place.written.resize(static_cast<std::size_t>(place.array->elements()));
    } else {
      for (Id v : place.info->layout.vars) place.layout_vars.push_back(slots_.slot(v));
      place.rings = scheduled::rings(place.info->layout);
      for (const Expr& e : place.info->layout.map) place.layout.emplace_back(e, slots_, *this, Select::lazy);
    }
    places_.push_back(std::move(place));
    return static_cast<int>(places_.size()) - 1;
  }

  Value read(int source, const std::int64_t* index, int rank) override {
    Place& place = places_[static_cast<std::size_t>(source)];
    const std::span<const std::int64_t> at(index, static_cast<std::size_t>(rank));
    const Value v = peek(place, at, "reads");
    if (v.type.code == Type::Code::handle)
      throw RunError(RunError::Kind::uninitialized,
                     where() + " reads " + place.info->name + text_of_index(at) + ", which was not written");
    if (at_once_ && (place.storage || place.info->role == ir::Role::output))
      check(at_once_->read(touched(place, at), combines_), place, at, "reads");
    if (watcher_) watcher_->reads(place.info->id, at, place_of(place, at, "reads"));
    return v;
  }

  std::string where() const override {
    if (!current_) return "the schedule";
    const StageCode& s = stage_code_.at(current_->id);
    std::string text = "stage `" + current_->name + "`";
    for (std::size_t k = 0; k < s.all.size(); ++k)
      if (slots_.value(s.all[k]).type.code != Type::Code::handle)
        text += (k == 0 ? " at " : ", ") + s.names[k] + " = " + std::to_string(slots_.value(s.all[k]).i);
    return text;
  }

 protected:
  PlacedMemory(const ir::Program& p, const Options& options, Watcher* watcher)
      : program_(p), layouts_(options.layouts), watcher_(watcher) {
    if (options.races) at_once_.emplace(p);
  }
  ~PlacedMemory() = default;

  [[noreturn]] void outside(const Place& place, std::span<const std::int64_t> at, const char* verb,
                            const std::string& box) const {
    throw RunError(RunError::Kind::out_of_bounds,
                   where() + " " + verb + " " + place.info->name + text_of_index(at) + ", outside " + box);
  }

  std::int64_t place_of(Place& place, std::span<const std::int64_t> at, const char* verb) {
    return static_cast<std::int64_t>(place.array ? array_element(place, at, verb) : element(place, at, verb));
  }

  // Where it is recorded who touched an element.
  Concurrency::Element& touched(Place& place, std::span<const std::int64_t> at) {
    Concurrency::Elements& all = place.array ? place.touched : place.storage->touched;
    const std::size_t e = place.array ? array_element(place, at, "reads") : element(place, at, "reads");
    if (all.empty()) all.resize(place.array ? place.written.size() : place.storage->elements.size());
    return all[e];
  }
  void check(const std::string& conflict, const Place& place, std::span<const std::int64_t> at, const char* verb) const {
    if (!conflict.empty())
      throw RunError(RunError::Kind::race,
                     where() + " " + verb + " " + place.info->name + text_of_index(at) + " at " + conflict);
  }

  std::size_t array_element(const Place& place, std::span<const std::int64_t> at, const char* verb) const {
    std::int64_t flat = 0;
    for (std::size_t d = 0; d < at.size(); ++d) {
      if (at[d] < 0 || at[d] >= place.array->shape.at(d))
        outside(place, at, verb, "its extents " + text_of_index(place.array->shape));
      flat = flat * place.array->shape[d] + at[d];
    }
    return static_cast<std::size_t>(flat);
  }

  // The element of a temporary that holds a logical point.
  std::size_t element(Place& place, std::span<const std::int64_t> at, const char* verb) {
    if (!place.storage)
      throw RunError(RunError::Kind::uninitialized,
                     where() + " " + verb + " " + place.info->name + " where it is not stored, outside the life of its alloc");
    const Storage& s = *place.storage;
    if (!s.logical.contains(at)) outside(place, at, verb, "its box " + s.logical.text());
    std::array<std::int64_t, 8> physical{};
    std::span<const std::int64_t> where_to = at;
    if (!place.layout.empty()) {
      for (std::size_t d = 0; d < at.size(); ++d) slots_.set_index(place.layout_vars[d], at[d]);
      for (std::size_t d = 0; d < place.layout.size(); ++d) physical[d] = place.layout[d].run_index();
      where_to = {physical.data(), place.layout.size()};
      if (!s.physical.contains(where_to)) outside(place, at, verb, "its physical box " + s.physical.text());
    }
    return static_cast<std::size_t>(s.physical.flat(where_to));
  }

  Value peek(Place& place, std::span<const std::int64_t> at, const char* verb) {
    if (place.array) {
      const std::size_t e = array_element(place, at, verb);
      return place.info->role == ir::Role::output && !place.written[e] ? Value{} : place.array->at(at);
    }
    const std::size_t e = element(place, at, verb);
    const Value v = place.storage->elements[e];
    if (v.type.code != Type::Code::handle && place.storage->tags[e] != tag(place, at))
      throw RunError(RunError::Kind::uninitialized, where() + " " + verb + " " + place.info->name + text_of_index(at) +
                                                        ", whose storage now holds another point");
    return v;
  }

  void write(Place& place, std::span<const std::int64_t> at, const Value& v) {
    if (v.type != place.info->type) throw InternalError(where() + ": a value of another type than " + place.info->name);
    const std::size_t e = place.array ? array_element(place, at, "writes") : element(place, at, "writes");
    if (at_once_) {
      const Value old = place.array ? place.written[e] ? place.array->at(at) : Value{} : place.storage->elements[e];
      const bool same =
          old.type == v.type && ir::to_bits(old) == ir::to_bits(v) && (place.array || place.storage->tags[e] == tag(place, at));
      check(at_once_->write(touched(place, at), combines_, same), place, at, "writes");
    }
    if (watcher_) watcher_->writes(place.info->id, at, static_cast<std::int64_t>(e));
    if (place.array) {
      place.written[e] = true;
      place.array->set(at, v);
      return;
    }
    Value& held = place.storage->elements[e];
    if (layouts_ && !place.rings && held.type.code != Type::Code::handle && place.storage->tags[e] != tag(place, at))
      throw RunError(RunError::Kind::broken_promise, where() + " writes " + place.info->name + text_of_index(at) +
                                                         " over another element, by a layout that has a place for each");
    held = v;
    place.storage->tags[e] = tag(place, at);
  }

  const ir::Program& program_;
  const bool layouts_;
  Watcher* watcher_;                    // null: nobody looks
  std::optional<Concurrency> at_once_;  // where conflicts are looked for
  bool combines_ = false;               // the access is one step of an atomic stage, in memory
  Slots slots_;
  std::map<Id, Array*> arrays_;  // arguments and constants
  std::deque<Place> places_;
  std::map<Id, StageCode> stage_code_;
  const ir::Stage* current_ = nullptr;
};

}  // namespace ashlar::interp::scheduled
