// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// A schedule step as a value: the name of a primitive and its arguments. Steps are applied, printed, saved and replayed in this
// form. Only one function, apply, changes a Program.
//
//   Step{"split", {loop(12), 32, "guard"}} applied to a program gives the loops {17, 18}
//
// Ids inside a Program are dense and deterministic, so the steps of one run mean the same in the next.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <ashlar/ir/program.h>
#include <ashlar/target/target.h>

namespace ashlar::schedule {

struct Arg {
  enum class Kind { stage, loop, buffer, integer, word, exprs, intrinsic } kind = Kind::integer;
  ir::Id id = 0;                             // stage, loop, buffer
  std::int64_t value = 0;                    // integer
  std::string word;                          // word: a tail, a scope, ...
  Scope scope = Scope::global;               // word: the scope it names, where it names one
  std::vector<ir::Id> vars;                  // exprs: the parameters of an index map
  std::vector<Expr> exprs;                   // exprs: an index map, or one value
  const ir::Intrinsic* intrinsic = nullptr;  // lives as long as the process

  static Arg stage(ir::Id id) { return of(Kind::stage, id); }
  static Arg loop(ir::Id id) { return of(Kind::loop, id); }
  static Arg buffer(ir::Id id) { return of(Kind::buffer, id); }
  static Arg integer(std::int64_t v) {
    Arg a;
    a.value = v;
    return a;
  }
  static Arg text(std::string_view w) {
    Arg a;
    a.kind = Kind::word, a.word = w;
    return a;
  }
  static Arg place(const Scope& s) {
    Arg a = text(s.name);
    a.scope = s;
    return a;
  }
  static Arg call_of(const ir::Intrinsic& f) {
    Arg a;
    a.kind = Kind::intrinsic, a.intrinsic = &f;
    return a;
  }
  static Arg map(std::vector<ir::Id> vars, std::vector<Expr> exprs) {
    Arg a;
    a.kind = Kind::exprs, a.vars = std::move(vars), a.exprs = std::move(exprs);
    return a;
  }

 private:
  static Arg of(Kind kind, ir::Id id) {
    Arg a;
    a.kind = kind, a.id = id;
    return a;
  }
};

struct Step {
  std::string primitive;
  std::vector<Arg> args;
  Where where = {};
  const char* call = nullptr;   // the call that made it, if that makes several steps (tile, vectorize by lanes); not saved
  std::size_t variant = 0;      // the variant, numbered from 1 in order of creation; 0: the general schedule
  std::string place;            // "matmul.cpp:31": where it was written; survives saving and replaying
  std::vector<ir::Id> results;  // loops or stages that it made; filled in by apply
  std::string text;             // for people, filled in by apply: "split(k of C, 256, guard) -> ko of C and ki of C"
};

// What became of a loop or stage that no longer exists: "was split into io and ii at matmul.cpp:31".
struct Consumed {
  std::string name, reason;
  std::vector<ir::Id> successors;
};

// `program` also holds the programs of its variants. The trace has the steps of all of them, in the order in which they were
// made.
struct Scheduled {
  ir::Program program;
  std::map<ir::Id, Consumed> consumed;
  std::vector<Step> trace;
  std::vector<Scheduled> variants;  // all variants, by number; their own `trace` and `variants` are empty
  std::size_t within = 0;           // for a variant: the number of the variant that it was made from
  ir::Id begins = 0;                // for a variant: smaller ids mean the same in the schedule that it was made from
};
const Scheduled& variant(const Scheduled&, std::size_t number);  // 0: the general one

// Applies one step completely or, with a RefusalError, not at all. On success the step and its results become the last entry of
// the trace. After the primitive itself, regions are derived again, and every obligation that an earlier step took on (parallel
// and vectorized loops, exact and shifting tails, slides, folds, reads inside domains) is proved again.
const std::vector<ir::Id>& apply(Scheduled&, Step, const Target&);

// Checks what a complete schedule must satisfy beyond what holds after each step: capacities (stack, registers).
void finish(const Scheduled&, const Target&);

std::vector<std::string_view> primitive_names();

std::string text(const Step&);               // "split(k of C, 256, guard) -> ko of C and ki of C   matmul.cpp:31"
std::string json(const std::vector<Step>&);  // an array of steps
// Refuses text that is not such an array, and names the entry.
std::vector<Step> steps_from_json(std::string_view, Where = Where::current());

}  // namespace ashlar::schedule
