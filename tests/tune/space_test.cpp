// What a generator says of itself, as knobs and candidates.
#include <doctest/doctest.h>

#include <stdexcept>

#include "tune/src/space.h"

namespace ashlar::tune {
namespace {

constexpr const char* text = R"({"algorithm": "0123", "target": "x86-64-v3", "parameters": [
  {"name": "by", "type": "i32", "value": "3", "usual": "2", "values": ["2", "3"]},
  {"name": "block", "type": "i32", "value": "12", "usual": "12", "range": "0 to 20"},
  {"name": "on", "type": "bool", "value": "true", "usual": "true"},
  {"name": "name", "type": "text", "value": "a", "usual": "a"},
  {"name": "share", "type": "f32", "value": "0.5", "usual": "0.5", "range": "0 to 1"},
  {"name": "M", "type": "extent", "value": "dynamic", "usual": "dynamic", "range": "a number of at least 1, dynamic, or dynamic%N"}],
 "choices": [{"name": "edge", "value": 32, "usual": 64, "values": [64, 32], "place": "a.cpp:1"}]})";

}  // namespace

TEST_CASE("knobs are the parameters with several candidates and the choices, in order") {
  const Description d = read_description(text);
  CHECK(d.algorithm == "0123");
  CHECK(d.target == "x86-64-v3");
  REQUIRE(d.knobs.size() == 4);
  CHECK(d.knobs[0].values == std::vector<std::string>{"2", "3"});
  CHECK(d.knobs[0].value == "3");
  CHECK(d.knobs[0].usual == "2");
  CHECK(d.knobs[1].values == std::vector<std::string>{"0", "1", "2", "4", "8", "12", "16", "20"});
  CHECK(d.knobs[2].values == std::vector<std::string>{"false", "true"});
  CHECK_FALSE(d.knobs[3].parameter);
  CHECK(d.knobs[3].usual == "64");
  const Candidate c = spelled_out(d, {"block"});
  CHECK(c.key() == "block=12 edge:32");
  CHECK(spelled_out(d, {}).key() == "edge:32");
}

TEST_CASE("what is not written by -e choices is refused") {
  for (const char* wrong :
       {"", "[]", "{\"algorithm\": 3}", "{\"algorithm\": \"a\", \"target\": \"t\", \"parameters\": [], \"choices\": [{}]}"})
    CHECK_THROWS_AS(read_description(wrong), std::runtime_error);
}

}  // namespace ashlar::tune
