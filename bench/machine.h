#pragma once
// The machine that figures were measured on, as a table of figures names it.
#include <cstdint>
#include <string>
#include <vector>

namespace bench {

struct Processor {
  std::string name;           // as it calls itself
  std::string vendor;         // "AuthenticAMD"
  int family = 0, model = 0;  // of the vendor's numbering; what tells processors of one name apart
  int processors = 0;         // that the system has
  std::int64_t caches[3] = {};
  std::vector<std::string> features;  // of those that targets know (docs/targets.md)
  std::string text() const;           // in one line
};

Processor processor();

struct PeerVersion {
  std::string name, version;
};

}  // namespace bench
