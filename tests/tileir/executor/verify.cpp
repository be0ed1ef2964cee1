// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the specification demands of an operation's types. What passes can be executed without looking at them again.
#include <algorithm>

#include "tests/tileir/executor/image.h"

namespace ashlar::tileir {

namespace {

struct Rules {
  const Image& image;
  const Function& function;
  const Op& op;
  const Block* loop;

  [[noreturn]] void fail(const std::string& what) const { throw Error(op.info->name + ": " + what, op.offset); }
  void need(bool good, const std::string& what) const {
    if (!good) fail(what);
  }
  std::size_t count(int operand) const { return op.operands[static_cast<std::size_t>(operand)].size(); }
  const Type& in(int operand, std::size_t n = 0) const { return op.type(operand, static_cast<int>(n)); }
  const Type& out(std::size_t n = 0) const { return *op.results[n]; }

  void tile(const Type& t) const { need(t.is_tile(), "expected a tile, and it is " + t.text); }
  void tile_of(const Type& t, bool (*good)(Kind), const char* what) const {
    need(t.is_tile() && good(t.element()), std::string("expected a tile of ") + what + ", and it is " + t.text);
  }
  void same(const Type& a, const Type& b) const {
    need(&a == &b, "expected one type, and they are " + a.text + " and " + b.text);
  }
  void same_shape(const Type& a, const Type& b) const {
    tile(a), tile(b);
    need(a.shape == b.shape, "expected one shape, and they are " + a.text + " and " + b.text);
  }
  void same_element(const Type& a, const Type& b) const {
    tile(a), tile(b);
    need(a.of == b.of, "expected one element, and they are " + a.text + " and " + b.text);
  }
  void token(const Type& t) const { need(t.kind == Kind::kToken, "expected a token, and it is " + t.text); }
  void scalar(const Type& t, Kind k) const {
    need(t.is_scalar(k), "expected tile<" + std::string(name_of(k)) + ">, and it is " + t.text);
  }
  void scalar_integer(const Type& t) const {
    need(t.is_tile() && t.shape.empty() && is_integer(t.element()), "expected one integer, and it is " + t.text);
  }
  void pointers(const Type& t) const {
    need(t.is_tile() && t.element() == Kind::kPointer, "expected a tile of pointers, and it is " + t.text);
  }
  void in_memory(const Type& element) const {
    need(storage_bytes(element.kind) > 0, "elements of less than a byte in memory are not executed: " + element.text);
  }
  static bool any_float(Kind k) { return is_float(k); }

  void all_same() const {
    const std::string& which = op.info->same;
    const Type& t = out();
    if (which == "i") tile_of(t, is_integer, "integers");
    if (which == "f") tile_of(t, is_base_float, "f16, bf16, f32 or f64");
    for (std::size_t k = 0; k < op.operands.size(); ++k) same(in(static_cast<int>(k)), t);
    const int rounding = op.info->attribute("rounding");
    if (which == "f" && !op.info->fields.empty()) {
      const auto& flags = op.info->fields[1].flags;
      const auto ftz = std::find(flags.begin(), flags.end(), "ftz");
      if (ftz != flags.end() && op.flag(static_cast<int>(ftz - flags.begin())))
        need(t.element() == Kind::kF32, "flush_to_zero is for f32 only");
    }
    if (rounding < 0) return;
    const u64 r = op.number(rounding);
    if (op.info->code == Code::kDivI) {
      need(r >= 1 && r <= 3, "a division of integers rounds to zero, down or up");
      need(!(r == 2 && op.number(0) == 0), "an unsigned division that rounds down is none");
    } else {
      const bool approximate = op.info->code == Code::kDivF || op.info->code == Code::kSqrt || op.info->code == Code::kExp ||
                               op.info->code == Code::kTanh;
      need(r <= 3 || (approximate && r <= 5),
           "the rounding " + op.attributes[static_cast<std::size_t>(rounding)].text + " is not one of it");
      if (r >= 4 && (op.info->code == Code::kDivF || op.info->code == Code::kSqrt))
        need(t.element() == Kind::kF32, "approximations are for f32 only");
    }
  }

  void compare() const {
    same(in(0), in(1));
    tile_of(in(0), op.info->code == Code::kCmpF ? is_base_float : is_integer,
            op.info->code == Code::kCmpF ? "floats" : "integers");
    tile_of(out(), [](Kind k) { return k == Kind::kI1; }, "i1");
    same_shape(in(0), out());
  }

  void convert() const {
    same_shape(in(0), out());
    const Kind a = in(0).element(), b = out().element();
    switch (op.info->code) {
      case Code::kExtI:
        need(is_integer(a) && is_integer(b) && bits_of(a) < bits_of(b), "from " + in(0).text + " to " + out().text);
        break;
      case Code::kTruncI:
        need(is_integer(a) && is_integer(b) && bits_of(a) > bits_of(b), "from " + in(0).text + " to " + out().text);
        break;
      case Code::kFToF:
        need(is_float(a) && is_float(b) && a != b, "from " + in(0).text + " to " + out().text);
        need(op.number(0) <= 3 || op.number(0) == 7, "the rounding " + op.attributes[0].text + " is not one of it");
        break;
      case Code::kIToF:
        need(is_integer(a) && is_float(b), "from " + in(0).text + " to " + out().text);
        need(op.number(1) <= 3, "the rounding " + op.attributes[1].text + " is not one of it");
        break;
      case Code::kFToI:
        need(is_float(a) && is_integer(b), "from " + in(0).text + " to " + out().text);
        need(op.number(1) == 6, "expected the rounding nearest_int_to_zero, and it is " + op.attributes[1].text);
        break;
      case Code::kBitcast:
        need(a != Kind::kPointer && b != Kind::kPointer && bits_of(a) == bits_of(b),
             "from " + in(0).text + " to " + out().text);
        break;
      case Code::kIntToPtr:
        need(a == Kind::kI64 && b == Kind::kPointer, "from " + in(0).text + " to " + out().text);
        break;
      case Code::kPtrToInt:
        need(a == Kind::kPointer && b == Kind::kI64, "from " + in(0).text + " to " + out().text);
        break;
      default:
        need(a == Kind::kPointer && b == Kind::kPointer, "from " + in(0).text + " to " + out().text);
        break;
    }
  }

  void shapes() const {
    const Type &a = in(0), &b = out();
    same_element(a, b);
    switch (op.info->code) {
      case Code::kReshape:
        need(a.elements() == b.elements(), "from " + a.text + " to " + b.text);
        break;
      case Code::kBroadcast:
        need(a.shape.size() == b.shape.size(), "from " + a.text + " to " + b.text);
        for (std::size_t d = 0; d < a.shape.size(); ++d)
          need(a.shape[d] == b.shape[d] || a.shape[d] == 1, "from " + a.text + " to " + b.text);
        break;
      case Code::kPermute:
        permute();
        break;
      case Code::kCat:
        cat();
        break;
      case Code::kInsert:
        slices(a, in(1)), same(in(1), b), indices(2);
        break;
      default:
        slices(b, a), indices(1);
        break;
    }
  }
  void permute() const {
    std::vector<i64> sorted = op.attributes[0].numbers;
    need(sorted.size() == in(0).shape.size() && sorted.size() == out().shape.size(),
         "the permutation has another rank than its tiles");
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t d = 0; d < sorted.size(); ++d) need(sorted[d] == static_cast<i64>(d), "this is no permutation");
    for (std::size_t d = 0; d < sorted.size(); ++d)
      need(out().shape[d] == in(0).shape[static_cast<std::size_t>(op.attributes[0].numbers[d])],
           "from " + in(0).text + " to " + out().text);
  }
  void cat() const {
    same_element(in(1), out());
    const u64 dim = op.number(0);
    need(in(0).shape.size() == out().shape.size() && in(1).shape.size() == out().shape.size() && dim < out().shape.size(),
         "ranks or dimension");
    for (u64 d = 0; d < out().shape.size(); ++d) {
      if (d == dim)
        need(in(0).shape[d] + in(1).shape[d] == out().shape[d], "the extents along the dimension do not add up");
      else
        need(in(0).shape[d] == out().shape[d] && in(1).shape[d] == out().shape[d], "the extents of other dimensions differ");
    }
  }
  void slices(const Type& part, const Type& whole) const {
    same_element(part, whole);
    need(part.shape.size() == whole.shape.size(), "slices have the rank of the whole");
    for (std::size_t d = 0; d < whole.shape.size(); ++d)
      need(whole.shape[d] % part.shape[d] == 0, part.text + " does not divide " + whole.text);
  }
  void indices(int operand) const {
    need(count(operand) == out().shape.size(), "expected an index for each dimension");
    for (std::size_t n = 0; n < count(operand); ++n) scalar_integer(in(operand, n));
  }

  void packing() const {
    const bool pack = op.info->code == Code::kPack;
    const Type &wide = pack ? in(0) : out(), &bytes = pack ? out() : in(0);
    tile(wide), tile(bytes);
    need(bytes.element() == Kind::kI8 && bytes.shape.size() == 1 && wide.element() != Kind::kPointer &&
             wide.element() != Kind::kI1,
         "from " + in(0).text + " to " + out().text);
    need(wide.elements() * memory_bits(wide.element()) == bytes.elements() * 8, "from " + in(0).text + " to " + out().text);
  }
  static i64 memory_bits(Kind k) { return k == Kind::kTf32 ? 32 : bits_of(k); }

  void product() const {
    const Type &a = in(0), &b = in(1), &c = in(2);
    tile(a), tile(b), tile(c), same(c, out());
    const std::size_t r = a.shape.size();
    need((r == 2 || r == 3) && b.shape.size() == r && c.shape.size() == r, "expected matrices or batches of them");
    need(a.shape[r - 1] == b.shape[r - 2] && a.shape[r - 2] == c.shape[r - 2] && b.shape[r - 1] == c.shape[r - 1] &&
             (r == 2 || (a.shape[0] == b.shape[0] && a.shape[0] == c.shape[0])),
         "shapes: " + a.text + ", " + b.text + ", " + c.text);
    const Kind x = a.element(), z = c.element();
    if (op.info->code == Code::kMmaI) {
      need(x == Kind::kI8 && b.element() == Kind::kI8 && z == Kind::kI32, "types: " + a.text + ", " + b.text + ", " + c.text);
      return;
    }
    if (op.info->code == Code::kMmaFScaled) return scaled();
    need(a.of == b.of, "types: " + a.text + ", " + b.text);
    const bool small = x == Kind::kE4m3 || x == Kind::kE5m2 || x == Kind::kF16;
    const bool good = small             ? z == Kind::kF16 || z == Kind::kF32
                      : x == Kind::kF64 ? z == Kind::kF64
                                        : (x == Kind::kBf16 || x == Kind::kTf32 || x == Kind::kF32) && z == Kind::kF32;
    need(good, "types: " + a.text + ", " + b.text + ", " + c.text);
  }
  void scaled() const {
    const Type &a = in(0), &b = in(1), &p = in(3), &q = in(4);
    const auto good = [](Kind k) { return k == Kind::kE4m3 || k == Kind::kE5m2 || k == Kind::kE2m1; };
    need(good(a.element()) && good(b.element()) && in(2).element() == Kind::kF32,
         "types: " + a.text + ", " + b.text + ", " + in(2).text);
    tile_of(p, any_float, "floats"), tile_of(q, any_float, "floats");
    const std::size_t r = a.shape.size();
    need(p.shape.size() == r && q.shape.size() == r && p.shape[r - 1] == q.shape[r - 2] &&
             a.shape[r - 1] % p.shape[r - 1] == 0 && p.shape[r - 2] == a.shape[r - 2] && q.shape[r - 1] == b.shape[r - 1] &&
             (r == 2 || (p.shape[0] == a.shape[0] && q.shape[0] == b.shape[0])),
         "scales: " + p.text + ", " + q.text);
  }

  void memory_order(bool atomic, bool reads, bool writes) const {
    const int at = op.info->attribute("order");
    const u64 order = op.number(at);
    need(!(atomic && order == 0), "an atomic operation that is weak");
    need((order != 2 && order != 4) || reads, "acquire of what does not read");
    need((order != 3 && order != 4) || writes, "release of what does not write");
    if (!atomic) {
      need(order != 4, "acq_rel is for atomic operations only");
      const bool scope = op.attributes[static_cast<std::size_t>(op.info->attribute("scope"))].tag != Attribute::kNone;
      need(scope == (order != 0), order == 0 ? "a weak access with a scope" : "an access that is not weak needs a scope");
    }
  }
  void optional_token() const {
    const int t = op.info->operand("token");
    if (t >= 0 && count(t) > 0) token(in(t));
    if (!op.results.empty() && op.info->code != Code::kPrint) token(*op.results.back());
  }
  void through_pointers() const {
    const bool load = op.info->code == Code::kLoadPtr, store = op.info->code == Code::kStorePtr;
    pointers(in(0));
    const Type& value = load ? out() : in(op.info->operand("value"));
    same_shape(in(0), value);
    need(in(0).of->of == value.of, "pointers " + in(0).text + " for " + value.text);
    in_memory(*value.of);
    if (const int mask = op.info->operand("mask"); count(mask) > 0) {
      same_shape(in(0), in(mask));
      need(in(mask).element() == Kind::kI1, "a mask of type " + in(mask).text);
    }
    if (load && count(op.info->operand("padding")) > 0) same(in(op.info->operand("padding")), out());
    if (!load && !store) same(value, out());
    if (op.info->code == Code::kAtomicCas) {
      same(in(1), in(2));
      need(bits_of(value.element()) >= 32, "elements of type " + value.of->text);
    }
    if (op.info->code == Code::kAtomicRmw) mode(value);
    memory_order(!load && !store, !store, !load);
    optional_token();
  }
  void mode(const Type& value) const {
    const u64 m = op.number(op.info->attribute("mode"));
    const Kind k = value.element();
    const bool whole = k == Kind::kI32 || k == Kind::kI64;
    if (m == 4)
      need(is_base_float(k), "addf of " + value.text);
    else if (m == 9)
      need(whole || k == Kind::kF32 || k == Kind::kF64, "xchg of " + value.text);
    else
      need(whole, "an operation of integers on " + value.text);
  }

  void view_access() const {
    const bool load = op.info->code == Code::kLoadView;
    const Type& v = in(op.info->operand("view"));
    need(v.is_view(), "expected a view, and it is " + v.text);
    const Type& value = load ? out() : in(op.info->operand("value"));
    tile(value);
    need(value.shape == v.shape && value.of == v.of->of, "a tile " + value.text + " for " + v.text);
    in_memory(*value.of);
    const int index = op.info->operand("index");
    need(count(index) == v.shape.size(),
         "expected " + std::to_string(v.shape.size()) + " indices, and they are " + std::to_string(count(index)));
    for (std::size_t n = 0; n < count(index); ++n) {
      const Type& t = in(index, n);
      if (v.kind == Kind::kGatherScatterView && static_cast<i64>(n) == v.sparse_dim)
        need(t.is_tile() && is_integer(t.element()) && t.shape.size() == 1 && t.shape[0] == v.shape[n],
             "the indices of the sparse dimension are " + t.text);
      else
        scalar_integer(t);
    }
    const auto& inbounds = op.attributes[static_cast<std::size_t>(op.info->attribute("inbounds"))].numbers;
    need(inbounds.empty() || inbounds.size() == v.shape.size(), "inbounds has another length than the index");
    const bool atomic = op.info->code == Code::kAtomicRedView;
    if (atomic) mode(value);
    memory_order(atomic, load || atomic, !load);
    optional_token();
  }

  void make_view() const {
    const Type& v = out();
    switch (op.info->code) {
      case Code::kMakePartitionView:
        need(v.kind == Kind::kPartitionView, "a result of type " + v.text);
        break;
      case Code::kMakeStridedView:
        need(v.kind == Kind::kStridedView, "a result of type " + v.text);
        break;
      case Code::kMakeGatherScatterView:
        need(v.kind == Kind::kGatherScatterView, "a result of type " + v.text);
        break;
      default:
        return tensor_view(v);
    }
    same(*v.of, in(0));
  }
  void tensor_view(const Type& v) const {
    need(v.kind == Kind::kTensorView, "a result of type " + v.text);
    pointers(in(0));
    need(in(0).shape.empty() && in(0).of->of == v.of, "a base of type " + in(0).text);
    in_memory(*v.of);
    need(static_cast<std::size_t>(std::count(v.shape.begin(), v.shape.end(), kDynamic)) == count(1),
         "expected an operand for each `?` of the shape");
    need(static_cast<std::size_t>(std::count(v.strides.begin(), v.strides.end(), kDynamic)) == count(2),
         "expected an operand for each `?` of the strides");
    for (const int k : {1, 2})
      for (std::size_t n = 0; n < count(k); ++n) scalar_integer(in(k, n));
  }
  void view_shape() const {
    const bool tensor = op.info->code == Code::kGetTensorShape;
    need(tensor ? in(0).kind == Kind::kTensorView : in(0).is_view(), "expected a view, and it is " + in(0).text);
    need(op.results.size() == in(0).shape.size(), "expected a result for each dimension");
    need(tensor || in(0).kind != Kind::kGatherScatterView, "a gather/scatter view has no index space");
    for (const Type* t : op.results) scalar_integer(*t);
  }

  // Values that a terminator hands on: to a loop, an if, a reduction. Those of a reduction and of if are checked by region().
  void terminator() const {
    const auto& types = op.operand_types[0];
    if (op.info->code == Code::kContinue) {
      need(loop != nullptr, "outside of a loop");
      const std::size_t skip = loop->counts ? 1 : 0;
      need(std::equal(types.begin(), types.end(), loop->arguments.begin() + static_cast<std::ptrdiff_t>(skip),
                      loop->arguments.end()),
           "other types than the loop carries");
    }
    if (op.info->code == Code::kBreak) need(loop != nullptr, "outside of a loop");
    if (op.info->code == Code::kReturn) need(types == function.type->results, "other types than the function returns");
  }

  void yields(const Block& b, const std::vector<const Type*>& expected) const {
    const Op& last = b.ops.back();
    if (last.info->code == Code::kYield)
      need(last.operand_types[0] == expected, "a region yields other types than the operation results in");
  }
  void carried(const Block& b) const {  // every break of this loop
    for (const Op& o : b.ops) {
      if (o.info->code == Code::kBreak)
        need(op.info->code == Code::kLoop && o.operand_types[0] == op.results,
             "break hands on other types than the loop results in, or leaves a for");
      if (o.info->code == Code::kIf)
        for (const Block& r : o.regions) carried(r);
    }
  }
  void control() const {
    switch (op.info->code) {
      case Code::kIf:
        scalar(in(0), Kind::kI1);
        for (const Block& b : op.regions)
          if (b.present) yields(b, op.results);
        need(op.regions[1].present || op.results.empty(), "results and no else");
        break;
      case Code::kFor:
        for (const int k : {0, 1, 2}) scalar_integer(in(k)), same(in(k), in(0));
        need(op.results == op.operand_types[3], "other results than values that it carries");
        [[fallthrough]];
      case Code::kLoop:
        need(op.regions[0].ops.back().info->code != Code::kYield, "a loop's region ends with continue or break");
        carried(op.regions[0]);
        break;
      default:
        reduction();
        break;
    }
  }
  void reduction() const {
    const bool scan = op.info->code == Code::kScan;
    const std::size_t n = count(0);
    const auto& identities = op.attributes[scan ? 2 : 1].items;
    need(n > 0 && op.results.size() == n && identities.size() == n, "operands, results and identities differ in number");
    std::vector<const Type*> scalars;
    const u64 dim = op.number(0);
    for (std::size_t k = 0; k < n; ++k) {
      tile(in(0, k));
      need(in(0, k).element() != Kind::kPointer, "a reduction of pointers");
      std::vector<i64> shape = in(0, k).shape;
      need(shape == in(0, 0).shape && dim < shape.size(), "operands of different shapes, or no such dimension");
      if (!scan) shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(dim));
      need(op.results[k]->is_tile() && op.results[k]->shape == shape && op.results[k]->of == in(0, k).of,
           "a result of type " + op.results[k]->text);
      const Attribute& id = identities[k];
      const bool boolean = id.tag == Attribute::kBool && in(0, k).element() == Kind::kI1;
      need(boolean || ((id.tag == Attribute::kInteger || id.tag == Attribute::kFloat) && id.type == in(0, k).of),
           "an identity of another type");
      scalars.push_back(op.regions[0].arguments[2 * k]);
    }
    need(op.regions[0].ops.back().info->code == Code::kYield, "a region that does not end with yield");
    yields(op.regions[0], scalars);
  }

  void assume() const {
    same(in(0), out());
    const Attribute& p = op.attributes[0];
    const Type& t = in(0);
    const bool whole = t.is_tile() && is_integer(t.element()), pointer = t.is_tile() && t.element() == Kind::kPointer;
    switch (p.tag) {
      case Attribute::kDivBy:
        need(whole || pointer || t.kind == Kind::kTensorView, "div_by of " + t.text);
        if (p.first)
          need(t.is_tile() && *p.second >= 0 && static_cast<u64>(*p.second) < t.shape.size(), "every and along of " + t.text);
        break;
      case Attribute::kSameElements:
        need((whole || pointer) && p.numbers.size() == t.shape.size(), "same_elements of " + t.text);
        for (const i64 n : p.numbers) need(n >= 1, "same_elements of groups of " + std::to_string(n));
        break;
      case Attribute::kBounded:
        need(whole && (!p.first || !p.second || *p.first <= *p.second), "bounded of " + t.text);
        break;
      default:
        fail("this is no predicate");
    }
  }

  void all() const;
};

void Rules::all() const {
  if (!op.info->same.empty()) return all_same();
  switch (op.info->code) {
    case Code::kCmpF:
    case Code::kCmpI:
      return compare();
    case Code::kExtI:
    case Code::kTruncI:
    case Code::kFToF:
    case Code::kIToF:
    case Code::kFToI:
    case Code::kBitcast:
    case Code::kIntToPtr:
    case Code::kPtrToInt:
    case Code::kPtrToPtr:
      return convert();
    case Code::kReshape:
    case Code::kBroadcast:
    case Code::kPermute:
    case Code::kCat:
    case Code::kInsert:
    case Code::kExtract:
      return shapes();
    case Code::kPack:
    case Code::kUnpack:
      return packing();
    case Code::kMmaF:
    case Code::kMmaI:
    case Code::kMmaFScaled:
      return product();
    case Code::kLoadPtr:
    case Code::kStorePtr:
    case Code::kAtomicCas:
    case Code::kAtomicRmw:
      return through_pointers();
    case Code::kLoadView:
    case Code::kStoreView:
    case Code::kAtomicRedView:
      return view_access();
    case Code::kMakeTensorView:
    case Code::kMakePartitionView:
    case Code::kMakeStridedView:
    case Code::kMakeGatherScatterView:
      return make_view();
    case Code::kGetTensorShape:
    case Code::kGetIndexSpaceShape:
      return view_shape();
    case Code::kContinue:
    case Code::kBreak:
    case Code::kReturn:
      return terminator();
    case Code::kYield:
      return;
    case Code::kIf:
    case Code::kFor:
    case Code::kLoop:
    case Code::kReduce:
    case Code::kScan:
      return control();
    case Code::kAssume:
      return assume();
    case Code::kAssert:
      return tile_of(in(0), [](Kind k) { return k == Kind::kI1; }, "i1");
    case Code::kConstant:
      elements_of(image.constants[op.number(0)], out(), op.offset);
      return;
    case Code::kGetGlobal: {
      const Global* g = image.global(op.attributes[0].text);
      need(g != nullptr, "there is no global " + op.attributes[0].text);
      pointers(out());
      return need(out().shape.empty() && out().of->of == g->type->of, "a result of type " + out().text);
    }
    case Code::kGetTileBlockId:
    case Code::kGetNumTileBlocks:
      for (const Type* t : op.results) scalar(*t, Kind::kI32);
      return;
    case Code::kIota:
      tile_of(out(), is_integer, "integers");
      need(out().shape.size() == 1, "expected one dimension, and it is " + out().text);
      return need(static_cast<u64>(out().shape[0]) - 1 <= mask_of(bits_of(out().element())),
                  out().text + " does not hold all of it");
    case Code::kOffset:
      pointers(in(0)), same(in(0), out()), same_shape(in(0), in(1));
      return tile_of(in(1), is_integer, "integers");
    case Code::kSelect:
      same(in(1), in(2)), same(in(1), out()), same_shape(in(0), out());
      return tile_of(in(0), [](Kind k) { return k == Kind::kI1; }, "i1");
    case Code::kPowI:
      same(in(0), out()), same_shape(in(0), in(1)), tile_of(out(), is_base_float, "floats");
      return tile_of(in(1), is_integer, "integers");
    case Code::kJoinTokens:
    case Code::kMakeToken:
    case Code::kMemoryFenceAlias:
    case Code::kGdcWait:
    case Code::kGdcLaunchDependents:
      for (const auto& group : op.operand_types)
        for (const Type* t : group) token(*t);
      return token(out());
    case Code::kPrint:
      for (std::size_t n = 0; n < count(0); ++n) tile(in(0, n));
      need(op.results.size() <= 1, "more than one result");
      if (count(1) > 0) token(in(1));
      if (!op.results.empty()) token(out());
      return;
    case Code::kAlloca:
      pointers(out());
      need(out().shape.empty() && op.number(0) > 0 && op.number(0) < (u64(1) << 32),
           "a result of type " + out().text + ", or no elements");
      return need(op.number(1) <= 4096 && (op.number(1) & (op.number(1) - 1)) == 0,
                  "an alignment of " + std::to_string(op.number(1)));
    default:
      return;  // not executed
  }
}

}  // namespace

void verify(const Image& image, const Function& function, const Op& op, const Block* loop) {
  if (const int hints = op.info->attribute("hints"); hints >= 0)
    check_hints(op.attributes[static_cast<std::size_t>(hints)], false, image.version, op.offset);
  Rules{image, function, op, loop}.all();
}

}  // namespace ashlar::tileir
