#include "model/app/tables/kinds/engine_rows.hpp"

#include <algorithm>
#include <memory>
#include <string_view>

#include "calib/validate/table_kind.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/app/request/family/device_family.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"
#include "workloads/import/hf/config/network_facts.hpp"

namespace foretell {
namespace {

constexpr double kMsPerSecondOfService = 1e3;
constexpr const char* kTokenColumn = "tpot_ms";

struct EngineFigure {
  const char* column;    // that is added
  const char* measured;  // that its interval belongs to
  const char* interval;  // of the record
};
constexpr EngineFigure kEngineFigures[] = {
    {"pred_call_ms", "call_ms", "e2e_s.mean"},
    {"pred_ttft_ms", "ttft_ms", "ttft_s.mean"},
    {"pred_tpot_ms", "tpot_ms", "tpot_s.mean"},
    {"pred_throughput", "throughput", "output_tokens_per_s"},
};

double value_of(std::size_t i, const ServeSummary& summary) {
  const double values[] = {
      summary.duration_s * kMsPerSecondOfService, summary.ttft_s.mean * kMsPerSecondOfService,
      summary.tpot_s.mean * kMsPerSecondOfService, summary.output_tokens_per_s};
  return values[i];
}

// As many times the value as the record's interval is of the record's mean.
Interval interval_of(std::size_t i, const ServeSummary& summary) {
  const Interval& stated = summary.interval80.at(kEngineFigures[i].interval);
  const double means[] = {summary.e2e_s.mean, summary.ttft_s.mean, summary.tpot_s.mean,
                          summary.output_tokens_per_s};
  const double scale = means[i] > 0 ? value_of(i, summary) / means[i] : 0;
  return {stated.low * scale, stated.high * scale};
}

// For every token the devices of a worker together read the weights that a token is multiplied with
// and the keys and values of all prompts, at the published rate of their memories. 0 where it is
// not a GPU, and for networks that are no decoder.
double least_call_ms(const ServeRequest& request) {
  Request machine = request.machine;
  machine.batch = request.offline;
  machine.input_len = static_cast<std::int64_t>(written_number(request.input_len));
  machine.output_len = static_cast<std::int64_t>(written_number(request.output_len));
  if (!gpu_family().has_system(machine.system)) return 0;
  const std::unique_ptr<ResolvedDevice> device = gpu_family().resolve(machine);
  const ResolvedWorkload& asked = device->workload();
  if (asked.model.family != Family::kDecoder) return 0;
  const NetworkFacts facts = facts_of(asked.model, asked.precision);
  const double prompts =
      static_cast<double>(machine.batch * machine.input_len) / std::max(1, request.dp);
  const Bytes read = facts.active_bytes + Bytes(facts.kv_bytes_per_token * prompts);
  const BytesPerSecond rate = GpuCatalog().load(machine.system).spec.device.hbm.bandwidth *
                              (std::max(1, machine.tp) * std::max(1, machine.pp));
  return static_cast<double>(machine.output_len) * (read / rate).value() * kMsPerSecondOfService;
}

}  // namespace

ServeRequest generation_by(const std::string& engine, const Request& request) {
  ServeRequest service;
  service.engine = engine;
  Request& machine = service.machine;
  machine = request;
  service.offline = request.batch > 0 ? request.batch : 1;
  service.one_batch = true;
  service.input_len = std::to_string(request.input_len);
  service.output_len = std::to_string(request.output_len);
  service.dp = request.dp;
  machine.batch = machine.input_len = machine.output_len = 0;
  machine.dp = 0;
  machine.launch.clear();
  machine.clock.clear();
  return service;
}

RowPrediction generation_prediction(const ServeRequest& request, const ServeSummary& summary) {
  RowPrediction prediction;
  prediction.parts = summary.binds;
  prediction.least_call_ms = least_call_ms(request);
  const bool has_further = request.output_len != "1";
  for (std::size_t i = 0; i < std::size(kEngineFigures); ++i) {
    const EngineFigure& quantity = kEngineFigures[i];
    if (!has_further && std::string_view(quantity.measured) == kTokenColumn) continue;
    prediction.values[quantity.column] = value_of(i, summary);
    prediction.intervals[quantity.measured] = interval_of(i, summary);
    const std::string measured = quantity.measured;
    if (!ends_with(measured, "_ms")) continue;
    const std::string stem = "pred_" + measured.substr(0, measured.size() - 3);
    prediction.values[stem + "_lo_ms"] = prediction.intervals[measured].low;
    prediction.values[stem + "_hi_ms"] = prediction.intervals[measured].high;
  }
  // The interval of a row with generation is that of the further tokens.
  const Interval& shown = prediction.intervals[has_further ? kTokenColumn : "ttft_ms"];
  prediction.values["pred_lo_ms"] = shown.low;
  prediction.values["pred_hi_ms"] = shown.high;
  const double prompt = written_number(request.input_len);
  const double answer = written_number(request.output_len);
  const double all = (prompt + answer) / answer;
  prediction.values[kThroughputAllTokens] = prediction.values["pred_throughput"] * all;
  const Interval& generated = prediction.intervals["throughput"];
  prediction.values["pred_throughput_lo"] = generated.low;
  prediction.values["pred_throughput_hi"] = generated.high;
  prediction.intervals[kThroughputAllTokens] = {generated.low * all, generated.high * all};
  return prediction;
}

}  // namespace foretell
