// Faults planted in the writer of bytecode: each must be found, by the executor, which refuses the file or reports what it
// does, or by a result that differs from the interpreter's. The writer is compiled here with ASHLAR_TILEIR_PLANT, which has it
// ask for every instruction, type and constant whether something else is to stand there.
#include "tests/tileir/programs.h"

#include "codegen/tileir/code.h"
#include "tests/tileir/kernels.h"

using namespace tiles;
using codegen::tileir::Opcode;
using Fields = std::vector<std::uint64_t>;

namespace {

struct Fault {
  const char* what;
  const char* subject;
  Opcode opcode;
  int number;  // among those of the opcode, from 1
  std::function<void(Fields&)> change;
};

const Fault* fault = nullptr;  // the one that is planted
int seen = 0;
std::function<std::string(const std::string&)> entry_fault;
int entries = 0;

}  // namespace

namespace ashlar::codegen::tileir {

Fields planted(Opcode op, Fields fields) {
  if (fault && fault->change && op == fault->opcode && ++seen == fault->number) fault->change(fields);
  return fields;
}
std::string planted(std::string entry) {
  if (!entry_fault) return entry;
  std::string changed = entry_fault(entry);
  entries += changed != entry;
  return changed;
}

}  // namespace ashlar::codegen::tileir

namespace {

// A kernel with the arguments of a call.
struct Subject {
  ir::tile::Kernel kernel;
  std::vector<interp::Array> tensors;
  std::vector<ir::Value> parameters;
  std::array<std::int64_t, 3> grid{1, 1, 1};

  interp::TileCall call(std::vector<interp::Array>& on) const {
    interp::TileCall c{{}, parameters, grid};
    for (interp::Array& a : on) c.tensors.push_back(&a);
    return c;
  }
  // "" where bytecode and interpreter agree; else what is found. Results of mma are exact here: small whole numbers.
  std::string found() const {
    std::vector<interp::Array> meant = tensors, is = tensors;
    interp::run(kernel, call(meant));
    try {
      execute(kernel, call(is), 3);
    } catch (const tileir::Error& e) { return std::string("refused: ") + e.what(); } catch (const tileir::Fault& e) {
      return std::string("reported: ") + e.what();
    }
    for (std::size_t k = 0; k < is.size(); ++k)
      if (const std::string d = interp::difference(is[k], meant[k]); !d.empty()) return "differs: " + d;
    return "";
  }
};

Subject of(const lang::Built& built, const Schedule& s, const Sizes& sizes) {
  Subject subject;
  interp::Arguments args = handmade::arguments_for(built.program, sizes);
  const std::vector<TileLaunch> launches = lowered(s, {.aligned = false});
  REQUIRE(launches.size() == 1);
  each_call(built.program, launches, args, [&](const TileLaunch& l, const interp::TileCall& call) {
    subject.kernel = l.kernel, subject.parameters = call.parameters, subject.grid = call.grid;
    for (const interp::Array* a : call.tensors) subject.tensors.push_back(*a);
  });
  return subject;
}

// Whole numbers from -5 to 5, in an order without a pattern.
double small(std::span<const std::int64_t> at) {
  std::int64_t n = 17;
  for (const std::int64_t i : at) n = n * 31 + i * 7 + 3;
  return static_cast<double>(n % 11 - 5);
}

// Integers of both signs, and every operator with corners: quotients, shifts, comparisons, conversions.
Subject integers() {
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", i32, {N}), u = lang::make_input("u", u32, {N}), v = lang::make_input("v", i8, {N});
  std::vector<Tensor> outputs{x, u, v};
  const auto output = [&](const char* name, Type type, const Tensor& t) {
    Tensor o = lang::make_output(name, type, {N});
    lang::bind(o, t);
    return o;
  };
  Tensor q =
      compute("q", {N}, [&](Var i) { return x(i) / i32(v(i)) + x(i) % i32(v(i)) * 16 + select(x(i) < i32(v(i)), 100, 200); });
  Tensor o = output("o", i32, q);
  const lang::Built built = lang::build_program("integers", {x, u, v, o});
  Schedule s = scheduled(built);
  auto [io, ii] = s[q].split(s[q].spatial<1>()[0], 64);
  s[q].bind(io, gpu::block_x).as_tile(ii);
  Subject r = of(built, s, {{"N", 150}});
  return r;
}

Subject numbers() {  // f32 to and from integers, minima, shifts
  lang::DefinitionScope scope;
  Symbol N{"N"};
  Tensor x = lang::make_input("x", f32, {N}), v = lang::make_input("v", i16, {N}), y = lang::make_output("y", f32, {N});
  Tensor result = compute("result", {N}, [&](Var i) {
    const Expr whole = i32(x(i) * 3.7f) >> (i32(v(i)) & 3);
    const Expr near = max(min(x(i) - f32(v(i)) / 3, 7.5f), -6.25f);
    return f32(whole) * near + f32(u32(v(i)) >> u32(28)) - f32(i64(v(i)));
  });
  const lang::Built built = (lang::bind(y, result), lang::build_program("numbers", {x, v, y}));
  Schedule s = scheduled(built);
  auto [io, ii] = s[result].split(s[result].spatial<1>()[0], 64);
  s[result].bind(io, gpu::block_x).as_tile(ii);
  Subject r = of(built, s, {{"N", 150}});
  for (std::size_t k = 0; k < r.kernel.tensors.size(); ++k)
    if (!r.kernel.tensors[k].written)
      r.tensors[k] = interp::Array::make(r.tensors[k].type, r.tensors[k].shape, [&](std::span<const std::int64_t> at) {
        return k ? small(at) * 7 : small(at) * 1.37 + 0.11;
      });
  return r;
}

Subject bytes() {  // mma of u8 and i8
  const TiledProduct p(u8, i8, i32, [](Expr a, Expr b) { return i32(a) * i32(b); }, 16, 8, 16);
  Subject r = of(p.built, p.s, {{"M", 20}, {"N", 12}, {"K", 37}});
  for (interp::Array& a : r.tensors)
    a = interp::Array::make(a.type, a.shape,
                            [&](std::span<const std::int64_t> at) { return a.type == u8 ? 200 + small(at) : small(at); });
  return r;
}

Subject scanned() {  // a scan, a reduction of two components, a permutation
  Subject r;
  r.kernel = largest_and_sums();
  r.grid = {4, 1, 1};
  r.tensors = {interp::Array::make(f32, {32, 64}, small), interp::Array::zeros(i32, {32}), interp::Array::zeros(f32, {64, 32})};
  return r;
}

Subject in_memory() {  // atomic updates, a constant of the kernel
  Subject r;
  r.kernel = counted();
  r.grid = {4, 1, 1};
  r.parameters = {ir::int_value(i32, 200)};
  r.tensors = {interp::Array::make(u8, {200}, [](std::span<const std::int64_t> at) { return at[0] * at[0] % 251; }),
               interp::Array::zeros(i32, {16})};
  return r;
}

Subject of_tf32() {
  Subject r;
  r.kernel = product_of_tf32();
  r.tensors = {interp::Array::make(f32, {16, 32}, small), interp::Array::make(f32, {32, 16}, small),
               interp::Array::zeros(f32, {16, 16})};
  return r;
}

Subject every_third() {
  Subject r;
  r.kernel = every_second();
  r.grid = {2, 2, 1};
  for (const int n : {15, 40, 40, 7, 14}) r.parameters.push_back(ir::int_value(i32, n));
  r.tensors = {interp::Array::make(f32, {15, 40}, [](std::span<const std::int64_t> at) { return at[0] * 100 + at[1]; }),
               interp::Array::zeros(f32, {7, 14})};
  return r;
}

Subject subject(std::string_view name) {
  if (name == "bias") {
    BiasRelu op;
    return of(op.built, op.s, {{"M", 5}, {"N", 130}});
  }
  if (name == "smooth") {
    Smooth op;
    return of(op.built, op.s, {{"N", 300}});
  }
  if (name == "softmax") {
    Softmax op(50, 64);
    Subject r = of(op.built, op.s, {{"R", 9}});
    for (interp::Array& a : r.tensors)
      a = interp::Array::make(a.type, a.shape, [](std::span<const std::int64_t> at) { return small(at) * 0.37 + 0.01; });
    return r;
  }
  if (name == "product") {
    Product op;
    Subject r = of(op.built, op.s, {{"M", 33}, {"N", 70}, {"K", 41}});
    for (interp::Array& a : r.tensors) a = interp::Array::make(a.type, a.shape, small);
    return r;
  }
  if (name == "hinted") {
    Subject r = subject("product");
    r.kernel.hints = {{ir::HintKind::occupancy, 2, "sm_90"}};
    for (ir::tile::Stmt& s : r.kernel.body)
      if (auto* store = std::get_if<ir::tile::Store>(&s.node))
        store->hints = {{ir::HintKind::tma, 0, "sm_100"}, {ir::HintKind::latency, 4, "sm_100"}};
    return r;
  }
  if (name == "counted") return in_memory();
  if (name == "tf32") return of_tf32();
  if (name == "every") return every_third();
  if (name == "scan") return scanned();
  if (name == "bytes") return bytes();
  if (name == "numbers") return numbers();
  return integers();
}

std::function<void(Fields&)> set(std::size_t at, std::uint64_t value) {
  return [=](Fields& f) { f.at(at) = value; };
}
std::function<void(Fields&)> swapped(std::size_t a, std::size_t b) {
  return [=](Fields& f) { std::swap(f.at(a), f.at(b)); };
}
std::function<void(Fields&)> flipped(std::size_t at) {
  return [=](Fields& f) { f.at(at) ^= 1; };
}

const std::vector<Fault>& faults() {
  using enum Opcode;
  static const std::vector<Fault> all = {
      // operands
      {"the operands of a difference swapped", "numbers", subf, 1, swapped(2, 3)},
      {"the operands of a quotient swapped", "integers", divi, 1, swapped(2, 3)},
      {"the arms of a choice swapped", "smooth", select, 1, swapped(1, 2)},
      {"the factors of a product of matrices swapped", "product", mmaf, 1, swapped(0, 1)},
      {"a product of matrices added to nothing of before", "bytes", mmai, 1, swapped(2, 3)},
      {"a shift by itself", "numbers", shri, 1, swapped(1, 2)},
      {"the ends of a loop swapped", "product", for_, 1, swapped(1, 2)},
      {"a loop that yields what it was given", "product", continue_, 1, [](Fields& f) { f.at(1) = 0; }},
      {"components of a reduction yielded in the other order", "scan", yield, 1, swapped(1, 2)},
      {"the numbers of a tile swapped, of a load", "product", load_view_tko, 1, swapped(4, 5)},
      {"the numbers of a tile swapped, of a store", "bias", store_view_tko, 1, swapped(5, 6)},
      {"extents of a tensor swapped", "product", make_tensor_view, 1, swapped(2, 3)},
      {"offsets of another access", "smooth", offset, 2, [](Fields& f) { f.at(1) -= 1; }},
      // what is missing
      {"a mask left out of a load", "smooth", load_ptr_tko, 1, [](Fields& f) { f = {0, 0, f.at(2)}; }},
      {"a token that is announced and is none", "bias", load_view_tko, 1, [](Fields& f) { f.at(0) = 1; }},
      {"a result without its token", "bias", store_view_tko, 1, [](Fields& f) { f.pop_back(); }},
      // attributes
      {"a sum rounded toward zero", "numbers", addf, 1, set(1, 1)},
      {"a product rounded down", "numbers", mulf, 2, set(1, 2)},
      {"a fused sum rounded toward zero", "softmax", fma, 8, set(1, 1)},
      {"a quotient rounded toward zero", "integers", divi, 1, set(1, 1)},
      {"a conversion of integers without a sign", "numbers", exti, 2, flipped(0)},
      {"a number without a sign", "numbers", itof, 1, flipped(0)},
      {"a comparison without a sign", "integers", cmpi, 7, flipped(1)},
      {"a comparison turned around", "numbers", cmpf, 1, set(0, 2)},
      {"equal for unequal", "integers", cmpi, 1, flipped(0)},
      {"a shift with a sign for one without", "numbers", shri, 2, flipped(0)},
      {"a factor with a sign for one without", "bytes", mmai, 1, flipped(0)},
      {"a factor without a sign for one with", "bytes", mmai, 1, flipped(1)},
      {"a scan backwards", "scan", scan, 1, flipped(1)},
      {"a reduction along another dimension", "scan", reduce, 1, flipped(0)},
      {"another identity", "softmax", reduce, 2, set(4, 0x7F000000)},
      {"a permutation that permutes nothing", "scan", permute, 1, swapped(1, 5)},
      // updates of memory, constants, tf32, hints
      {"the largest for the sum", "counted", atomic_rmw_tko, 1, set(3, 5)},
      {"a difference of bits for the sum", "counted", atomic_rmw_tko, 1, set(3, 2)},
      {"an update without its mask", "counted", atomic_rmw_tko, 1, [](Fields& f) { f.pop_back(), f.at(0) = 0; }},
      {"a weak update", "counted", atomic_rmw_tko, 1, set(1, 0)},
      {"an update of every block by itself", "counted", atomic_rmw_tko, 1, set(2, 0)},
      {"another name of a constant", "counted", get_global, 1, [](Fields& f) { f.at(0) ^= 1; }},
      {"factors of tf32 swapped", "tf32", mmaf, 1, swapped(0, 1)},
      {"one factor of tf32 twice", "tf32", mmaf, 1, [](Fields& f) { f.at(1) = f.at(0); }},
      {"a conversion to tf32 of the other factor", "tf32", ftof, 2, [](Fields& f) { f.at(1) -= 1; }},
      {"every second row from the first one", "every", offset, 1, [](Fields& f) { f.at(1) -= 1; }},
      {"rows half as far apart", "every", muli, 2, [](Fields& f) { f.at(2) = f.at(1); }},
      {"a quotient with a rounding that there is none of", "every", divi, 1, set(1, 6)},
      {"as many rows as the tensor has", "every", make_tensor_view, 2, [](Fields& f) { f.at(2) -= 4; }},
      {"a hint of another kind", "hinted", store_view_tko, 1, [](Fields& f) { f.at(7) ^= 1; }},
      {"a latency that there is none of", "hinted", store_view_tko, 1, set(11, 60)},
      {"hints that are announced and are none", "bias", load_view_tko, 1, set(0, 2)},
      {"a promise twice as large", "bias", assume, 1, [](Fields& f) { f.at(0) = 8, f.insert(f.begin() + 1, 64), f.at(2) = 0; }},
  };
  return all;
}

}  // namespace

TEST_CASE("without a fault bytecode and interpreter agree") {
  for (const char* name :
       {"bias", "smooth", "softmax", "product", "scan", "bytes", "numbers", "integers", "counted", "tf32", "hinted", "every"}) {
    CAPTURE(name);
    CHECK(subject(name).found() == "");
  }
}

TEST_CASE("every planted fault is found") {
  int number = 0;
  for (const Fault& f : faults()) {
    CAPTURE(std::string(f.what));
    const Subject s = subject(f.subject);
    fault = &f, seen = 0;
    const std::string found = s.found();
    fault = nullptr;
    CHECK_MESSAGE(seen >= f.number, "nothing to plant it in");
    CHECK(found != "");
    number += seen >= f.number && !found.empty();
    MESSAGE(std::string(f.what) << ": " << found.substr(0, 110));
  }
  CHECK(number == static_cast<int>(faults().size()));
}

TEST_CASE("every planted fault of a type or a constant is found") {
  const struct {
    const char *what, *subject;
    std::function<std::string(const std::string&)> change;
  } all[] = {
      {"zeros outside of a view left out", "product",
       [](const std::string& e) {  // a partition that ends with a padding of zero
         return e[0] == 15 && e.ends_with(std::string("\1\0", 2)) ? e.substr(0, e.size() - 2) + '\0' : e;
       }},
      {"a view of tiles twice as long", "bias",
       [](const std::string& e) {
         std::string changed = e;
         if (e[0] == 15) changed[2] = static_cast<char>(changed[2] * 2);
         return changed;
       }},
      {"dimensions of a view in the other order", "bias",
       [](const std::string& e) {
         std::string changed = e;
         const std::string in_order("\2\0\0\0\0\1\0\0\0", 9);
         if (const std::size_t at = e.find(in_order); e[0] == 15 && at != std::string::npos)
           changed.replace(at, 9, std::string("\2\1\0\0\0\0\0\0\0", 9));
         return changed;
       }},
      {"a constant with another bit", "smooth",
       [](const std::string& e) {
         std::string changed = e;
         if (e.size() == 5 && e[0] == 4 && e[4] == 0x40) changed[3] ^= 1;  // of f32: 2 and the like
         return changed;
       }},
      {"f32 for tf32", "tf32", [](const std::string& e) { return e == std::string(1, 8) ? std::string(1, 7) : e; }},
      {"another element of a constant", "counted",
       [](const std::string& e) {
         std::string changed = e;
         if (e.size() > 256) changed[40] ^= 3;
         return changed;
       }},
      {"another type of element", "product",
       [](const std::string& e) { return e == std::string(1, 6) ? std::string(1, 5) : e; }},  // bf16: f16
  };
  for (const auto& f : all) {
    CAPTURE(std::string(f.what));
    const Subject s = subject(f.subject);
    entry_fault = f.change, entries = 0;
    const std::string found = s.found();
    entry_fault = nullptr;
    CHECK_MESSAGE(entries > 0, "nothing to plant it in");
    CHECK(found != "");
    MESSAGE(std::string(f.what) << ": " << found.substr(0, 110));
  }
}
