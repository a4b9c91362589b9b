#include "model/app/tables/serve_many.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/app/request/outcome_tag.hpp"
#include "model/app/serving/request/worker_machine.hpp"
#include "model/app/workers/worker_pool.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr char kRefused = '-';

// Requests with equal keys are served by equal machines.
std::string machine_key(const ServeRequest& request) {
  const Request& machine = request.machine;
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", machine.system, machine.workload,
                     machine.dtype, machine.kv_dtype, machine.tp, machine.pp, request.prefill,
                     request.decode);
}

ServedLine line_from(const std::string& line) {
  if (line.empty()) return {"", "internal error: a worker sent nothing"};
  if (line.front() != kGoodTag) return {"", line.substr(1)};
  return {line.substr(1), ""};
}

}  // namespace

std::vector<ServedLine> serve_many(
    const std::vector<ServeRequest>& requests, const Predictor& predict, int jobs,
    const std::function<std::string(std::size_t, const ServeSummary&)>& line_of,
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
          std::string line;
          try {
            line = kGoodTag + line_of(i, serve(pool, requests[i]).record.summary);
          } catch (const std::exception& error) {
            line = kRefused + std::string(error.what());
          }
          std::replace(line.begin(), line.end(), '\n', ' ');
          text += line + '\n';
        }
        return text;
      },
      [&](std::size_t done) {
        if (progress) progress(static_cast<double>(done) / static_cast<double>(groups.size()));
      });
  std::vector<ServedLine> served(requests.size());
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const std::vector<std::string> lines = split(outcomes[group].text, '\n');
    for (std::size_t i = 0; i < groups[group].size(); ++i) {
      served[groups[group][i]] = outcomes[group].finished
                                     ? line_from(lines.at(i))
                                     : ServedLine{"", "internal error: " + outcomes[group].text};
    }
  }
  return served;
}

}  // namespace foretell
