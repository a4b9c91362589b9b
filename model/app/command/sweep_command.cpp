#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "model/app/command/commands.hpp"
#include "model/app/request/parallel_predict.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/study/search/front_search.hpp"
#include "model/app/study/what_if/served_point.hpp"
#include "model/app/study/what_if/study_check.hpp"
#include "model/app/study/what_if/study_run.hpp"
#include "model/app/study/what_if/study_table.hpp"
#include "model/app/terminal/options.hpp"
#include "model/app/terminal/output.hpp"
#include "model/app/terminal/progress.hpp"
#include "model/app/terminal/request_options.hpp"
#include "model/app/workers/stop_signals.hpp"
#include "model/base/errors.hpp"
#include "reports/record/text_file.hpp"
#include "reports/render/energy_text.hpp"
#include "reports/render/si_format.hpp"

namespace foretell {
namespace {

constexpr double kLogInterval = 10;  // s

double as_number(std::uint64_t count) { return static_cast<double>(count); }

// "312 of 10,000 points stored, 300 computed now, 2 failed"; "done" where nothing is kept.
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

// How far a study is: a bar on a terminal, and a log for batch jobs.
class StudyProgress {
 public:
  // `log`: a file that gets a line every ten seconds and one per failed point; "" for none.
  // UserError when it cannot be written.
  // `kept`: in a store.
  StudyProgress(const Session& session, const std::string& log, bool kept)
      : progress_(session, "sweeping"), kept_(kept) {
    if (!log.empty()) log_ = std::make_unique<OutputFile>(log, OutputFile::Writing::kInPlace);
  }

  void update(const StudyCounts& counts) {
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

  void failed(std::uint64_t number, const std::string& why) {
    if (log_ == nullptr) return;
    std::string line = why;
    std::replace(line.begin(), line.end(), '\n', ' ');
    log_->write(fmt::format("{:.1f} s: point {} failed: {}\n", elapsed(), number, line));
  }

  void finish(const StudyCounts& counts) {
    if (log_ == nullptr) return;
    write_line(counts);
    log_->finish();
  }

 private:
  using Clock = std::chrono::steady_clock;

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  void write_line(const StudyCounts& counts) {
    logged_ = elapsed();
    const double rate = as_number(counts.done - before_) / std::max(logged_, 1e-9);
    log_->write(fmt::format("{:.1f} s: {}, {} points/s\n", logged_, counts_text(counts, kept_),
                            plain_format(rate)));
    log_->flush();
  }

  Progress progress_;
  bool kept_;
  std::unique_ptr<OutputFile> log_;
  Clock::time_point start_ = Clock::now();
  double logged_ = 0;         // seconds after the start
  std::uint64_t before_ = 0;  // points that were stored when it started
  bool is_first_ = true;
};

constexpr double kMaxTask = 1e6;  // s
constexpr std::int64_t kMaxShown = 1'000'000;
constexpr int kSignalled = 128;  // + signal: the exit code of what a signal ended, by convention

struct SweepOptions {
  std::string study;
  std::string store = ":memory:";
  std::string jobs;
  std::string time_limit = "300";
  std::string log;
  std::string top = "30";
  bool resume = false;
  RequestOptions request;  // what every point has, too
  OutputOptions output;
};

// Gives the numbers of a study that are not stored yet.
class OpenNumbers {
 public:
  OpenNumbers(std::uint64_t points, std::vector<std::uint64_t> finished)
      : points_(points), finished_(std::move(finished)) {}

  std::size_t finished() const { return finished_.size(); }

  bool next(std::uint64_t& number) {
    for (; at_ < finished_.size() && finished_[at_] == number_; ++at_) ++number_;
    if (number_ >= points_) return false;
    number = number_++;
    return true;
  }

 private:
  std::uint64_t points_;
  std::vector<std::uint64_t> finished_;  // in order
  std::size_t at_ = 0;
  std::uint64_t number_ = 0;
};

class SweepCommand {
 public:
  SweepCommand(const SweepOptions& options, const Session& session)
      : options_(options),
        session_(session),
        study_(load_study(options.study, stated_keys(options.request))),
        top_(static_cast<std::size_t>(parse_count("--top", options.top, 1, kMaxShown))),
        format_(parse_format(options.output.format)) {
    leave_out_unknown_cost(study_);
  }

  int run() {
    const double limit = parse_positive("--time-limit", options_.time_limit, kMaxTask);
    const bool alone = !session_.cluster;
    const int jobs = alone || !options_.jobs.empty() ? parse_jobs(options_.jobs) : 1;
    if (options_.resume && options_.store == SweepOptions().store)
      throw UserError("--resume needs the store that the study began in: --store FILE");
    check_study(study_, defaults_);
    basis_ = study_basis();
    const StopSignals signals;
    WorkerGroup workers(
        [this](std::uint64_t number) { return answer_point(study_, defaults_, predict_, number); },
        jobs, limit);
    const std::unique_ptr<Cluster> cluster = alone ? nullptr : session_.cluster();
    if (cluster != nullptr && cluster->rank() != 0) {
      serve_sweep(workers, *cluster);
      return kSuccess;
    }
    return coordinate(workers, cluster.get());
  }

 private:
  int coordinate(WorkerGroup& workers, Cluster* cluster) {
    SweepRunner runner(workers, cluster);  // first: whatever fails releases the other ranks
    OutputFile output(options_.output.output);
    StudyStore store(options_.store, StoreAccess::kWrite);
    const StudyHead head = begin(store);
    const bool kept = options_.store != SweepOptions().store;
    StudyProgress progress(session_, options_.log, kept);
    StudyRun study_run(study_, basis_, defaults_, store, head);
    study_run.on_progress([&](const StudyCounts& counts) { progress.update(counts); });
    study_run.on_failure(
        [&](std::uint64_t number, const std::string& why) { progress.failed(number, why); });
    if (study_.search) {
      search(runner, study_run);
    } else {
      OpenNumbers numbers(head.points, store.finished(head));
      study_run.counts().points = head.points;
      study_run.counts().done = study_run.counts().reused = numbers.finished();
      run_all(runner, study_run, [&](std::uint64_t& number) { return numbers.next(number); });
    }
    progress.finish(study_run.counts());
    session_.say("foretell: " + counts_text(study_run.counts(), kept));
    if (StopSignals::received() != 0) {
      session_.say("foretell: stopped; the same command goes on with the rest");
      return kSignalled + StopSignals::received();
    }
    const StudyResults results = study_results(store, head);
    deliver(store, results, output);
    return results.failed > 0 ? kOutsideTolerance : kSuccess;
  }

  static void run_all(SweepRunner& runner, StudyRun& study_run,
                      const std::function<bool(std::uint64_t&)>& next) {
    const auto stop = [] { return StopSignals::received() != 0; };
    runner.run([&](std::size_t most) { return study_run.plan(next, most, stop); },
               [&](const std::vector<TaskAnswer>& answers) { study_run.store(answers); }, stop);
    study_run.flush();
  }

  // The points that the search asks for; those that are stored cost nothing, so that a search that
  // was stopped takes the same way again.
  void search(SweepRunner& runner, StudyRun& study_run) const {
    FrontSearch search;
    for (const StudyAxis& axis : study_.axes) search.sizes.push_back(axis.rows.size());
    search.objectives = study_.objectives.size();
    search.evaluations =
        std::min(static_cast<std::uint64_t>(study_.search->evaluations), study_.points());
    search.seed = study_.search->seed;
    study_run.counts().points = search.evaluations;
    std::map<std::uint64_t, std::vector<double>> known;
    study_run.on_row([&](std::uint64_t number, const std::vector<double>& objectives) {
      std::vector<double>& costs = known[number] = objectives;
      for (std::size_t d = 0; d < costs.size(); ++d) {
        if (study_.objectives[d].maximise) costs[d] = -costs[d];
      }
    });
    search.evaluate = [&](const std::vector<GridPoint>& points) {
      std::vector<std::uint64_t> numbers;
      for (const GridPoint& point : points) numbers.push_back(point_number(study_, point));
      std::size_t at = 0;
      run_all(runner, study_run, [&](std::uint64_t& number) {
        if (at == numbers.size()) return false;
        number = numbers[at++];
        return true;
      });
      std::vector<std::vector<double>> objectives;
      if (StopSignals::received() != 0) return objectives;
      for (const std::uint64_t number : numbers) objectives.push_back(known.at(number));
      return objectives;
    };
    search_front(search);
  }

  StudyHead begin(StudyStore& store) {
    bool is_new = false;
    const StudyHead wanted = study_head(study_, basis_);
    if (options_.resume) {
      const std::vector<StudyHead> known = store.studies();
      if (std::none_of(known.begin(), known.end(),
                       [&](const StudyHead& head) { return head.hash == wanted.hash; })) {
        throw UserError(options_.store + ": holds nothing of this study as it is now (" +
                        study_.name +
                        "); it or the program has changed, or it is another store. Without "
                        "--resume the study starts, and equal points are not computed again");
      }
    }
    return store.begin(wanted, is_new);
  }

  void deliver(const StudyStore& store, const StudyResults& results, OutputFile& output) const {
    if (format_ == Format::kTable) {
      std::string text = study_text(results, top_, session_.result_width);
      if (options_.output.energy) text += front_energies(results);
      output.write(as_shown(options_.output.output, text));
    } else if (format_ == Format::kJson) {
      output.write(study_json_lines(store, results));
    } else if (format_ == Format::kMarkdown) {
      output.write(study_markdown(results));
    } else {
      output.write(rows_text(study_rows(store, results), format_));
    }
    output.finish();
  }

  std::string front_energies(const StudyResults& results) const {
    std::vector<RunRecord> records;
    for (const StudyRow& row : results.front) {
      if (records.size() < top_) records.push_back(*row.result.record);
    }
    return records.empty() ? "" : energies_text(records, session_.result_width);
  }

  const SweepOptions& options_;
  const Session& session_;
  Study study_;
  const Predictor predict_ = with_services(session_.predict);
  std::size_t top_;
  Format format_;
  DefaultValue defaults_ = ParameterDefaults();
  std::string basis_;
};

}  // namespace

void add_sweep_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<SweepOptions>();
  CLI::App* command = app.add_subcommand("sweep", "Run a what-if study: many design points");
  command->footer(
      "Examples:\n"
      "  foretell sweep workloads/scenarios/bandwidth-or-clock.yaml --store studies.sqlite\n"
      "  mpirun -n 4 foretell sweep study.yaml --store studies.sqlite\n"
      "Every point is stored as soon as it is done. A study that was stopped goes on when the "
      "same\n"
      "command is given again; docs/studies.md says how a study is written.");
  command->add_option("study", options->study, "the study, a YAML file; - is standard input")
      ->required();
  add_option(*command, "--store", options->store, "FILE",
             "SQLite file for the points; without it nothing is kept");
  add_option(*command, "--jobs", options->jobs, "N",
             "processes (default: one per processor; under mpirun one per rank)");
  add_option(*command, "--time-limit", options->time_limit, "S",
             "seconds that a point may take (default: 300)");
  command->add_flag("--resume", options->resume,
                    "go on with a study that is in the store, and only with one that is");
  add_option(*command, "--log", options->log, "FILE",
             "write progress and failures to this file, for batch jobs");
  add_option(*command, "--top", options->top, "N",
             "rows of the Pareto front to show (default: 30)");
  add_field_options(*command, options->request, {"power-limit"});
  add_format_option(*command, options->output);
  add_energy_option(*command, options->output);
  set_action(*command, session,
             [options, &session] { return SweepCommand(*options, session).run(); });
}

}  // namespace foretell
