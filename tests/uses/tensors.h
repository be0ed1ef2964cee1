#pragma once
// Tensors for the tests: dense arrays with a shape, seen through the C interface.
#include <cstdint>
#include <type_traits>
#include <vector>

#include <ashlar/runtime/runtime.h>

template <class T>
struct TypeOf {  // DLPack's codes: 2 floats, 1 unsigned, 0 signed integers
  static constexpr std::uint8_t code = std::is_same_v<T, float> || std::is_same_v<T, _Float16> ? 2
                                       : std::is_unsigned_v<T>                                 ? 1
                                                                                               : 0;
};

template <class T>
struct Dense {
  explicit Dense(std::vector<std::int64_t> s) : shape(std::move(s)) {
    std::int64_t n = 1;
    for (std::int64_t extent : shape) n *= extent;
    data.resize(static_cast<std::size_t>(n));
  }
  template <class F>
  Dense(std::vector<std::int64_t> s, F value) : Dense(std::move(s)) {
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<T>(value(i));
  }
  ashlar_tensor tensor() {
    ashlar_tensor t{};
    t.data = data.data(), t.device_type = 1, t.ndim = static_cast<std::int32_t>(shape.size()), t.type_code = TypeOf<T>::code;
    t.type_bits = sizeof(T) * 8, t.type_lanes = 1, t.shape = shape.data();
    return t;
  }
  T& operator()(std::int64_t i) { return data[static_cast<std::size_t>(i)]; }
  T& operator()(std::int64_t i, std::int64_t j) { return data[static_cast<std::size_t>(i * shape[1] + j)]; }
  std::vector<std::int64_t> shape;
  std::vector<T> data;
};
