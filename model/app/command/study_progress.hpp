// How far a study is: a bar on a terminal, and a log for batch jobs.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "model/app/study/what_if/study_run.hpp"
#include "model/app/terminal/progress.hpp"
#include "reports/record/text_file.hpp"

namespace foretell {

class StudyProgress {
 public:
  // `log`: a file that gets a line every ten seconds and one per failed point; "" for none.
  // UserError when it cannot be written.
  // `kept`: in a store.
  StudyProgress(const Session& session, const std::string& log, bool kept);

  void update(const StudyCounts& counts);
  void failed(std::uint64_t number, const std::string& why);
  void finish(const StudyCounts& counts);

 private:
  using Clock = std::chrono::steady_clock;
  double elapsed() const;
  void write_line(const StudyCounts& counts);

  Progress progress_;
  bool kept_;
  std::unique_ptr<OutputFile> log_;
  Clock::time_point start_ = Clock::now();
  double logged_ = 0;         // seconds after the start
  std::uint64_t before_ = 0;  // points that were stored when it started
  bool is_first_ = true;
};

// "312 of 10,000 points stored, 300 computed now, 2 failed"; "done" where nothing is kept.
std::string counts_text(const StudyCounts& counts, bool kept);

}  // namespace foretell
