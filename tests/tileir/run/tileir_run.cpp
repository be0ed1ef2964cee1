// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs one kernel of a bytecode file from the command line, for scripts.
//
//   tileir_run FILE --kernel NAME --grid 4,1,1 --arg in:x.bin --arg i32:1024 --arg out:y.bin:4096
//
//   --arg in:PATH         a buffer with the bytes of a file           --arg inout:PATH   written back to the file
//   --arg out:PATH:BYTES  a buffer that nobody wrote; the file gets its bytes, PATH.written a 0 or 1 for each
//   --buffer SPEC         one of these that is no argument            --arg buffer:N+BYTES  the buffer N, from 0, from a byte
//   on
//   --arg words:A,B,…      a buffer of 64-bit words; buffer:N+BYTES among them is an address
//   --arg i1|i8|i16|i32|i64|f32|f64:VALUE, x16:BITS
//   --order SEED          blocks in an order drawn from it            --most N     operations, then a fault
//   --off CHECK           alignment, undefined, assumptions, block_races, token_races; may be repeated
//   --coverage PATH       appends a line `name count` for every operation that ran
//   --text                prints the module and runs nothing          --operations prints what is known, and whether it is
//   executed
//
// Exit codes: 0; 1 a fault (its text on stderr); 2 the file or the command line is wrong.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>

#include "tests/tileir/executor/executor.h"

namespace {

using namespace ashlar::tileir;

std::vector<char> file_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const std::string& path, const std::vector<char>& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw Error("cannot write " + path);
}

std::uint64_t whole(const std::string& s) {
  std::size_t end = 0;
  std::uint64_t v = 0;
  try {
    v = s.starts_with("-") ? static_cast<std::uint64_t>(std::stoll(s, &end, 0)) : std::stoull(s, &end, 0);
  } catch (const std::logic_error&) { end = 0; }
  if (end == 0 || end != s.size()) throw Error("expected a whole number, and it is `" + s + "`");
  return v;
}

double real(const std::string& s) {
  char* end = nullptr;
  const double v = std::strtod(s.c_str(), &end);
  if (s.empty() || *end != 0) throw Error("expected a number, and it is `" + s + "`");
  return v;
}

struct Buffer {
  std::uint64_t address = 0;
  std::size_t bytes = 0;
  std::string path;  // where it goes; empty: nowhere
  bool mask = false;
};

struct Command {
  std::string file, kernel, coverage;
  Grid grid = {1, 1, 1};
  std::uint64_t order = 0;
  bool text = false, operations = false;
  std::vector<std::string> buffers, arguments;
};

void switch_off(Checks& checks, const std::string& name) {
  if (name == "alignment")
    checks.alignment = false;
  else if (name == "undefined")
    checks.undefined = false;
  else if (name == "assumptions")
    checks.assumptions = false;
  else if (name == "block_races")
    checks.block_races = false;
  else if (name == "token_races")
    checks.token_races = false;
  else
    throw Error("--off: there is no check " + name);
}

Grid grid_of(const std::string& s) {
  Grid g = {1, 1, 1};
  std::size_t at = 0, d = 0;
  while (d < 3) {
    const std::size_t comma = s.find(',', at);
    g[d++] = static_cast<std::uint32_t>(whole(s.substr(at, comma - at)));
    if (comma == std::string::npos) return g;
    at = comma + 1;
  }
  throw Error("--grid: more than three numbers");
}

Command read_command(int count, char** words, Checks& checks) {
  Command c;
  for (int n = 1; n < count; ++n) {
    const std::string word = words[n];
    const auto next = [&] {
      if (++n >= count) throw Error(word + ": expected something after it");
      return std::string(words[n]);
    };
    if (word == "--kernel")
      c.kernel = next();
    else if (word == "--grid")
      c.grid = grid_of(next());
    else if (word == "--order")
      c.order = whole(next());
    else if (word == "--most")
      checks.most_operations = whole(next());
    else if (word == "--off")
      switch_off(checks, next());
    else if (word == "--coverage")
      c.coverage = next();
    else if (word == "--arg")
      c.arguments.push_back(next());
    else if (word == "--buffer")
      c.buffers.push_back(next());
    else if (word == "--text")
      c.text = true;
    else if (word == "--operations")
      c.operations = true;
    else if (word.starts_with("--"))
      throw Error("there is no option " + word);
    else if (c.file.empty())
      c.file = word;
    else
      throw Error("a second file: " + word);
  }
  return c;
}

std::uint64_t address_in(const std::vector<Buffer>& buffers, const std::string& place) {
  const std::size_t plus = place.find('+');
  const std::uint64_t n = whole(place.substr(0, plus)), offset = plus == std::string::npos ? 0 : whole(place.substr(plus + 1));
  if (n >= buffers.size())
    throw Error("buffer:" + place + ": there are " + std::to_string(buffers.size()) + " buffers before it");
  return buffers[n].address + offset;
}

Argument argument_of(const std::string& spec, Device& device, std::vector<Buffer>& buffers) {
  const std::size_t colon = spec.find(':');
  if (colon == std::string::npos) throw Error("--arg " + spec + ": expected KIND:VALUE");
  const std::string kind = spec.substr(0, colon);
  std::string value = spec.substr(colon + 1);
  if (kind == "in" || kind == "inout") {
    const std::vector<char> bytes = file_bytes(value);
    const std::uint64_t at = device.alloc(bytes.size());
    device.write(at, bytes.data(), bytes.size());
    buffers.push_back({at, bytes.size(), kind == "inout" ? value : "", false});
    return argument(at);
  }
  if (kind == "out") {
    const std::size_t last = value.rfind(':');
    if (last == std::string::npos) throw Error("--arg " + spec + ": expected out:PATH:BYTES");
    const std::size_t bytes = whole(value.substr(last + 1));
    buffers.push_back({device.alloc(bytes), bytes, value.substr(0, last), true});
    return argument(buffers.back().address);
  }
  if (kind == "buffer") return argument(address_in(buffers, value));
  if (kind == "words") {
    std::vector<std::uint64_t> words;
    for (std::size_t at = 0, comma = 0; comma != std::string::npos; at = comma + 1) {
      comma = value.find(',', at);
      const std::string word = value.substr(at, comma == std::string::npos ? comma : comma - at);
      words.push_back(word.starts_with("buffer:") ? address_in(buffers, word.substr(7)) : whole(word));
    }
    const std::uint64_t at = device.alloc(words.size() * 8);
    device.write(at, words.data(), words.size() * 8);
    return argument(at);
  }
  if (kind == "f32") return argument(static_cast<float>(real(value)));
  if (kind == "f64") return argument(real(value));
  if (kind == "i1" || kind == "i8") return argument(static_cast<std::uint8_t>(whole(value)));
  if (kind == "i16" || kind == "x16") return argument(static_cast<std::uint16_t>(whole(value)));
  if (kind == "i32") return argument(static_cast<std::uint32_t>(whole(value)));
  if (kind == "i64") return argument(whole(value));
  throw Error("--arg " + spec + ": there is no kind " + kind);
}

void save(const Device& device, const Buffer& b) {
  std::vector<char> bytes(b.bytes);
  device.read(bytes.data(), b.address, b.bytes);
  write_file(b.path, bytes);
  if (!b.mask) return;
  for (std::size_t n = 0; n < b.bytes; ++n) bytes[n] = device.written(b.address + n, 1) ? 1 : 0;
  write_file(b.path + ".written", bytes);
}

void append(const std::string& path, const Coverage& coverage) {
  std::ofstream out(path, std::ios::app);
  for (const auto& [name, count] : coverage) out << name << ' ' << count << '\n';
  if (!out.flush()) throw Error("cannot write " + path);
}

int run(int count, char** words) {
  Device device;
  const Command c = read_command(count, words, device.checks());
  if (c.operations) {
    for (const Operation& o : operations())
      std::cout << o.opcode << ' ' << o.name << " 13." << o.since << (o.executed ? " executed" : " known") << '\n';
    return 0;
  }
  if (c.file.empty()) throw Error("expected a file of bytecode");
  const std::vector<char> bytes = file_bytes(c.file);
  const Module module = Module::read(std::as_bytes(std::span(bytes)));
  if (c.text) {
    std::cout << module.text();
    return 0;
  }
  std::vector<Buffer> buffers;
  std::vector<Argument> arguments;
  for (const std::string& spec : c.buffers) argument_of(spec, device, buffers);
  for (const std::string& spec : c.arguments) arguments.push_back(argument_of(spec, device, buffers));
  const std::string kernel = c.kernel.empty() && module.kernels().size() == 1 ? module.kernels()[0].name : c.kernel;
  int code = 0;
  try {
    std::cout << device.run(module, kernel, c.grid, arguments, c.order).printed;
  } catch (const Fault& f) {
    std::cerr << f.what() << '\n';
    code = 1;
  }
  if (!c.coverage.empty()) append(c.coverage, device.coverage());
  for (const Buffer& b : buffers)
    if (!b.path.empty() && code == 0) save(device, b);
  return code;
}

}  // namespace

int main(int count, char** words) {
  try {
    return run(count, words);
  } catch (const std::exception& e) {
    std::cerr << "tileir_run: " << e.what() << '\n';
    return 2;
  }
}
