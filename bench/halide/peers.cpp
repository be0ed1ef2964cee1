// The pipelines of make_peers.py as functions of plain pointers, which the bench loads (bench/peers/halide.cpp). All arrays are
// dense. Each returns 0, or Halide's error.
#include <HalideRuntime.h>

#include <cstdint>
#include <initializer_list>

extern "C" {
int halide_softmax(halide_buffer_t* x, halide_buffer_t* y);
int halide_layer_norm(halide_buffer_t* x, halide_buffer_t* scale, halide_buffer_t* shift, halide_buffer_t* y);
int halide_gelu(halide_buffer_t* x, halide_buffer_t* y);
int halide_sum_all(halide_buffer_t* x, halide_buffer_t* y);
int halide_transpose(halide_buffer_t* x, halide_buffer_t* y);
int halide_depthwise(halide_buffer_t* x, halide_buffer_t* w, halide_buffer_t* y);
int halide_box_blur(halide_buffer_t* x, halide_buffer_t* y);
int halide_unsharp(halide_buffer_t* x, halide_buffer_t* y);
}

namespace {

template <class T>
constexpr halide_type_t type_of = halide_type_t(halide_type_float, 32);
template <>
constexpr halide_type_t type_of<std::uint16_t> = halide_type_t(halide_type_uint, 16);

// A dense array; extents begin with the innermost one, as Halide counts.
struct Dense {
  halide_dimension_t dims[4];
  halide_buffer_t buffer{};
  template <class T>
  Dense(const T* data, std::initializer_list<std::int64_t> extents) {
    std::int32_t stride = 1;
    int n = 0;
    for (const std::int64_t e : extents) {
      dims[n++] = halide_dimension_t(0, static_cast<std::int32_t>(e), stride);
      stride *= static_cast<std::int32_t>(e);
    }
    buffer.host = reinterpret_cast<std::uint8_t*>(const_cast<T*>(data));
    buffer.type = type_of<T>;
    buffer.dimensions = n;
    buffer.dim = dims;
  }
  operator halide_buffer_t*() { return &buffer; }
};

}  // namespace

extern "C" {

const char* peer_about() { return ABOUT; }
void peer_threads(int n) { halide_set_num_threads(n); }

int peer_softmax(const float* x, float* y, std::int64_t rows, std::int64_t columns) {
  return halide_softmax(Dense(x, {columns, rows}), Dense(y, {columns, rows}));
}
int peer_layer_norm(const float* x, const float* scale, const float* shift, float* y, std::int64_t rows, std::int64_t columns) {
  return halide_layer_norm(Dense(x, {columns, rows}), Dense(scale, {columns}), Dense(shift, {columns}),
                           Dense(y, {columns, rows}));
}
int peer_gelu(const float* x, float* y, std::int64_t n) { return halide_gelu(Dense(x, {n}), Dense(y, {n})); }
int peer_sum(const float* x, float* y, std::int64_t n) { return halide_sum_all(Dense(x, {n}), Dense(y, {})); }
int peer_transpose(const float* x, float* y, std::int64_t rows, std::int64_t columns) {
  return halide_transpose(Dense(x, {columns, rows}), Dense(y, {rows, columns}));
}
// x, y: [height, width, channels]; w: [3, 3, channels]
int peer_depthwise(const float* x, const float* w, float* y, std::int64_t channels, std::int64_t height, std::int64_t width) {
  return halide_depthwise(Dense(x, {channels, width, height}), Dense(w, {channels, 3, 3}), Dense(y, {channels, width, height}));
}
// y: two rows and eight columns fewer
int peer_box_blur(const std::uint16_t* x, std::uint16_t* y, std::int64_t height, std::int64_t width) {
  return halide_box_blur(Dense(x, {width, height}), Dense(y, {width - 8, height - 2}));
}
int peer_unsharp(const float* x, float* y, std::int64_t height, std::int64_t width) {
  return halide_unsharp(Dense(x, {width, height, 3}), Dense(y, {width, height, 3}));
}
}
