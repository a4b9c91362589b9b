#include "model/app/command/report/compute_study.hpp"

#include "model/app/study/sweep/sweep.hpp"
#include "model/app/study/what_if/served_point.hpp"
#include "model/app/study/what_if/study_check.hpp"
#include "model/app/study/what_if/study_run.hpp"
#include "model/app/terminal/progress.hpp"
#include "model/app/workers/worker_group.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr double kMaxPoint = 300;  // s, as in a sweep

}  // namespace

StudyHead compute_study(const Study& study, int jobs, const Session& session, StudyStore& store) {
  if (study.search) {
    throw UserError("study '" + study.name +
                    "' searches; run it with `foretell sweep` and --store FILE, then report that "
                    "file");
  }
  const DefaultValue defaults = ParameterDefaults();
  check_study(study, defaults);
  const std::string basis = study_basis();
  const Predictor predict = with_services(session.predict);
  WorkerGroup workers(
      [&](std::uint64_t number) { return answer_point(study, defaults, predict, number); }, jobs,
      kMaxPoint);
  SweepRunner runner(workers, nullptr);
  bool is_new = false;
  StudyHead head = store.begin(study_head(study, basis), is_new);
  StudyRun run(study, basis, defaults, store, head);
  Progress progress(session, "predicting");
  run.on_progress([&](const StudyCounts& counts) {
    progress.update(static_cast<double>(counts.done) / static_cast<double>(head.points));
  });
  run.counts().points = head.points;
  std::uint64_t open = 0;
  const auto next = [&](std::uint64_t& number) {
    number = open;
    return open++ < head.points;
  };
  const auto never = [] { return false; };
  runner.run([&](std::size_t most) { return run.plan(next, most, never); },
             [&](const std::vector<TaskAnswer>& answers) { run.store(answers); }, never);
  run.flush();
  return head;
}

}  // namespace foretell
