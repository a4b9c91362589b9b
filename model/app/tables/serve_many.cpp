#include "model/app/tables/serve_many.hpp"

#include <fmt/format.h>

#include <map>

#include "model/app/serving/request/worker_machine.hpp"
#include "model/app/workers/worker_pool.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

// Requests with equal keys are served by equal machines.
std::string machine_key(const ServeRequest& request) {
  const Request& machine = request.machine;
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", machine.system, machine.workload,
                     machine.dtype, machine.kv_dtype, machine.tp, machine.pp, request.prefill,
                     request.decode);
}

}  // namespace

std::vector<RowPrediction> serve_many(
    const std::vector<ServeRequest>& requests, const Predictor& predict, int jobs,
    const std::function<RowPrediction(std::size_t, const ServeSummary&)>& prediction_of,
    const std::function<void(double)>& progress) {
  std::map<std::string, std::vector<std::size_t>> by_machine;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    by_machine[machine_key(requests[i])].push_back(i);
  }
  std::vector<std::vector<std::size_t>> groups;
  for (auto& entry : by_machine) groups.push_back(std::move(entry.second));
  const auto outcomes = run_forked(
      groups.size(), jobs,
      [&](std::size_t group) {
        MachinePool pool(predict);
        std::string text;
        for (const std::size_t i : groups[group]) {
          RowPrediction prediction;
          try {
            const ServeRecord record = serve(pool, requests[i]).record;
            prediction = prediction_of(i, record.summary);
            const std::string& like = record.context.likeness;
            if (!like.empty())
              prediction.note = like + (prediction.note.empty() ? "" : "; ") + prediction.note;
          } catch (const std::exception& error) {
            prediction.error = error.what();
          }
          text += prediction_line(prediction) + '\n';
        }
        return text;
      },
      [&](std::size_t done) {
        if (progress) progress(static_cast<double>(done) / static_cast<double>(groups.size()));
      });
  std::vector<RowPrediction> served(requests.size());
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const std::vector<std::string> lines = split(outcomes[group].text, '\n');
    for (std::size_t i = 0; i < groups[group].size(); ++i) {
      if (outcomes[group].stopped) {
        served[groups[group][i]] = open_row();
        continue;
      }
      served[groups[group][i]] = outcomes[group].finished
                                     ? prediction_of_line(lines.at(i))
                                     : RowPrediction{{}, "internal error: " + outcomes[group].text};
    }
  }
  return served;
}

}  // namespace foretell
