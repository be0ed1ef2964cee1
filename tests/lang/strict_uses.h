#pragma once
#include <ashlar/lang.h>

namespace strict {
using namespace ashlar;
Tensor zero(Symbol N);
Tensor iota(Symbol N);
Tensor total(const Tensor& x);
Tensor triangle(const Tensor& A, Symbol N);
Tensor filtered(const Tensor& A, Symbol N);
Tensor labeled(const Tensor& A, Symbol N);
Tensor offset(const Tensor& A, Symbol N);
Tensor mixes(const Tensor& A, Symbol N);
Tensor running_maximum(const Tensor& A, Symbol N);
Tensor smooth(const Tensor& x, const Expr& a);
}  // namespace strict
