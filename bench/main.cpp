// ./dev bench: kernels against their peers, and all against what the machine can do.
//
//   ashlar_bench --filter 'matmul' --threads 2 --json bench.json
//   ashlar_bench --isa avx2                        // ours and the peers without AVX-512
#include <ashlar/runtime/runtime.h>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "bench/isa.h"
#include "bench/machine.h"
#include "bench/peers/memory.h"
#include "bench/peers/onednn_library.h"
#include "bench/peaks.h"
#include "bench/peers/peers.h"
#include "bench/plot.h"
#include "bench/suites.h"

int main(int argc, char** argv) {
  CLI::App app{
      "Measures ashlar's kernels beside OpenBLAS, oneDNN, Eigen, Halide and plain loops, and the machine's own peaks."};
  std::string json, plot, filter = ".", isa = bench::isa();
  int threads = ashlar_threads();
  double seconds = 3;
  app.add_option("--json", json, "write the records to this file");
  app.add_option("--plot", plot, "draw what is faster than its peers, and by how much, to this SVG file");
  app.add_option("--filter", filter, "only kernels whose name this regular expression is found in")
      ->check([](const std::string& text) {
        try {
          std::regex parsed(text);
          return std::string();
        } catch (const std::regex_error& e) { return "\"" + text + "\" is not a regular expression: " + e.what(); }
      });
  app.add_option("--threads", threads, "measure on one thread and on this many")->check(CLI::Range(1, 1024));
  app.add_option("--seconds", seconds, "that each comparison takes")->check(CLI::Range(0.0, 600.0));
  app.add_option("--isa", isa, "what ours and the peers may use: all that the machine has, or AVX2 at most")
      ->check(CLI::IsMember({"native", "avx2"}));
  CLI11_PARSE(app, argc, argv);

  try {
    bench::become(isa, argv);
    bench::Report report(filter, seconds);
    bench::Machine machine;
    machine.threads = threads;
    const bench::Processor processor = bench::processor();
    const std::string title =
        fmt::format("{}, {} threads of {}, {}", processor.text(), threads, ashlar_threads(), bench::fma_kind());
    fmt::print("{}\n", title);
    for (int k = 0; k < (threads > 1 ? 2 : 1); ++k) {
      const int n = k == 0 ? 1 : threads;
      machine.fma[k] = bench::fma_peak(n, false), machine.copy[k] = bench::copy_bandwidth(n),
      machine.triad[k] = bench::triad_bandwidth(n);
      report.add({"peak", "fma f32", n, "machine", 0, 0, machine.fma[k], "GFLOP/s", 1});
      const double loads = bench::fma_peak(n, true);
      report.add({"peak", "fma f32 + loads", n, "machine", 0, 0, loads, "GFLOP/s", loads / machine.fma[k]});
      report.add({"peak", "copy", n, "machine", 0, 0, machine.copy[k], "GB/s", 1});
      report.add({"peak", "triad", n, "machine", 0, 0, machine.triad[k], "GB/s", 1});
    }
    if (threads > 1 && bench::halide_missing().empty())
      report.note(
          "halide: its times on one thread are too short here, as if its pool helped the thread that is timed; --threads 1 has "
          "them");
    if (const std::string missing = bench::onednn_missing(); !missing.empty()) report.note(missing);
    bench::pool_suite(report, machine);
    bench::matmul_suite(report, machine);
    bench::narrow_suite(report, machine);
    bench::stored_suite(report, machine);
    bench::convolution_suite(report, machine);
    bench::attention_suite(report, machine);
    bench::memory_suite(report, machine);
    bench::windows_suite(report, machine);
    bench::unsharp_suite(report, machine);
    bench::scan_suite(report, machine);
    bench::default_suite(report, machine);
    report.print_outcomes();
    if (!json.empty()) {
      std::vector<bench::PeerVersion> peers{{"OpenBLAS", bench::openblas_about()}};
      for (const bench::OnednnVersion& v : bench::onednns())
        peers.push_back({v.impl == "onednn" ? "oneDNN" : "newer oneDNN", std::string("oneDNN ") + v.library->version});
      peers.push_back({"Eigen", bench::eigen_about()});
      peers.push_back({"Halide", bench::halide_about()});
      report.save(json, {processor, isa, bench::target_name(), threads, peers});
    }
    if (!plot.empty()) bench::plot(report, title, plot);
  } catch (const std::exception& e) {
    fmt::print(stderr, "ashlar_bench: {}\n", e.what());
    return 1;
  }
  return 0;
}
