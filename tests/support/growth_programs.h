#pragma once
// Programs that are large in one respect: long chains of stages, deep expressions, values that are used twice again and again,
// nests of many loops. What they cost is counted by the tests of growth.
#include <ashlar/ashlar.h>
#include <ashlar/lang/build_program.h>

namespace growth {

using namespace ashlar;

struct Operator {
  lang::DefinitionScope scope;
  Symbol N{"N", {.min = 1}};
  Tensor x = lang::make_input("x", f32, {N}), y = lang::make_output("y", f32, {N});
  std::vector<Tensor> stages;
  lang::Built build() {
    lang::bind(y, stages.back());
    return lang::build_program("growth", {x, y});
  }
};

// Each stage reads the one before at its own element.
struct Chain : Operator {
  explicit Chain(int n) {
    for (int k = 0; k < n; ++k) {
      const Tensor before = k == 0 ? x : stages.back();
      stages.push_back(compute("s", {N}, [&](Var i) { return before(i) * 0.5f + 1.0f; }));
    }
  }
};

// One expression of n operators, one inside the other.
struct Deep : Operator {
  explicit Deep(int n) {
    stages.push_back(compute("deep", {N}, [&](Var i) {
      Expr e = x(i);
      for (int k = 0; k < n; ++k) e = e * 0.5f + x(i);
      return e;
    }));
  }
};

// e + e, n times over: n nodes, and 2^n ways through them.
struct Doubled : Operator {
  explicit Doubled(int n) {
    stages.push_back(compute("doubled", {N}, [&](Var i) {
      Expr e = x(i);
      for (int k = 0; k < n; ++k) e = (e + e) * 0.5f;
      return e;
    }));
  }
};

// A choice between two uses of what the level before chose. The conditions are over data, or over the index.
struct Choices : Operator {
  explicit Choices(int n, bool of_index = false) {
    stages.push_back(compute("choices", {N}, [&](Var i) {
      Expr e = x(i);
      for (int k = 0; k < n; ++k) {
        const Expr c = of_index ? Expr(i + k < N) : Expr(x(i) < static_cast<float>(k));
        e = select(c, e + 1.0f, e);
      }
      return e;
    }));
  }
};

// Choices that read only where their condition says that there is something: each level under two conditions, twice.
struct Guarded : Operator {
  explicit Guarded(int n) {
    stages.push_back(compute("guarded", {N}, [&](Var i) {
      Expr e = select(i + 1 < N, x(min(i + 1, N)), 0.0f);
      for (int k = 0; k < n; ++k) {
        const Expr inside = i + k < N;
        e = select(x(i) < static_cast<float>(k), select(inside, e + x(i + k), e), e * 0.5f);
      }
      return e;
    }));
  }
};

// An index that each level uses twice; chosen by data, halved and added up.
struct Positions : Operator {
  explicit Positions(int n) {
    stages.push_back(compute("positions", {N}, [&](Var i) {
      Expr e = i;
      for (int k = 0; k < n; ++k) e = select(x(i) < static_cast<float>(k), e, min(e + 1, N - 1));
      return x(clamp(e, 0, N - 1));
    }));
  }
};
struct Sums : Operator {
  explicit Sums(int n) {
    stages.push_back(compute("sums", {N}, [&](Var i) {
      Expr e = i;
      for (int k = 0; k < n; ++k) e = (e + min(e, N - 1)) / 2;
      return x(clamp(e, 0, N - 1));
    }));
  }
};
// Sums and products of an index with itself: 2^n i, and i to the 2^n.
struct Multiples : Operator {
  explicit Multiples(int n, bool products = false) {
    stages.push_back(compute("multiples", {N}, [&](Var i) {
      Expr e = i;
      for (int k = 0; k < n; ++k) e = products ? e * e : e + e;
      return x(clamp(e, 0, N - 1));
    }));
  }
};

// One Boolean over another: c && c || c ...
struct Conditions : Operator {
  explicit Conditions(int n) {
    stages.push_back(compute("conditions", {N}, [&](Var i) {
      Expr c = i < 3, d = x(i) < 0.5f;
      for (int k = 0; k < n; ++k) {
        const Expr both = c && d;
        d = both || !c, c = both || !d;
      }
      return select(c, x(i), 0.0f);
    }));
  }
};

// A chain of stages whose domains are inferred: each reads two elements of the one before.
struct Stencils : Operator {
  explicit Stencils(int n) {
    for (int k = 0; k < n; ++k) {
      const Tensor before = stages.empty() ? x : stages.back();
      const auto value = [&](Var i) {
        return k == 0 ? (x(clamp(i, 0, N - 1)) + x(clamp(i + 1, 0, N - 1))) * 0.5f : (before(i) + before(i + 1)) * 0.5f;
      };
      stages.push_back(k + 1 == n ? compute("s", {N}, value) : compute("s", value));
    }
  }
};

}  // namespace growth
