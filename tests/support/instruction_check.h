#pragma once
// A row of the table of instructions as a program: 64 elements, in vectors, written to an output of whatever type they have.
#include <array>
#include <random>
#include <regex>
#include <sstream>
#include <string>

#include <ashlar/interp/interpreter.h>
#include <ashlar/ir/numeric.h>
#include <ashlar/lower/lower.h>
#include <ashlar/schedule/step.h>

#include "tests/support/instruction_rows.h"

namespace instructions {

struct Made {
  const Row& row;
  const std::int64_t elements = row.elements;
  lang::DefinitionScope scope;
  Tensor A, B, C, D, table, y;
  lang::Built built;
  Schedule schedule;

  Made(const Row& r, const Target& target)
      : row(r),
        A(lang::make_input("A", r.type, {elements * r.stride})),
        B(lang::make_input("B", r.type, {elements * r.stride})),
        C(lang::make_input("C", r.other, {elements})),
        D(lang::make_input("D", r.other, {elements})),
        table(lang::make_input("table", u8, {16})),
        built(build()),
        schedule(built, target) {
    const Loop i = schedule[y].nest()[0];
    if (r.lanes < 0)
      schedule[y].vectorize(i, Scalable{-r.lanes});
    else
      schedule[y].vectorize(i, r.lanes ? r.lanes : target.lanes(r.type));
    schedule::finish(schedule.scheduled(), target);
  }
  ir::Kernel kernel() const { return lower(schedule.scheduled().program, options_for(schedule.target())); }

  // "" where `run` gives what the definition says, for numbers over the whole range of their type.
  template <class F>
  std::string difference(F run) const {
    interp::Arguments expected;
    std::mt19937_64 random(row.stride + static_cast<int>(row.type.bits));
    for (const ir::Argument& a : built.program.arguments) {
      const ir::Buffer& b = built.program.buffer(a.id);
      std::int64_t n = 0;
      ir::is_int(b.extents.front(), &n);
      interp::Array array = interp::Array::zeros(b.type, {n});
      for (std::int64_t k = 0; k < n && a.kind == ir::ArgumentKind::input; ++k) {
        const double real = static_cast<double>(random() % 400001) / 1024.0 - 190;
        const ir::Value v = b.type.is_float() ? ir::float_value(b.type, real)
                                              : ir::int_value(b.type, static_cast<std::int64_t>(random() >> random() % 64));
        array.set(std::array{k}, v);
      }
      expected.emplace_back(std::move(array));
    }
    interp::Arguments found = expected;
    interp::run_algorithm(built.program, expected);
    run(found);
    return interp::difference(found.back().array, expected.back().array);
  }

 private:
  lang::Built build() {
    Type type;
    const Tensor value = compute("y", {elements}, [&](Var i) {
      const Tensor constants = few(A, 32);
      const Expr e = row.value({A(i), B(i), C(i), D(i), A, B, i, table, constants});
      type = e.type();
      return e;
    });
    y = lang::make_output("y", type, {elements});
    lang::bind(y, value);
    return lang::build_program("row", {A, B, C, D, table, y});
  }
};

// Does an instruction stand in the assembly: one of the mnemonics, separated by '|', and the operand?
inline bool has(const std::string& assembly, const Wanted& wanted) {
  const std::regex mnemonic("^\\t(" + std::string(wanted.mnemonic) + ")\\t");
  std::istringstream lines(assembly);
  for (std::string line; std::getline(lines, line);)
    if (std::regex_search(line, mnemonic) && line.find(wanted.operand) != std::string::npos) return true;
  return false;
}

// The mnemonics of the vector code alone, for a message: without directives, labels and comments.
inline std::string body(const std::string& assembly) {
  std::string text, line;
  std::istringstream lines(assembly);
  while (std::getline(lines, line))
    if (line.size() > 2 && line[0] == '\t' && line[1] != '.' && line[1] != '#') text += line + "\n";
  return text.substr(0, 4000);
}

}  // namespace instructions
