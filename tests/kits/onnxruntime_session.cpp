// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kit for ONNX Runtime in sessions of C++: onnxruntime_session LIBRARY. Models are written here, in the wire format of
// protocol buffers, so that no other library is needed.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <onnxruntime_cxx_api.h>

namespace {

int wrong = 0;
void check(bool holds, const char* what) {
  if (!holds) ++wrong, std::printf("wrong: %s\n", what);
}

// ---- models: a field is its number and its kind (0 a number, 2 bytes, 5 a float), and then its value
std::string varint(std::uint64_t v) {
  std::string s;
  for (; v >= 128; v >>= 7) s += static_cast<char>(v | 128);
  return s + static_cast<char>(v);
}
std::string number(unsigned field, std::uint64_t v) { return varint(field << 3) + varint(v); }
std::string bytes(unsigned field, const std::string& s) { return varint(field << 3 | 2) + varint(s.size()) + s; }
std::string real(unsigned field, float v) {
  char raw[4];
  std::memcpy(raw, &v, 4);
  return varint(field << 3 | 5) + std::string(raw, 4);
}

// An input or output; an extent that is not a number is a name.
std::string value(const std::string& name, int type, const std::vector<std::string>& shape) {
  std::string dims;
  for (const std::string& e : shape) dims += bytes(1, e[0] >= '0' && e[0] <= '9' ? number(1, std::stoull(e)) : bytes(2, e));
  return bytes(1, name) + bytes(2, bytes(1, number(1, static_cast<std::uint64_t>(type)) + bytes(2, dims)));
}
std::string float_attribute(const std::string& name, float v) { return bytes(5, bytes(1, name) + real(2, v) + number(20, 1)); }

std::string model(const std::string& op, const std::vector<std::string>& inputs, const std::string& output,
                  const std::string& attributes, const std::string& values) {
  std::string node;
  for (const std::string& i : inputs) node += bytes(1, i);
  node += bytes(2, output) + bytes(4, op) + attributes + bytes(7, "ashlar_test");
  const std::string graph = bytes(1, node) + bytes(2, "graph") + values;
  return number(1, 8) + bytes(7, graph) + bytes(8, number(2, 17)) + bytes(8, bytes(1, "ashlar_test") + number(2, 1));
}

template <class T>
Ort::Value tensor(std::vector<T>& data, const std::vector<std::int64_t>& shape) {
  static const Ort::MemoryInfo memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  return Ort::Value::CreateTensor<T>(memory, data.data(), data.size(), shape.data(), shape.size());
}

class Sessions {
 public:
  explicit Sessions(const char* library) : environment_(ORT_LOGGING_LEVEL_FATAL, "kits") {
    options_.RegisterCustomOpsLibrary(library);
  }
  Ort::Session open(const std::string& m) { return Ort::Session(environment_, m.data(), m.size(), options_); }

 private:
  Ort::Env environment_;
  Ort::SessionOptions options_;
};

constexpr int f32 = 1, u8 = 2, i8 = 3, i32 = 6;

void elementwise(Sessions& sessions) {
  Ort::Session s = sessions.open(model("swish", {"x"}, "y", float_attribute("beta", 1.5f),
                                       bytes(11, value("x", f32, {"M", "N"})) + bytes(12, value("y", f32, {"M", "N"}))));
  for (const std::int64_t rows : {0, 1, 7}) {
    std::vector<float> x(static_cast<std::size_t>(rows * 5));
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(k) / 4 - 3;
    const char *in = "x", *out = "y";
    Ort::Value given = tensor(x, {rows, 5});
    std::vector<Ort::Value> made = s.Run(Ort::RunOptions(), &in, &given, 1, &out, 1);
    check(made[0].GetTensorTypeAndShapeInfo().GetShape() == std::vector<std::int64_t>{rows, 5}, "the shape of swish");
    for (std::size_t k = 0; k < x.size(); ++k)
      check(std::abs(made[0].GetTensorData<float>()[k] - x[k] / (1 + std::exp(-1.5f * x[k]))) < 1e-5f, "an element of swish");
  }
}

void reduction(Sessions& sessions) {
  Ort::Session s = sessions.open(
      model("row_norm", {"x", "w"}, "y", "",
            bytes(11, value("x", f32, {"M", "N"})) + bytes(11, value("w", f32, {"N"})) + bytes(12, value("y", f32, {"M"}))));
  std::vector<float> x{1, 2, 3, 4, 5, 6}, w{1, 0.5f, 2}, short_w{1, 2};
  const char *in[] = {"x", "w"}, *out = "y";
  Ort::Value given[] = {tensor(x, {2, 3}), tensor(w, {3})};
  std::vector<Ort::Value> made = s.Run(Ort::RunOptions(), in, given, 2, &out, 1);
  check(made[0].GetTensorData<float>()[0] == 1 + 2 + 18 && made[0].GetTensorData<float>()[1] == 16 + 12.5f + 72, "row_norm");
  given[1] = tensor(short_w, {2});
  try {
    s.Run(Ort::RunOptions(), in, given, 2, &out, 1);
    check(false, "row_norm took a w of 2 elements");
  } catch (const Ort::Exception& e) {
    check(std::strstr(e.what(), "row_norm: w.shape[0] is 2, expected 3 (N, from x.shape[1])") != nullptr, e.what());
    check(e.GetOrtErrorCode() != ORT_OK, "the code of an error");
  }
}

void product(Sessions& sessions) {
  Ort::Session s = sessions.open(model(
      "matmul_i8", {"A", "B"}, "C", "",
      bytes(11, value("A", u8, {"M", "K"})) + bytes(11, value("B", i8, {"K", "4"})) + bytes(12, value("C", i32, {"M", "4"}))));
  std::vector<std::uint8_t> a(3 * 33);
  std::vector<std::int8_t> b(33 * 4);
  for (std::size_t k = 0; k < a.size(); ++k) a[k] = static_cast<std::uint8_t>(k * 37);
  for (std::size_t k = 0; k < b.size(); ++k) b[k] = static_cast<std::int8_t>(k * 91);
  const char *in[] = {"A", "B"}, *out = "C";
  Ort::Value given[] = {tensor(a, {3, 33}), tensor(b, {33, 4})};
  std::vector<Ort::Value> made = s.Run(Ort::RunOptions(), in, given, 2, &out, 1);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      std::int32_t sum = 0;
      for (std::size_t k = 0; k < 33; ++k) sum += a[i * 33 + k] * b[k * 4 + j];
      check(made[0].GetTensorData<std::int32_t>()[i * 4 + j] == sum, "an element of matmul_i8");
    }
}

void refusals(Sessions& sessions) {
  try {
    sessions.open(
        model("swish", {"x"}, "y", "", bytes(11, value("x", f32, {"2", "3"})) + bytes(12, value("y", f32, {"2", "3"}))));
    check(false, "swish without its attribute was taken");
  } catch (const Ort::Exception& e) {
    check(std::strstr(e.what(), "swish: beta is missing, an attribute of type FLOAT") != nullptr, e.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::printf("usage: onnxruntime_session LIBRARY\n"), 2;
  try {
    std::printf("ONNX Runtime %s\n", OrtGetApiBase()->GetVersionString());
    Sessions sessions(argv[1]);
    elementwise(sessions);
    reduction(sessions);
    product(sessions);
    refusals(sessions);
  } catch (const Ort::Exception& e) { check(false, e.what()); }
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
