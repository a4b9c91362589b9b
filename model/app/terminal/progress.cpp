#include "model/app/terminal/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <ostream>
#include <string>

#include "model/base/progress_line.hpp"

namespace foretell {
namespace {

constexpr double kPatience = 0.5;        // seconds before the bar appears
constexpr double kRedrawInterval = 0.1;  // seconds
constexpr int kMinBar = 8;
constexpr int kMinWidth = 20;
constexpr int kUsualWidth = 80;
constexpr const char* kWipe = "\r\x1b[K";

// Columns of the terminal that shows messages.
int message_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                         : kUsualWidth;
}

}  // namespace

Progress::Progress(const Session& session, std::string label)
    : session_(session), label_(std::move(label)), start_(Clock::now()), drawn_(start_) {}

Progress::~Progress() {
  if (visible_) *session_.bars << kWipe << std::flush;
}

void Progress::update(double fraction, std::string_view note) {
  if (session_.bars == nullptr || session_.quiet) return;
  const Clock::time_point now = Clock::now();
  const auto since = [now](Clock::time_point then) {
    return std::chrono::duration<double>(now - then).count();
  };
  if (since(start_) < kPatience || (visible_ && since(drawn_) < kRedrawInterval)) return;
  // A line that wraps would not be erased: a shorter bar first, then less text.
  const auto line = [&](int bar) {
    return progress_line(label_, fraction, since(start_), begun_at_, bar) + std::string(note);
  };
  const std::size_t room = static_cast<std::size_t>(std::max(kMinWidth, message_width())) - 1;
  const std::size_t whole = line(kProgressBar).size();
  const int less = whole > room ? static_cast<int>(whole - room) : 0;
  const int bar = std::max(kMinBar, kProgressBar - less);
  *session_.bars << kWipe << line(bar).substr(0, room) << std::flush;
  drawn_ = now;
  visible_ = true;
}

}  // namespace foretell
