// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hints, as the specification lists them: which an entry may have, which loads and stores, and their values.
#include "tests/tileir/executor/image.h"

namespace ashlar::tileir {

namespace {

struct Known {
  const char* name;
  bool of_entry;
  Attribute::Tag tag;
  i64 least, most;
  bool power_of_two;
};
constexpr Known known[] = {{"num_cta_in_cga", true, Attribute::kInteger, 1, 16, true},
                           {"occupancy", true, Attribute::kInteger, 1, 32, false},
                           {"num_worker_warps_per_cta", true, Attribute::kInteger, 1, 32, true},
                           {"latency", false, Attribute::kInteger, 1, 10, false},
                           {"allow_tma", false, Attribute::kBool, 0, 1, false}};

bool is_chip(const std::string& name) {
  return name == "default" || (name.starts_with("sm_") && name.size() > 4 && name.size() < 7 &&
                               name.find_first_not_of("0123456789", 3) == std::string::npos);
}

}  // namespace

void check_hints(const Attribute& hints, bool of_entry, const Version& version, std::size_t offset) {
  const auto need = [&](bool good, const std::string& what) {
    if (!good) throw Error("hints: " + what, offset);
  };
  for (std::size_t k = 0; k < hints.items.size(); ++k) {
    const Attribute& list = hints.items[k];
    need(is_chip(hints.keys[k]), "there is no chip " + hints.keys[k]);
    need(hints.keys[k] != "default" || version.minor >= 3, "those for every chip are of version 13.3");
    need(list.tag == Attribute::kDictionary, "those of " + hints.keys[k] + " are no dictionary");
    for (std::size_t n = 0; n < list.items.size(); ++n) {
      const Known* of = nullptr;
      for (const Known& h : known)
        if (list.keys[n] == h.name && h.of_entry == of_entry) of = &h;
      need(of != nullptr, "there is no " + list.keys[n] + (of_entry ? " of an entry" : " of an access"));
      const Attribute& a = list.items[n];
      const i64 v = static_cast<i64>(a.value);
      need(a.tag == of->tag, list.keys[n] + " is of another kind");
      need(v >= of->least && v <= of->most && (!of->power_of_two || (v & (v - 1)) == 0),
           list.keys[n] + " is " + std::to_string(v));
      need(list.keys[n] != "num_worker_warps_per_cta" || version.minor >= 3, list.keys[n] + " is of version 13.3");
    }
  }
}

}  // namespace ashlar::tileir
