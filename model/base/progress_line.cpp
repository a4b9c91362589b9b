#include "model/base/progress_line.hpp"

#include <algorithm>
#include <cmath>

namespace foretell {
namespace {

std::string duration_text(double seconds) {
  const long whole = std::lround(seconds);
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

}  // namespace

std::string progress_line(std::string_view label, double fraction, double elapsed_s,
                          double begun_at, int bar) {
  const double share = std::clamp(fraction, 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(std::lround(share * bar));
  std::string line(label);
  line += " [" + std::string(filled, '#') +
          std::string(static_cast<std::size_t>(bar) - filled, '-') + "] " +
          std::to_string(std::lround(share * 100)) + " %";
  if (const double done = share - begun_at; done > 0)
    line += ", " + duration_text(elapsed_s * (1 - share) / done) + " left";
  return line;
}

}  // namespace foretell
