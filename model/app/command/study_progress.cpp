#include "model/app/command/study_progress.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/render/si_format.hpp"

namespace foretell {
namespace {

constexpr double kLogInterval = 10;  // s

double as_number(std::uint64_t count) { return static_cast<double>(count); }

}  // namespace

StudyProgress::StudyProgress(const Session& session, const std::string& log, bool kept)
    : progress_(session, "sweeping"), kept_(kept) {
  if (!log.empty()) log_ = std::make_unique<OutputFile>(log, OutputFile::Writing::kInPlace);
}

double StudyProgress::elapsed() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void StudyProgress::update(const StudyCounts& counts) {
  if (is_first_) {
    before_ = counts.done;
    progress_.begin_at(as_number(before_) / std::max(1.0, as_number(counts.points)));
  }
  is_first_ = false;
  const double rate = as_number(counts.done - before_) / std::max(elapsed(), 1e-9);
  progress_.update(as_number(counts.done) / std::max(1.0, as_number(counts.points)),
                   fmt::format(", {} points/s, {} failed ", plain_format(rate), counts.failed));
  if (log_ != nullptr && elapsed() - logged_ >= kLogInterval) write_line(counts);
}

void StudyProgress::failed(std::uint64_t number, const std::string& why) {
  if (log_ == nullptr) return;
  std::string line = why;
  std::replace(line.begin(), line.end(), '\n', ' ');
  log_->write(fmt::format("{:.1f} s: point {} failed: {}\n", elapsed(), number, line));
}

void StudyProgress::finish(const StudyCounts& counts) {
  if (log_ == nullptr) return;
  write_line(counts);
  log_->finish();
}

void StudyProgress::write_line(const StudyCounts& counts) {
  logged_ = elapsed();
  const double rate = as_number(counts.done - before_) / std::max(logged_, 1e-9);
  log_->write(fmt::format("{:.1f} s: {}, {} points/s\n", logged_, counts_text(counts, kept_),
                          plain_format(rate)));
  log_->flush();
}

std::string counts_text(const StudyCounts& counts, bool kept) {
  std::string text = fmt::format("{} of {} points {}", count_format(as_number(counts.done)),
                                 count_format(as_number(counts.points)), kept ? "stored" : "done");
  const auto add = [&text](std::uint64_t count, const char* what) {
    if (count > 0) text += fmt::format(", {} {}", count_format(as_number(count)), what);
  };
  add(counts.computed, "computed now");
  add(counts.reused, "known before");
  add(counts.skipped, "skipped by constraints");
  add(counts.failed, "failed");
  return text;
}

}  // namespace foretell
