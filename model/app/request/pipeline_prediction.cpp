#include "model/app/request/pipeline_prediction.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/app/request/device_family.hpp"
#include "model/app/request/energy_record.hpp"
#include "model/app/request/intervals.hpp"
#include "model/base/errors.hpp"
#include "model/predict/queueing.hpp"
#include "workloads/import/workload.hpp"

namespace foretell {
namespace {

constexpr int kCoresPerGuidedCopy = 2;  // one with the text, one without

struct PartPrediction {
  const PipelinePart* part = nullptr;
  RunRecord record;

  double seconds() const { return static_cast<double>(part->calls) * record.summary.call_s; }
};

void check_pipeline_options(const Request& request) {
  const auto refuse = [&](bool given, const char* option, const char* why) {
    if (given) throw UserError(fmt::format("{}: {} {}", request.workload, option, why));
  };
  refuse(request.seq_len > 0 || request.input_len > 0, "--seq, --input-len and --output-len",
         "are about single networks");
  refuse(request.tp > 1 || request.pp > 1, "--tp and --pp", "are about single networks");
  refuse(!request.trace_file.empty(), "--trace", "is about single networks: name one of its parts");
}

int cores_of(const Request& request) {
  if (request.cores > 0) return request.cores;
  Request bare;
  bare.system = request.system;
  return family_of(request.system).sheet(bare).parts;
}

class PipelinePrediction {
 public:
  PipelinePrediction(const Request& request, const Predictor& predict_part)
      : request_(request),
        predict_part_(predict_part),
        model_(WorkloadLibrary().load(request.workload)),
        splits_(family_of(request.system).fixes_shapes()) {
    check_pipeline_options(request);
    if (splits_)
      copies_ = request.dp > 0 ? request.dp : std::max(1, cores_of(request) / kCoresPerGuidedCopy);
  }

  RunRecord run() {
    for (const PipelinePart& part : model_.parts)
      parts_.push_back({&part, predict_part_(request_of(part))});
    const auto longest = std::max_element(
        parts_.begin(), parts_.end(),
        [](const PartPrediction& a, const PartPrediction& b) { return a.seconds() < b.seconds(); });
    RunRecord record = longest->record;
    const double part_throughput = record.summary.throughput;
    if (!splits_) copies_ = record.context.scenario.dp;
    describe(record.context);
    summarise(record.summary, part_throughput);
    record.operators = operators();
    for (ResourceRecord& resource : record.resources) average(resource);
    return record;
  }

 private:
  Request request_of(const PipelinePart& part) const {
    Request request = request_;
    request.workload = part.workload;
    request.seq_len = part.seq_len;
    request.image_size = size_of(part);
    request.in_flight = 0;
    if (splits_) {
      request.cores = 0;
      request.dp = part.guided ? kCoresPerGuidedCopy * copies_ : copies_;
    } else if (part.guided) {
      request.batch *= 2;
    }
    return request;
  }

  // Of the images that the pipeline makes, for those that know images.
  std::int64_t size_of(const PipelinePart& part) const {
    const bool knows = WorkloadLibrary().load(part.workload).vision.image_size > 0;
    if (!knows) return 0;
    return request_.image_size > 0 ? request_.image_size : model_.vision.image_size;
  }

  Serving serving() const { return {request_.batch, copies_, request_.in_flight}; }

  void describe(RunContext& context) const {
    context.workload = model_.name;
    Scenario& scenario = context.scenario;
    scenario.batch = request_.batch;
    scenario.seq_len = 0;
    scenario.image_size = request_.image_size > 0 ? request_.image_size : model_.vision.image_size;
    scenario.dp = copies_;
    if (splits_) scenario.cores = kCoresPerGuidedCopy * copies_;
    scenario.in_flight = request_.in_flight;
    for (const PartPrediction& part : parts_) {
      for (const std::string& note : part.record.context.notes) {
        const auto& known = context.notes;
        if (std::find(known.begin(), known.end(), note) == known.end())
          context.notes.push_back(note);
      }
      context.notes.push_back(fmt::format("{}: {} x {:.4g} ms", part.part->name, part.part->calls,
                                          part.record.summary.call_s * 1e3));
    }
    context.notes.emplace_back("what the host does between the calls is not part of the time");
  }

  void summarise(RunSummary& summary, double part_throughput) const {
    Interval call{0, 0};
    double seconds = 0;
    FORETELL_CHECK(summary.memory.has_value(), "a prediction without its memory");
    MemoryRecord memory = *summary.memory;
    memory.weights_bytes = 0;
    for (const PartPrediction& part : parts_) {
      const RunSummary& of_part = part.record.summary;
      const auto calls = static_cast<double>(part.part->calls);
      seconds += part.seconds();
      const Interval& interval = of_part.interval80.at("call_s");
      call.low += calls * interval.low;
      call.high += calls * interval.high;
      FORETELL_CHECK(of_part.memory.has_value(), "a prediction without its memory");
      memory.weights_bytes += of_part.memory->weights_bytes;
      memory.activations_bytes =
          std::max(memory.activations_bytes, of_part.memory->activations_bytes);
    }
    summary.call_s = seconds;
    summary.latency_s = client_latency(Seconds(seconds), serving()).value();
    summary.throughput = system_throughput(Seconds(seconds), serving());
    summary.throughput_unit = "images/s";
    const Interval& unmeasured = default_intervals().fallback();  // the host between the calls
    call.low = std::min(call.low, unmeasured.low * seconds);
    call.high = std::max(call.high, unmeasured.high * seconds);
    const Interval ratio{call.low / seconds, call.high / seconds};
    summary.interval80["call_s"] = call;
    summary.interval80["latency_s"] = {ratio.low * summary.latency_s,
                                       ratio.high * summary.latency_s};
    summary.interval80["throughput"] = {summary.throughput / ratio.high,
                                        summary.throughput / ratio.low};
    const double dearer = part_throughput / summary.throughput;
    if (summary.cost_usd_per_million) *summary.cost_usd_per_million *= dearer;
    for (auto& [option, cost] : summary.costs_usd_per_million) cost *= dearer;
    std::vector<CountedCall> calls;
    for (const PartPrediction& part : parts_)
      calls.push_back({static_cast<double>(part.part->calls), &part.record.summary});
    mix_energy(calls, summary);
    // Parts with and without the text are samples of their own; images are what counts.
    if (summary.watts) summary.joules_per_request = *summary.watts / summary.throughput;
    set_memory(memory, summary);
  }

  // The networks stay on the device together; one works at a time.
  void set_memory(const MemoryRecord& memory, RunSummary& summary) const {
    summary.memory = memory;
    summary.memory_used_bytes = memory.weights_bytes + memory.kv_cache_bytes +
                                memory.activations_bytes + memory.inputs_outputs_bytes +
                                memory.runtime_bytes;
    if (summary.memory_used_bytes <= summary.memory_capacity_bytes) return;
    throw UserError(fmt::format(
        "{}: its networks need {:.1f} GiB together, but a device of {} has {:.1f} GiB; lower "
        "--batch or --dp, or take a larger system",
        model_.name, summary.memory_used_bytes / kGiB, request_.system,
        summary.memory_capacity_bytes / kGiB));
  }

  // Of all calls of each network.
  std::vector<OperatorRecord> operators() const {
    std::vector<OperatorRecord> all;
    double start = 0;
    for (const PartPrediction& part : parts_) {
      const auto calls = static_cast<double>(part.part->calls);
      for (OperatorRecord op : part.record.operators) {
        op.name = part.part->name + "." + op.name;
        op.start_s += start;
        op.duration_s *= calls;
        op.flops *= calls;
        op.bytes *= calls;
        all.push_back(std::move(op));
      }
      start += part.seconds();
    }
    return all;
  }

  // Over the time of all calls.
  void average(ResourceRecord& resource) const {
    const std::string path = resource.path;
    double seconds = 0;
    resource = {path, 0, 0, 0};
    for (const PartPrediction& part : parts_) {
      seconds += part.seconds();
      for (const ResourceRecord& one : part.record.resources) {
        if (one.path != path) continue;
        resource.busy += one.busy * part.seconds();
        resource.stalled += one.stalled * part.seconds();
        resource.bytes += one.bytes * static_cast<double>(part.part->calls);
      }
    }
    resource.busy /= seconds;
    resource.stalled /= seconds;
  }

  const Request& request_;
  const Predictor& predict_part_;
  ModelConfig model_;
  bool splits_;
  int copies_ = 1;
  std::vector<PartPrediction> parts_;
};

}  // namespace

bool is_pipeline(const Request& request) {
  return WorkloadLibrary().load(request.workload).family == Family::kPipeline;
}

RunRecord predict_pipeline(const Request& request, const Predictor& predict_part) {
  return PipelinePrediction(request, predict_part).run();
}

}  // namespace foretell
