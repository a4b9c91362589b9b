#include "model/app/request/prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/app/request/control_prediction.hpp"
#include "model/app/request/family/device_family.hpp"
#include "model/app/request/length_cases.hpp"
#include "model/app/request/memory_check.hpp"
#include "model/app/request/parallel_predict.hpp"
#include "model/app/request/pipeline_prediction.hpp"
#include "model/app/request/record/mixed_record.hpp"
#include "model/app/request/resolve/resolved_workload.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

using PredictMany = std::function<std::vector<RunRecord>(const std::vector<Request>&)>;

// Where the copies are not stated, as many as the memory holds.
RunRecord predict_one(const DeviceFamily& family, const Request& request) {
  if (request.dp > 0) return family.predict(request);
  try {
    return family.predict(request);
  } catch (const TooManyCopies& many) {
    Request fewer = request;
    fewer.dp = many.fitting();
    RunRecord record = family.predict(fewer);
    const std::string text =
        fmt::format("copies not stated: {} taken, which fit the memory; there is room to run {}",
                    many.fitting(), many.copies());
    for (std::vector<std::string>* notes : {&record.context.notes, &record.context.unstated})
      notes->insert(notes->begin(), text);
    return record;
  }
}

RunRecord predict_fixed(const Request& request) {
  const DeviceFamily& family = family_of(request.system);
  const std::vector<ControlStep> steps = control_flow_of(request);
  if (!steps.empty()) {
    return predict_control_flow(request, steps, family.branch_time(request),
                                [&family](const Request& part) { return family.predict(part); });
  }
  if (!request.branches.empty() || !request.trips.empty()) {
    throw UserError(request.workload + ": has neither branches nor loops; leave --" +
                    (request.branches.empty() ? "trips" : "branch") + " out");
  }
  if (!is_pipeline(request)) return predict_one(family, request);
  if (request.phase == "train-step") {
    throw UserError(request.workload +
                    ": is a pipeline of networks, which are not trained together; name one of them "
                    "(`foretell show` lists them), or leave --phase out");
  }
  return predict_pipeline(request, [&family](const Request& part) { return family.predict(part); });
}

BucketRule bucket_rule(const Request& request) {
  const DeviceFamily& family = family_of(request.system);
  return {family.fixes_shapes(), family.smallest_bucket(request)};
}

// Before any work: the shortest and the longest call have to be possible.
void check_ends(const Request& request, const LengthCases& cases) {
  for (const auto* calls : {&cases.dynamic, &cases.padded}) {
    for (const LengthCase* end : {&calls->front(), &calls->back()}) {
      ResolvedWorkload resolved;
      resolve_workload(with_lengths(request, *end), "fp32", resolved);
      if (resolved.request.input_len == 0) check_binding(resolved.model, binding_of(resolved));
    }
  }
}

// Calls of the request as predicted, one per different set of lengths.
class LengthMixture {
 public:
  LengthMixture(const Request& request, const PredictMany& predict)
      : request_(request), cases_(length_cases(request, bucket_rule(request))) {
    check_ends(request, cases_);
    std::vector<Request> requests;
    for (const auto* cases : {&cases_.dynamic, &cases_.padded}) {
      for (const LengthCase& each : *cases) {
        if (!index_.try_emplace(each.lengths, requests.size()).second) continue;
        requests.push_back(with_lengths(request, each));
      }
    }
    records_ = predict(requests);
  }

  // `representative`: all of the record of the call of median length.
  RunRecord record(const Predictor& predict) const {
    const std::vector<WeightedRecord> mixed = weighted(cases_.of_mode());
    const LengthCase& median = median_case();
    Request whole = with_lengths(request_, median);
    whole.trace_file = request_.trace_file;
    RunRecord record = predict(whole);
    set_scenario(record.context.scenario);
    record.context.notes.push_back("operators and resources are those of the median call: " +
                                   to_text(median));
    if (request_.shapes.empty()) {
      const char* text =
          cases_.pads ? "shapes not stated: padded to buckets, as the vendor's compiler needs it"
                      : "shapes not stated: every length runs as it is";
      record.context.notes.emplace_back(text);
      record.context.unstated.emplace_back(text);
    }
    mix_summaries(mixed, record);
    add_padding(*record.summary.distribution);
    check_record(record);
    return record;
  }

 private:
  const RunRecord& record_of(const LengthCase& lengths) const {
    return records_[index_.at(lengths.lengths)];
  }

  std::vector<WeightedRecord> weighted(const std::vector<LengthCase>& cases) const {
    std::vector<WeightedRecord> records;
    for (const LengthCase& each : cases) records.push_back({each.probability, &record_of(each)});
    return records;
  }

  double expected_call(const std::vector<LengthCase>& cases) const {
    double sum = 0;
    for (const LengthCase& each : cases) sum += each.probability * record_of(each).summary.call_s;
    return sum;
  }

  const LengthCase& median_case() const {
    std::vector<const LengthCase*> sorted;
    for (const LengthCase& each : cases_.of_mode()) sorted.push_back(&each);
    std::stable_sort(sorted.begin(), sorted.end(), [this](const auto* a, const auto* b) {
      return record_of(*a).summary.call_s < record_of(*b).summary.call_s;
    });
    double sum = 0;
    for (const LengthCase* each : sorted) {
      sum += each->probability;
      if (sum >= 0.5) return *each;
    }
    return *sorted.back();
  }

  void set_scenario(Scenario& scenario) const {
    scenario.distributions = request_.distributions;
    if (request_.distributions.count("seq") > 0) scenario.seq_len = 0;
    if (request_.distributions.count("input-len") > 0) scenario.input_len = 0;
    if (request_.distributions.count("output-len") > 0) scenario.output_len = 0;
    if (request_.distributions.count("image-size") > 0) scenario.image_size = 0;
    scenario.shapes = cases_.pads ? "buckets" : "dynamic";
    const bool stated = request_.shapes.find(':') != std::string::npos;
    if (stated) scenario.shapes = std::string(trim(request_.shapes));
  }

  void add_padding(DistributionRecord& distribution) const {
    if (cases_.buckets.empty()) return;
    PaddingRecord padding;
    padding.buckets = cases_.buckets;
    padding.dynamic_call_s = expected_call(cases_.dynamic);
    padding.buckets_call_s = expected_call(cases_.padded);
    padding.overhead = padding.buckets_call_s / padding.dynamic_call_s;
    padding.padding_share = std::clamp(cases_.padding_share, 0.0, 1.0);
    distribution.padding.push_back(std::move(padding));
  }

  const Request& request_;
  LengthCases cases_;
  std::map<std::map<std::string, std::int64_t>, std::size_t> index_;
  std::vector<RunRecord> records_;
};

}  // namespace

RunRecord predict(const Request& request) {
  check_request(request);
  if (!has_length_cases(request)) return predict_fixed(request);
  const auto one_by_one = [](const std::vector<Request>& requests) {
    std::vector<RunRecord> records;
    for (const Request& each : requests) records.push_back(predict(each));
    return records;
  };
  return LengthMixture(request, one_by_one).record(predict);
}

RunRecord predict_in_parallel(const Predictor& predict, const Request& request, int jobs,
                              const std::function<void(double)>& progress) {
  if (!has_length_cases(request)) return predict(request);
  check_request(request);
  const auto in_parallel = [&](const std::vector<Request>& requests) {
    std::vector<PredictionOutcome> outcomes =
        predict_all(predict, requests, jobs, Detail::kSummary, progress);
    std::vector<RunRecord> records;
    for (PredictionOutcome& outcome : outcomes) {
      FORETELL_CHECK(!outcome.is_ours, outcome.error);
      if (!outcome.record) throw UserError(outcome.error);
      records.push_back(std::move(*outcome.record));
    }
    return records;
  };
  return LengthMixture(request, in_parallel).record(predict);
}

}  // namespace foretell
