// The default pool: every body once, from several threads at once, inside bodies, and after fork().
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "kernels.h"

using namespace kernels;

namespace {

ashlar_context pooled() {
  ashlar_context ctx;
  ashlar_default_context(&ctx);
  return ctx;
}

struct Threads {  // the number of threads for one test
  explicit Threads(std::int32_t n) { REQUIRE(ashlar_set_threads(n) == ASHLAR_OK); }
  ~Threads() { CHECK(ashlar_set_threads(0) == ASHLAR_OK); }
};

struct Marks {
  std::vector<std::atomic<int>> of;
  explicit Marks(std::size_t n) : of(n) {}
};
int mark(void* closure, std::int32_t slot) { return ++static_cast<Marks*>(closure)->of[static_cast<std::size_t>(slot)], 0; }

// One whole product, checked.
bool product_is_right(int m) {
  Array<float> A({m, 8}, 1), B({8, 33}, 2), bias({33}, 1);
  Array<double> aligned({m, 17});  // 16-byte alignment comes from the vector's allocator
  std::int64_t shape[] = {m, 33}, strides[] = {34, 1};
  ashlar_tensor C = A.tensor;
  C.data = aligned.data.data(), C.shape = shape, C.strides = strides;
  if (affine_f(&A, &B, &bias, 1, &C) != ASHLAR_OK) return false;
  const float* c = reinterpret_cast<const float*>(aligned.data.data());
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < 33; ++j)
      if (c[i * 34 + j] != 17) return false;
  return true;
}

}  // namespace

TEST_CASE("every body runs once, however many there are") {
  Threads four(4);
  const ashlar_context ctx = pooled();
  for (int repeat = 0; repeat < 2000; ++repeat) {
    const std::int32_t count = repeat % 9;
    Marks marks(9);
    REQUIRE(ctx.parallel_for(ctx.user, count, mark, &marks) == 0);
    for (std::int32_t s = 0; s < 9; ++s) REQUIRE(marks.of[static_cast<std::size_t>(s)] == (s < count ? 1 : 0));
  }
}

TEST_CASE("a result that is not zero comes back, and the other bodies have run") {
  Threads three(3);
  const ashlar_context ctx = pooled();
  std::atomic<int> ran{0};
  auto body = [](void* closure, std::int32_t slot) {
    ++*static_cast<std::atomic<int>*>(closure);
    return slot == 5 ? 42 : 0;
  };
  CHECK(ctx.parallel_for(ctx.user, 8, body, &ran) == 42);
  CHECK(ran == 8);
}

TEST_CASE("inside a body, a parallel loop runs in place") {
  Threads four(4);
  static const ashlar_context ctx = pooled();
  std::atomic<int> ran{0};
  auto outer = [](void* closure, std::int32_t) {
    auto inner = [](void* c, std::int32_t) { return ++*static_cast<std::atomic<int>*>(c), 0; };
    const auto here = std::this_thread::get_id();
    struct Check {
      std::thread::id id;
      bool same = true;
    } check{here};
    auto same = [](void* c, std::int32_t) {
      auto& k = *static_cast<Check*>(c);
      k.same = k.same && std::this_thread::get_id() == k.id;
      return 0;
    };
    const int rc = ctx.parallel_for(ctx.user, 3, inner, closure);
    return rc != 0 || ctx.parallel_for(ctx.user, 3, same, &check) != 0 || !check.same ? 1 : 0;
  };
  CHECK(ctx.parallel_for(ctx.user, 5, outer, &ran) == 0);
  CHECK(ran == 15);
}

TEST_CASE("kernels called at once from several threads are all right") {
  Threads two(2);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 3; ++c)
    callers.emplace_back([&wrong, c] {
      for (int repeat = 0; repeat < 300; ++repeat) wrong += !product_is_right(1 + (repeat * 7 + c) % 50);
    });
  for (std::thread& t : callers) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("after fork the child makes threads of its own") {
  Threads three(3);
  REQUIRE(product_is_right(40));  // the parent's pool is running
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a child that waits for the parent's threads would wait for ever
    bool good = true;
    for (int repeat = 0; repeat < 50; ++repeat) good = good && product_is_right(40);
    _exit(good ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(product_is_right(40));
}

TEST_CASE("the pool can be replaced") {
  static int called;
  called = 0;
  auto serial = [](void* user, std::int32_t count, int (*body)(void*, std::int32_t), void* closure) {
    called += *static_cast<int*>(user);
    int rc = 0;
    for (std::int32_t s = 0; s < count && rc == 0; ++s) rc = body(closure, s);
    return rc;
  };
  int step = 10;
  ashlar_set_pool(7, serial, &step);
  CHECK(pooled().parallelism == 7);
  CHECK(product_is_right(40));
  CHECK(called == 10);
  ashlar_set_pool(0, nullptr, nullptr);
  CHECK(product_is_right(40));
  CHECK(called == 10);
}

TEST_CASE("the number of threads: refused, and from the environment") {
  CHECK(ashlar_set_threads(-1) == ASHLAR_E_LAUNCH);
  CHECK(sentence(*ashlar_last_error()) == "ashlar_set_threads: -1 threads, expected 0 to 1024");
  setenv("ASHLAR_NUM_THREADS", "5", 1);
  CHECK(ashlar_set_threads(0) == ASHLAR_OK);
  CHECK(ashlar_threads() == 5);
  unsetenv("ASHLAR_NUM_THREADS");
  CHECK(ashlar_set_threads(0) == ASHLAR_OK);
  CHECK(ashlar_threads() >= 1);
}

TEST_CASE("a number of threads in the environment that is none is said on stderr") {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  const int saved = dup(2);
  dup2(fileno(file), 2);
  setenv("ASHLAR_NUM_THREADS", "many", 1);
  const int rc = ashlar_set_threads(0);
  const std::string fallback = std::to_string(ashlar_threads());
  unsetenv("ASHLAR_NUM_THREADS");
  std::fflush(stderr);
  dup2(saved, 2);
  close(saved);
  std::rewind(file);
  char text[200] = "";
  CHECK(std::fgets(text, sizeof text, file) != nullptr);
  std::fclose(file);
  CHECK(rc == ASHLAR_OK);
  CHECK(std::string(text) ==
        "ashlar: ASHLAR_NUM_THREADS is \"many\", expected a whole number from 1 to 1024; using " + fallback + "\n");
}
