// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on integers.
#include <algorithm>
#include <limits>

#include "tests/ptx/executor/decode.h"
#include "tests/ptx/executor/device.h"
#include "tests/ptx/executor/instructions/families.h"
#include "tests/ptx/executor/partial.h"

namespace ashlar::ptx {
namespace {

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

template <class F>
void by_type(T t, F f) {  // f of a value of the C++ type
  switch (t) {
    case T::u8:
    case T::b8:
      return f(u8());
    case T::s8:
      return f(i8());
    case T::u16:
    case T::b16:
      return f(u16());
    case T::s16:
      return f(i16());
    case T::u32:
    case T::b32:
      return f(u32());
    case T::s32:
      return f(i32());
    case T::u64:
    case T::b64:
      return f(u64());
    case T::s64:
      return f(i64());
    default:
      return;
  }
}

constexpr std::initializer_list<T> kIntegers = {T::u16, T::s16, T::u32, T::s32, T::u64, T::s64};

// Integer forms of opcodes that floats have too are decoded here when the type is one of an integer.
template <class Op>
Handler binary(T t, Op) {
  Handler h = nullptr;
  by_type(t, [&](auto zero) {
    using D = decltype(zero);
    h = [](Warp& w, const Instr& i, u32 mask) {
      map2<D>(w, i, mask, [](u64 a, u64 b) { return Op()(static_cast<D>(a), static_cast<D>(b)); });
    };
  });
  return h;
}

struct Add {
  template <class D>
  D operator()(D a, D b) const {
    return static_cast<D>(static_cast<u64>(a) + static_cast<u64>(b));
  }
};
struct Sub {
  template <class D>
  D operator()(D a, D b) const {
    return static_cast<D>(static_cast<u64>(a) - static_cast<u64>(b));
  }
};
struct MulLow {
  template <class D>
  D operator()(D a, D b) const {
    return static_cast<D>(static_cast<u64>(a) * static_cast<u64>(b));
  }
};
struct Min {
  template <class D>
  D operator()(D a, D b) const {
    return a < b ? a : b;
  }
};
struct Max {
  template <class D>
  D operator()(D a, D b) const {
    return a > b ? a : b;
  }
};
struct MinRelu {
  template <class D>
  D operator()(D a, D b) const {
    return std::max<D>(std::min(a, b), 0);
  }
};
struct MaxRelu {
  template <class D>
  D operator()(D a, D b) const {
    return std::max<D>(std::max(a, b), 0);
  }
};
template <class D>
D high(D a, D b) {
  if constexpr (std::is_signed_v<D>)
    return static_cast<D>((static_cast<i128>(a) * b) >> (sizeof(D) * 8));
  else
    return static_cast<D>((static_cast<u128>(a) * b) >> (sizeof(D) * 8));
}
struct MulHigh {
  template <class D>
  D operator()(D a, D b) const {
    return high(a, b);
  }
};
// Division by zero gives all ones, as devices do; the remainder is then the dividend. The smallest number by -1 is itself.
struct Div {
  template <class D>
  D operator()(D a, D b) const {
    if (b == 0) return static_cast<D>(~D(0));
    if constexpr (std::is_signed_v<D>)
      if (b == -1) return static_cast<D>(0 - static_cast<u64>(a));
    return static_cast<D>(a / b);
  }
};
struct Rem {
  template <class D>
  D operator()(D a, D b) const {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<D>)
      if (b == -1) return D(0);
    return static_cast<D>(a % b);
  }
};

template <class Op>
void packed(Decode& d, Op) {  // of two 16-bit halves
  d.operands(3, 3);
  d.result(0, T::b32), d.values(1, T::b32), d.results(1);
  const auto half = [](Warp& w, const Instr& i, u32 mask, auto zero) {
    using H = decltype(zero);
    map2<u32>(w, i, mask, [](u64 a, u64 b) {
      const u16 low = static_cast<u16>(Op()(static_cast<H>(a), static_cast<H>(b)));
      const u16 upper = static_cast<u16>(Op()(static_cast<H>(a >> 16), static_cast<H>(b >> 16)));
      return u32(low) | u32(upper) << 16;
    });
  };
  if (d.in.type == T::s16x2)
    d.in.run = [](Warp& w, const Instr& i, u32 mask) { decltype(half)()(w, i, mask, i16()); };
  else
    d.in.run = [](Warp& w, const Instr& i, u32 mask) { decltype(half)()(w, i, mask, u16()); };
}

void three(Decode& d, T t) {
  d.operands(3, 3);
  d.result(0, t), d.values(1, t), d.results(1);
}

}  // namespace

// add, sub: also .sat of s32.
void integer_sum(Decode& d, bool sub) {
  const T t = d.in.type;
  if (t == T::u16x2 || t == T::s16x2) return sub ? packed(d, Sub()) : packed(d, Add());
  three(d, t);
  if (d.take("sat")) {
    if (t != T::s32) d.fail(".sat is of .s32 alone");
    d.in.mode = sub;
    d.in.run = [](Warp& w, const Instr& i, u32 mask) {
      map2<i32>(w, i, mask, [&](u64 a, u64 b) {
        const i64 x = static_cast<i32>(a), y = static_cast<i32>(b), s = i.mode != 0 ? x - y : x + y;
        return static_cast<i32>(s < std::numeric_limits<i32>::min()   ? std::numeric_limits<i32>::min()
                                : s > std::numeric_limits<i32>::max() ? std::numeric_limits<i32>::max()
                                                                      : s);
      });
    };
    return;
  }
  d.in.unknown = unknown::upward;
  d.in.run = sub ? binary(t, Sub()) : binary(t, Add());
}

void integer_product(Decode& d) {
  const T t = d.in.type;
  const int form = d.must("part of the product (.lo, .hi, .wide)", {"lo", "hi", "wide"});
  if (form != 2) {
    three(d, t);
    if (form == 0) d.in.unknown = unknown::upward;
    d.in.run = form == 0 ? binary(t, MulLow()) : binary(t, MulHigh());
    return;
  }
  d.operands(3, 3);
  const T wide = bits_of(t) == 16 ? T::b32 : T::b64;
  if (bits_of(t) > 32) d.fail(".wide is of at most 32 bits");
  d.result(0, wide), d.values(1, t), d.results(1);
  by_type(t, [&](auto zero) {
    using D = decltype(zero);
    using W = std::conditional_t<sizeof(D) == 2, i32, i64>;
    d.in.run = [](Warp& w, const Instr& i, u32 mask) {
      map2<W>(w, i, mask, [](u64 a, u64 b) {
        return static_cast<W>(static_cast<i64>(static_cast<D>(a)) * static_cast<i64>(static_cast<D>(b)));
      });
    };
  });
}

void integer_extreme(Decode& d, bool max) {
  const T t = d.in.type;
  const bool relu = d.take("relu");
  if (t == T::u16x2 || t == T::s16x2) {
    if (relu) {
      if (t != T::s16x2) d.fail(".relu is of signed types");
      return max ? packed(d, MaxRelu()) : packed(d, MinRelu());
    }
    return max ? packed(d, Max()) : packed(d, Min());
  }
  three(d, t);
  if (relu) {
    if (t != T::s32) d.fail(".relu is of .s32 and .s16x2");
    d.in.run = max ? binary(t, MaxRelu()) : binary(t, MinRelu());
    return;
  }
  d.in.run = max ? binary(t, Max()) : binary(t, Min());
}

void integer_sign(Decode& d, bool negate) {
  const T t = d.in.type;
  if (!is_signed(t) || bits_of(t) > 64) d.fail("is of signed types");
  d.operands(2, 2);
  d.result(0, t), d.value(1, t), d.results(1);
  by_type(t, [&](auto zero) {
    using D = decltype(zero);
    if (negate)
      d.in.run = [](Warp& w, const Instr& i, u32 mask) { map1<D>(w, i, mask, [](u64 a) { return static_cast<D>(0 - a); }); };
    else
      d.in.run = [](Warp& w, const Instr& i, u32 mask) {
        map1<D>(w, i, mask, [](u64 a) { return static_cast<D>(a) < 0 ? static_cast<D>(0 - a) : static_cast<D>(a); });
      };
  });
}

void integer_division(Decode& d, bool remainder) {
  three(d, d.in.type);
  d.in.run = remainder ? binary(d.in.type, Rem()) : binary(d.in.type, Div());
}

namespace {

void multiply_add(Decode& d) {
  const int form = d.must("part of the product (.lo, .hi, .wide)", {"lo", "hi", "wide"});
  const bool saturate = d.take("sat");
  const T t = d.in.type = d.type_among(kIntegers);
  d.operands(4, 4);
  const T sum = form != 2 ? t : bits_of(t) == 16 ? T::b32 : T::b64;
  if (form == 2 && bits_of(t) > 32) d.fail(".wide is of at most 32 bits");
  d.result(0, sum), d.value(1, t), d.value(2, t), d.value(3, sum), d.results(1);
  if (saturate) {
    if (form != 1 || t != T::s32) d.fail(".sat is of .hi.s32");
    d.in.run = [](Warp& w, const Instr& i, u32 mask) {
      map3<i32>(w, i, mask, [](u64 a, u64 b, u64 c) {
        const i64 s = i64(high(static_cast<i32>(a), static_cast<i32>(b))) + static_cast<i32>(c);
        return static_cast<i32>(
            std::min<i64>(std::max<i64>(s, std::numeric_limits<i32>::min()), std::numeric_limits<i32>::max()));
      });
    };
    return;
  }
  by_type(t, [&](auto zero) {
    using D = decltype(zero);
    if (form == 0)
      d.in.run = [](Warp& w, const Instr& i, u32 mask) {
        map3<D>(w, i, mask, [](u64 a, u64 b, u64 c) { return static_cast<D>(a * b + c); });
      };
    else if (form == 1)
      d.in.run = [](Warp& w, const Instr& i, u32 mask) {
        map3<D>(w, i, mask, [](u64 a, u64 b, u64 c) {
          return static_cast<D>(static_cast<u64>(high(static_cast<D>(a), static_cast<D>(b))) + c);
        });
      };
    else if (sizeof(D) == 2)
      d.in.run = [](Warp& w, const Instr& i, u32 mask) {
        map3<u32>(w, i, mask, [](u64 a, u64 b, u64 c) {
          return static_cast<u32>(static_cast<i64>(static_cast<D>(a)) * static_cast<i64>(static_cast<D>(b)) +
                                  static_cast<i64>(c));
        });
      };
    else
      d.in.run = [](Warp& w, const Instr& i, u32 mask) {
        map3<u64>(w, i, mask, [](u64 a, u64 b, u64 c) {
          return static_cast<u64>(static_cast<i64>(static_cast<D>(a))) * static_cast<u64>(static_cast<i64>(static_cast<D>(b))) +
                 c;
        });
      };
  });
}

void product24(Decode& d, bool sum) {
  const int form = d.must("part of the product (.lo, .hi)", {"lo", "hi"});
  const T t = d.in.type = d.type_among({T::u32, T::s32});
  if (d.take("sat")) d.fail("the modifier .sat is not known");
  d.operands(sum ? 4 : 3, sum ? 4 : 3);
  d.result(0, t), d.values(1, t), d.results(1);
  d.in.mode = static_cast<u8>(form), d.in.mode2 = is_signed(t);
  const auto product = [](const Instr& i, u64 a, u64 b) {
    const auto low = [&](u64 v) { return i.mode2 != 0 ? static_cast<i64>(v << 40) >> 40 : static_cast<i64>(v & 0xffffff); };
    const i64 p = low(a) * low(b);
    return static_cast<u32>(i.mode == 0 ? p : p >> 16);
  };
  if (sum)
    d.in.run = [](Warp& w, const Instr& i, u32 mask) {
      map3<u32>(w, i, mask, [&](u64 a, u64 b, u64 c) { return static_cast<u32>(decltype(product)()(i, a, b) + c); });
    };
  else
    d.in.run = [](Warp& w, const Instr& i, u32 mask) {
      map2<u32>(w, i, mask, [&](u64 a, u64 b) { return decltype(product)()(i, a, b); });
    };
}

// mode: signs of a and b; mode2: 0 dp4a, 1 dp2a.lo, 2 dp2a.hi
void dot(Warp& w, const Instr& i, u32 mask) {
  map3<u32>(w, i, mask, [&](u64 a, u64 b, u64 c) {
    u32 sum = static_cast<u32>(c);
    const auto byte = [](u64 v, int n, bool s) {
      return s ? i32(static_cast<i8>(v >> (8 * n))) : i32(static_cast<u8>(v >> (8 * n)));
    };
    const bool sa = (i.mode & 1) != 0, sb = (i.mode & 2) != 0;
    if (i.mode2 == 0) {
      for (int n = 0; n < 4; ++n) sum += static_cast<u32>(byte(a, n, sa) * byte(b, n, sb));
    } else {
      for (int n = 0; n < 2; ++n) {
        const i32 x = sa ? i32(static_cast<i16>(a >> (16 * n))) : i32(static_cast<u16>(a >> (16 * n)));
        sum += static_cast<u32>(x) * static_cast<u32>(byte(b, n + (i.mode2 == 2 ? 2 : 0), sb));
      }
    }
    return sum;
  });
}

void sad(Decode& d) {
  const T t = d.in.type = d.type_among(kIntegers);
  d.operands(4, 4);
  d.result(0, t), d.values(1, t), d.results(1);
  by_type(t, [&](auto zero) {
    using D = decltype(zero);
    d.in.run = [](Warp& w, const Instr& i, u32 mask) {
      map3<D>(w, i, mask, [](u64 a, u64 b, u64 c) {
        const D x = static_cast<D>(a), y = static_cast<D>(b);
        return static_cast<D>(c +
                              (x < y ? static_cast<u64>(y) - static_cast<u64>(x) : static_cast<u64>(x) - static_cast<u64>(y)));
      });
    };
  });
}

// The condition code of each lane: what add.cc and the like leave for addc and the like.
// mode: 0 add, 1 sub, 2 mad.lo, 3 mad.hi; mode2: 1 takes the carry, 2 leaves it.
void with_carry(Warp& w, const Instr& i, u32 mask) {
  const bool wide = bits_of(i.type) == 64, sub = i.mode == 1, product = i.mode >= 2;
  const u64 *a = w.src(i.ops[1], 0), *b = w.src(i.ops[2], 1), *c = product ? w.src(i.ops[3], 2) : nullptr;
  u64* d = w.dst(i.ops[0]);
  if ((i.mode2 & 1) != 0 && (mask & ~w.carry_known) != 0)
    w.fault(FaultKind::kUnwritten, i, first_lane(mask & ~w.carry_known), "the carry is of no instruction before");
  each(mask, [&](int l) {
    u64 x = a[l], y = b[l];
    if (product) {
      if (wide) {
        const u128 p = is_signed(i.type) ? static_cast<u128>(static_cast<i128>(static_cast<i64>(x)) * static_cast<i64>(y))
                                         : static_cast<u128>(x) * y;
        x = static_cast<u64>(i.mode == 2 ? p : p >> 64);
      } else {
        const u64 p = is_signed(i.type) ? static_cast<u64>(static_cast<i64>(static_cast<i32>(x)) * static_cast<i32>(y))
                                        : u64(static_cast<u32>(x)) * static_cast<u32>(y);
        x = static_cast<u32>(i.mode == 2 ? p : p >> 32);
      }
      y = c[l];
    }
    if (!wide) x = static_cast<u32>(x), y = static_cast<u32>(y);
    const u64 carry = (i.mode2 & 1) != 0 ? (w.carry >> l) & 1 : 0;
    // a - b - borrow
    const u128 s = sub ? static_cast<u128>(x) - y - carry : static_cast<u128>(x) + y + carry;
    const u32 out = static_cast<u32>(wide ? s >> 64 : s >> 32) & 1;
    d[l] = wide ? static_cast<u64>(s) : static_cast<u32>(s);
    if ((i.mode2 & 2) != 0) w.carry = (w.carry & ~(1u << l)) | out << l, w.carry_known |= 1u << l;
  });
}

void carry(Decode& d, int mode, bool takes) {
  const bool leaves = d.take("cc");
  d.in.mode = static_cast<u8>(mode), d.in.mode2 = static_cast<u8>((takes ? 1 : 0) | (leaves ? 2 : 0));
  if (d.in.type == T::none) d.in.type = d.type_among({T::u32, T::s32, T::u64, T::s64, T::b32, T::b64});
  const std::size_t n = mode >= 2 ? 4 : 3;
  d.operands(n, n);
  d.result(0, d.in.type), d.values(1, d.in.type), d.results(1);
  d.in.run = with_carry;
}

}  // namespace

bool integer_carry(Decode& d, bool sub) {  // add.cc, sub.cc
  if (!d.take("cc")) return false;
  d.in.mode = sub, d.in.mode2 = 2;
  d.operands(3, 3);
  d.result(0, d.in.type), d.values(1, d.in.type), d.results(1);
  d.in.run = with_carry;
  return true;
}

void add_integers(Table& t) {
  t["mad"] = [](Decode& d) {
    // floats: mad.rnd.f32 is fma
    if (d.take("cc")) {
      const int part = d.must("part of the product (.lo, .hi)", {"lo", "hi"});
      carry(d, 2 + part, false);
      d.in.mode2 = 2;
      return;
    }
    multiply_add(d);
  };
  t["madc"] = [](Decode& d) {
    const int part = d.must("part of the product (.lo, .hi)", {"lo", "hi"});
    carry(d, 2 + part, true);
  };
  t["addc"] = [](Decode& d) { carry(d, 0, true); };
  t["subc"] = [](Decode& d) { carry(d, 1, true); };
  t["rem"] = [](Decode& d) {
    d.in.type = d.type_among(kIntegers);
    integer_division(d, true);
  };
  t["mul24"] = [](Decode& d) { product24(d, false); };
  t["mad24"] = [](Decode& d) { product24(d, true); };
  t["sad"] = sad;
  t["dp4a"] = [](Decode& d) {
    const T a = d.type_among({T::u32, T::s32}), b = d.type_among({T::u32, T::s32});
    d.in.mode = static_cast<u8>((is_signed(a) ? 1 : 0) | (is_signed(b) ? 2 : 0));
    d.operands(4, 4);
    d.result(0, T::b32), d.values(1, T::b32), d.results(1);
    d.in.run = dot;
  };
  t["dp2a"] = [](Decode& d) {
    d.in.mode2 = static_cast<u8>(1 + d.must("half (.lo, .hi)", {"lo", "hi"}));
    const T a = d.type_among({T::u32, T::s32}), b = d.type_among({T::u32, T::s32});
    d.in.mode = static_cast<u8>((is_signed(a) ? 1 : 0) | (is_signed(b) ? 2 : 0));
    d.operands(4, 4);
    d.result(0, T::b32), d.values(1, T::b32), d.results(1);
    d.in.run = dot;
  };
}

}  // namespace ashlar::ptx
