#include "model/app/command/calibrate/parallel_fit.hpp"

#include <exception>

#include "model/app/request/parallel_predict.hpp"
#include "model/app/terminal/progress.hpp"
#include "model/app/workers/worker_pool.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr char kGood = '+';
constexpr char kMistake = '?';  // of the user
constexpr char kBug = '!';

}  // namespace

std::vector<std::string> fit_all(std::size_t count, const std::string& jobs, const Session& session,
                                 const std::function<std::string(std::size_t)>& fit) {
  Progress progress(session, "fitting");
  const auto task = [&fit](std::size_t i) {
    try {
      return kGood + fit(i);
    } catch (const UserError& error) {
      return kMistake + std::string(error.what());
    } catch (const std::exception& error) {
      return kBug + std::string(error.what());
    }
  };
  const auto outcomes = run_forked(count, parse_jobs(jobs), task, [&](std::size_t done) {
    progress.update(static_cast<double>(done) / static_cast<double>(count));
  });
  std::vector<std::string> texts;
  for (const TaskOutcome& outcome : outcomes) {
    if (!outcome.finished) throw InternalError(__FILE__, __LINE__, outcome.text);
    const std::string text = outcome.text.substr(1);
    if (outcome.text.front() == kMistake) throw UserError(text);
    if (outcome.text.front() == kBug) throw InternalError(__FILE__, __LINE__, text);
    texts.push_back(text);
  }
  return texts;
}

}  // namespace foretell
