#include "bench/plot.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace bench {
namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

// Pixels.
constexpr double row = 18, left = 300, middle = 470, half = 160, width = 960, top = 58;

// From half as fast to twice as fast; what lies outside ends at the border.
double place(double ratio) { return middle + half * std::clamp(std::log2(ratio), -1.0, 1.0); }

}  // namespace

void plot(const Report& report, const std::string& title, const std::string& path) {
  const std::vector<Outcome> all = report.outcomes();
  const double bottom = top + row * static_cast<double>(all.size());
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"12\" y=\"20\" font-size=\"13\">{2}: how often ours runs while the fastest peer runs once, "
      "by medians</text>\n",
      width, bottom + 24, escaped(title));
  for (const double mark : {0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0})
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\" stroke=\"{3}\"/>\n"
        "<text x=\"{0:.1f}\" y=\"{4}\" text-anchor=\"middle\" fill=\"#555\">{5}</text>\n",
        place(mark), top - 6, bottom + 4, mark == 1 ? "#333" : "#ccc", top - 10, mark);
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Outcome& o = all[k];
    const double y = top + row * static_cast<double>(k), to = place(o.ratio());
    const char* color = o.ratio() >= 1 ? "#3a8f5c" : o.ratio() >= 0.85 ? "#d9a53f" : "#c0504d";
    const std::string peak =
        o.ours->fraction_of_peak > 0 ? fmt::format(", {:.0f} % of peak", 100 * o.ours->fraction_of_peak) : "";
    svg += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{} {}{}</text>\n"
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n"
        "<text x=\"{:.1f}\" y=\"{:.1f}\">{:.2f} of {}{}{}</text>\n",
        left - 8, y + row - 6, escaped(o.ours->kernel), escaped(o.ours->shape),
        o.ours->threads == 1 ? "" : fmt::format(", {} threads", o.ours->threads), std::min(middle, to), y + 2,
        std::abs(to - middle), row - 4, color, middle + half + 10, y + row - 6, o.ratio(), escaped(o.peer->impl), peak,
        o.ours->impl == "ashlar" ? "" : escaped(" (" + o.ours->impl + ")"));
  }
  std::ofstream file(path);
  file << svg << "</svg>\n";
  file.close();
  if (!file) throw std::runtime_error(path + ": cannot be written");
}

}  // namespace bench
