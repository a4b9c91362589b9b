#include "model/app/api/run_request.hpp"

#include "model/app/terminal/request_options.hpp"
#include "model/app/workers/worker_pool.hpp"
#include "model/base/errors.hpp"
#include "reports/record/run_record.hpp"
#include "reports/record/summary.hpp"

namespace foretell::api {

Record::Record(RunRecord whole) : record_(std::make_shared<const RunRecord>(std::move(whole))) {}

std::optional<double> Record::number(const std::string& name) const {
  const SummaryMetric* metric = find_metric(name);
  if (metric != nullptr) return value_of(*metric, record_->summary);
  std::vector<std::string> names;
  for (const SummaryMetric& each : summary_metrics()) names.emplace_back(each.field);
  throw Error(2, unknown_name("number", name, names).what());
}

const std::string& Record::bottleneck() const { return record_->summary.bottleneck; }

std::string Record::json() const { return to_json(*record_); }

Record run_request(const Request& request, const Predictor& predictor,
                   const std::function<void(double)>& progress) {
  const std::vector<foretell::Request> asked = requests(request);
  if (asked.size() != 1) {
    throw UserError(std::to_string(asked.size()) +
                    " combinations of systems, data types and sizes; run takes one, compare all");
  }
  const auto show = progress ? progress : [](double) {};
  return Record(predict_in_parallel(predictor, asked.front(), default_jobs(), show));
}

}  // namespace foretell::api
