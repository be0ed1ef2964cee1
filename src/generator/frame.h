// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// What is known of a generator while it is constructed and afterwards: its record. Members (Params, Inputs, Outputs, Scalars)
// register with the record of the generator under construction on this thread, in the order in which they are declared.
//
//   GeneratorRecord record;  record.asked = {{"edge", "128"}};
//   { Construction here(record);  generator = make(); }        // record.params now lists every Param with its value
//
// Invariant: at most one generator is under construction on a thread; a second Generator base inside it is refused.
#include <string>
#include <utility>
#include <vector>

#include <ashlar/generator/param.h>
#include <ashlar/lang/build_program.h>
#include <ashlar/target/target.h>

namespace ashlar {
class Generator;
}

namespace ashlar::generator {

struct RejectedParam {
  std::size_t param;
  std::string asked, wanted;  // wanted: the type, or empty where the choices say it
  std::string expected = {};  // what Generator::reject says; empty: one of the above
};

struct GeneratorRecord {
  std::string name;
  Target target;
  std::vector<std::pair<std::string, std::string>> asked;  // key=value, as given
  std::vector<detail::ParamInfo> params;
  std::vector<RejectedParam> rejected;
  std::vector<std::string> mistakes;  // of the generator's author: two Params of one name, a fallback outside its choices
  std::vector<lang::ArgumentRef> arguments;
  const Generator* generator = nullptr;
  bool by_default = false;  // schedule() was left out
};

class Construction {
 public:
  explicit Construction(GeneratorRecord&);
  ~Construction();
  Construction(const Construction&) = delete;
  Construction& operator=(const Construction&) = delete;
};
GeneratorRecord* under_construction();  // null where none is

}  // namespace ashlar::generator
