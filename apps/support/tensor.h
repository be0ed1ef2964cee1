#pragma once
// A dense f32 array as a kernel's argument: the descriptor together with the shape that it points to.
//
//   Tensor A(data, {M, K});
//   check(matmul(A, B, C));                  // throws KernelError with the runtime's sentence when the call failed
//
// Include the generated header, or ashlar/runtime/runtime.h, for ashlar_tensor itself.
#include <ashlar/runtime/runtime.h>

#include <array>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <string>

namespace apps {

class Tensor {
 public:
  Tensor(const float* data, std::initializer_list<std::int64_t> shape) {
    for (const std::int64_t extent : shape) shape_[static_cast<std::size_t>(rank_++)] = extent;
    tensor_.data = const_cast<float*>(data);  // the descriptor of an input is that of an output
    tensor_.device_type = 1;
    tensor_.ndim = rank_;
    tensor_.type_code = 2, tensor_.type_bits = 32, tensor_.type_lanes = 1;
    tensor_.shape = shape_.data();
  }
  Tensor(const Tensor&) = delete;  // it points into itself
  Tensor& operator=(const Tensor&) = delete;
  operator ashlar_tensor*() { return &tensor_; }

 private:
  std::array<std::int64_t, 8> shape_{};
  int rank_ = 0;
  ashlar_tensor tensor_{};
};

class KernelError : public std::exception {
 public:
  explicit KernelError(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

// What a program needs is not on this machine.
class NotHere : public std::exception {
 public:
  explicit NotHere(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

inline std::string sentence(const ashlar_error& error) {
  char text[400];
  ashlar_error_text(&error, text, sizeof text);
  return text;
}

// Of a simple entry; of an entry with a context when `error` is what the context points to.
inline void check(int code, const ashlar_error* error = nullptr) {
  if (code != ASHLAR_OK) throw KernelError(sentence(error ? *error : *ashlar_last_error()));
}

}  // namespace apps
