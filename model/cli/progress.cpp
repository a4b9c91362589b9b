#include "model/cli/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace foretell {
namespace {

constexpr double kPatience = 0.5;        // seconds before the bar appears
constexpr double kRedrawInterval = 0.1;  // seconds
constexpr int kBarWidth = 30;
constexpr const char* kWipe = "\r\x1b[K";

std::string duration_text(double seconds) {
  const long whole = std::lround(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace

Progress::Progress(const Session& session, std::string label)
    : session_(session), label_(std::move(label)), start_(Clock::now()), drawn_(start_) {}

Progress::~Progress() {
  if (visible_) *session_.messages << kWipe << std::flush;
}

void Progress::update(double fraction) {
  if (!session_.terminal || session_.quiet || session_.messages == nullptr) return;
  const Clock::time_point now = Clock::now();
  const auto since = [now](Clock::time_point then) {
    return std::chrono::duration<double>(now - then).count();
  };
  if (since(start_) < kPatience || (visible_ && since(drawn_) < kRedrawInterval)) return;
  *session_.messages << kWipe << progress_line(label_, fraction, since(start_)) << std::flush;
  drawn_ = now;
  visible_ = true;
}

std::string progress_line(std::string_view label, double fraction, double elapsed_s) {
  const double share = std::clamp(fraction, 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(std::lround(share * kBarWidth));
  std::string line = fmt::format("{} [{}{}] {:.0f} %", label, std::string(filled, '#'),
                                 std::string(kBarWidth - filled, '-'), share * 100);
  if (share > 0) line += fmt::format(", {} left", duration_text(elapsed_s * (1 - share) / share));
  return line;
}

}  // namespace foretell
