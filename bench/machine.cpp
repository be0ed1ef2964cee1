#include "bench/machine.h"

#include <fstream>
#include <map>
#include <string>

#include <ashlar/target/target.h>

namespace bench {

using ashlar::Target;

Processor processor() {
  Processor p;
  std::ifstream info("/proc/cpuinfo");
  std::map<std::string, std::string> first;  // of the first processor
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(':'), end = line.find_first_of("\t:");
    if (end == line.npos || colon == line.npos) continue;
    const std::string key = line.substr(0, end);
    if (key == "processor") ++p.processors;
    first.emplace(key, colon + 2 <= line.size() ? line.substr(colon + 2) : "");
  }
  const auto number = [&](const char* key) { return first.count(key) ? std::stoi(first[key]) : 0; };
  p.name = first.count("model name") ? first["model name"] : "unknown";
  p.vendor = first["vendor_id"];
  p.family = number("cpu family"), p.model = number("model");
  const Target host = Target::host();
  for (int level = 1; level <= 3; ++level) p.caches[level - 1] = host.cache_bytes(level);
  for (const std::string& f : Target::features(host.architecture()))
    if (host.has(f.c_str())) p.features.push_back(f);
  return p;
}

std::string Processor::text() const {
  return name + " (family " + std::to_string(family) + ", model " + std::to_string(model) + "; " +
         std::to_string(caches[0] >> 10) + " + " + std::to_string(caches[1] >> 10) + " KiB of cache a core, " +
         std::to_string(caches[2] >> 20) + " MiB behind)";
}

}  // namespace bench
