#include "model/terminal/progress.hpp"

#include <ostream>

#include "model/base/progress_line.hpp"

namespace foretell {
namespace {

constexpr double kPatience = 0.5;        // seconds before the bar appears
constexpr double kRedrawInterval = 0.1;  // seconds
constexpr const char* kWipe = "\r\x1b[K";

}  // namespace

Progress::Progress(const Session& session, std::string label)
    : session_(session), label_(std::move(label)), start_(Clock::now()), drawn_(start_) {}

Progress::~Progress() {
  if (visible_) *session_.messages << kWipe << std::flush;
}

void Progress::update(double fraction, std::string_view note) {
  if (!session_.terminal || session_.quiet || session_.messages == nullptr) return;
  const Clock::time_point now = Clock::now();
  const auto since = [now](Clock::time_point then) {
    return std::chrono::duration<double>(now - then).count();
  };
  if (since(start_) < kPatience || (visible_ && since(drawn_) < kRedrawInterval)) return;
  *session_.messages << kWipe << progress_line(label_, fraction, since(start_), begun_at_) << note
                     << std::flush;
  drawn_ = now;
  visible_ = true;
}

}  // namespace foretell
