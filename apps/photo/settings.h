#pragma once
// The options of the command line, and what they mean for the kernels.
#include <array>
#include <cstdint>
#include <stdexcept>
#include <optional>
#include <string>
#include <vector>

#include "apps/photo/coefficients.h"
#include "apps/photo/files.h"

namespace photo {

enum class Tone { linear, filmic };

struct Settings {
  std::string in, out;
  std::optional<RawLayout> layout;  // --size, --samples, --skip
  std::string pattern;              // of 2 x 2 filters in reading order; empty: not given
  std::vector<float> black;         // one, or four in reading order
  std::optional<float> white;       // the sample at which the sensor is full; not given: the format's largest
  std::array<float, 3> balance = {1, 1, 1};
  bool balance_given = false, balance_of_picture = false;  // --wb R,G,B; --wb auto; neither: auto for a mosaic
  std::array<float, 9> matrix = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  float exposure = 0, saturation = 1;
  std::optional<Tone> tone;              // not given: filmic for a mosaic, linear for a picture
  std::optional<float> gamma;            // not given: sRGB's curve
  float denoise = 1, denoise_color = 4;  // percent of white
  float sharpen = 0.5f, sharpen_radius = 1;
  int bits = 8, threads = 0;
  bool verbose = false;
};

// A wrong option: the text names it.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Reads the command line. Where it asks for help, the help is in `help` and nothing else is set.
Settings read_settings(int argc, const char* const* argv, std::string& help);

// What the kernels take for this source. Throws UsageError where an option does not fit it. `balance` is what was used.
Coefficients coefficients(const Settings&, const Source&, std::array<float, 3>& balance);

}  // namespace photo
