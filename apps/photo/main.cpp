// photo IN OUT.png [options]: develops a photo; settings.cpp has the options, --help prints them.
//
// Exit codes: 0, 1 when a file cannot be read or written, 2 for a wrong command line.
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "apps/photo/files.h"
#include "apps/photo/kernels.h"
#include "apps/photo/settings.h"
#include "apps/support/image.h"
#include "apps/support/tensor.h"
#include "apps/support/timing.h"

namespace {

int develop(const photo::Settings& settings) {
  const photo::Source source = photo::read_source(settings.in, settings.layout);
  if (settings.threads && ashlar_set_threads(settings.threads) != ASHLAR_OK) apps::check(ASHLAR_E_LAUNCH);
  std::array<float, 3> balance{};
  const photo::Coefficients k = photo::coefficients(settings, source, balance);
  apps::Samples out{source.size.width, source.size.height, 3, settings.bits, {}};
  out.samples.resize(static_cast<std::size_t>(3 * out.width * out.height));
  const double begin = apps::now();
  (source.channels == 1 ? photo::develop_raw : photo::develop_picture)(k, source.size, source.samples.data(),
                                                                       out.samples.data());
  const double seconds = apps::now() - begin;
  apps::write_file(settings.out, apps::encode_png(out));
  if (settings.verbose)
    std::fprintf(stderr, "photo: %s: %lld x %lld, %s; white balance %.3f, %.3f, %.3f; developed in %.1f ms\n",
                 settings.in.c_str(), static_cast<long long>(out.width), static_cast<long long>(out.height),
                 source.channels == 1 ? ("a mosaic of " + settings.pattern).c_str() : "a picture", balance[0], balance[1],
                 balance[2], seconds * 1e3);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::string in = "photo";
  try {
    std::string help;
    const photo::Settings settings = photo::read_settings(argc, argv, help);
    if (!help.empty()) return std::fputs(help.c_str(), stdout) < 0 || std::fflush(stdout) != 0 ? 1 : 0;
    in = settings.in;
    return develop(settings);
  } catch (const photo::UsageError& e) {
    std::fprintf(stderr, "photo: %s\n", e.what());
    return 2;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "photo: %s: not enough memory\n", in.c_str());
  } catch (const std::exception& e) { std::fprintf(stderr, "photo: %s\n", e.what()); }
  return 1;
}
