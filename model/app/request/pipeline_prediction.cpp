#include "model/app/request/pipeline_prediction.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/app/request/call_figures.hpp"
#include "model/app/request/family/device_family.hpp"
#include "model/app/request/record/added_notes.hpp"
#include "model/app/request/record/energy_record.hpp"
#include "model/app/request/record/intervals.hpp"
#include "model/base/errors.hpp"
#include "model/predict/queueing.hpp"
#include "workloads/import/hf/diffusion/diffusion_graph.hpp"
#include "workloads/import/hf/diffusion/token_sharing.hpp"
#include "workloads/import/workload.hpp"

namespace foretell {
namespace {

constexpr int kCoresPerGuidedCopy = 2;  // one with the text, one without

struct PartPrediction {
  const PipelinePart* part = nullptr;
  RunRecord record;
  CallFigures figures;  // of the record
  // Of the network for one that the pipeline states: with and without the text, tiles.
  double repeats = 1;

  double calls() const { return static_cast<double>(part->calls) * repeats; }
  Seconds time() const { return calls() * figures.call; }  // of all its calls
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
    check_shared_tokens();
    take_sizes();
    if (splits_)
      copies_ = request.dp > 0 ? request.dp : std::max(1, cores_of(request) / kCoresPerGuidedCopy);
  }

  RunRecord run() {
    for (const PipelinePart& part : model_.parts) {
      RunRecord record = predict_part_(request_of(part));
      const CallFigures figures = figures_of(record.summary);
      parts_.push_back({&part, std::move(record), figures, repeats_of(part)});
    }
    const auto longest = std::max_element(
        parts_.begin(), parts_.end(),
        [](const PartPrediction& a, const PartPrediction& b) { return a.time() < b.time(); });
    RunRecord record = longest->record;
    if (!splits_) {
      const Scenario& scenario = record.context.scenario;
      copies_ = scenario.dp / (scenario.cp > 1 ? 1 : std::max(1, request_.cp));
    }
    describe(record.context);
    CallFigures whole = figures(longest->figures);
    mix_energy(whole, record.summary);
    put_figures(whole, record.summary);
    record.summary.throughput_unit = model_.vision.frames > 1 ? "videos/s" : "images/s";
    record.operators = operators();
    for (ResourceRecord& resource : record.resources) average(resource);
    return record;
  }

 private:
  void check_shared_tokens() const {
    if (family_of(request_.system).name() != "gpu") return;  // its networks refuse it
    if (request_.cp <= 1) {
      if (request_.ring == 0) return;
      throw UserError(model_.name +
                      ": --ring says how the --cp GPUs of a network that removes noise attend; "
                      "give --cp, too");
    }
    check_copies();
    for (const PipelinePart& part : model_.parts)
      if (has_tokens_to_share(WorkloadLibrary().load(part.workload))) return;
    throw UserError(model_.name +
                    ": none of its networks has tokens that --cp divides, as transformers that "
                    "remove noise have; leave it out");
  }

  // Before the networks that each GPU runs by itself count their own.
  void check_copies() const {
    const std::int64_t needed = std::int64_t{std::max(1, request_.dp)} * request_.cp;
    const GpuSystemSpec system = GpuCatalog().load(request_.system).spec;
    if (needed <= system.devices) return;
    throw UserError(fmt::format(
        "{}: --dp {} and --cp {} need {} GPUs, but {} has {}; lower one of them, or name a larger "
        "system",
        model_.name, std::max(1, request_.dp), request_.cp, needed, system.id, system.devices));
  }

  // Those of the request, else those of the pipeline.
  void take_sizes() {
    VisionConfig& sizes = model_.vision;
    if (request_.frames > 1 && sizes.frames == 1)
      throw UserError(model_.name + ": makes images, no videos; leave --frames out");
    if (request_.image_size > 0) {
      sizes.image_size = request_.image_size;
      sizes.image_width = request_.image_size;
    }
    if (request_.image_width > 0) sizes.image_width = request_.image_width;
    if (request_.frames > 0) sizes.frames = request_.frames;
    for (PipelinePart& part : model_.parts)
      if (request_.steps > 0 && part.calls > 1) part.calls = request_.steps;
  }

  // Parts with and without the text are samples of their own; images are what counts.
  void mix_energy(CallFigures& whole, RunSummary& summary) const {
    std::vector<CountedCall> calls;
    for (const PartPrediction& part : parts_)
      calls.push_back(counted_call(part.calls(), part.record.summary));
    foretell::mix_energy(calls, whole, summary);
    if (!whole.energy) return;
    whole.energy->per_request = whole.energy->watts / whole.throughput;
    set_bands(*whole.energy);
  }

  // Calls with and without the text that are apart; of decoders of videos, the tiles of all
  // samples.
  double repeats_of(const PipelinePart& part) const {
    const ModelConfig network = WorkloadLibrary().load(part.workload);
    if (network.diffusion.tiles.pixels > 0)
      return static_cast<double>(request_.batch) * tiles_of_video(network, model_.vision);
    return part.guided && part.one_by_one && !splits_ ? 2 : 1;
  }

  Request request_of(const PipelinePart& part) const {
    Request request = request_;
    request.workload = part.workload;
    request.seq_len = part.seq_len;
    take_sizes_of(part, request);
    request.steps = 0;
    request.in_flight = 0;
    if (splits_) {
      request.cores = 0;
      request.dp = part.guided ? kCoresPerGuidedCopy * copies_ : copies_;
    } else if (part.guided && !part.one_by_one) {
      request.batch *= 2;
    }
    if (request_.cp > 1) share_tokens(part, request);
    return request;
  }

  // GPUs that share the tokens of a sample each run what has none to share, all of it.
  void share_tokens(const PipelinePart& part, Request& request) const {
    if (has_tokens_to_share(WorkloadLibrary().load(part.workload))) return;
    request.cp = request.ring = 0;
    if (request.dp > 0) request.dp *= request_.cp;
  }

  // The sizes of what the pipeline makes, for those parts that know images and videos.
  void take_sizes_of(const PipelinePart& part, Request& request) const {
    const ModelConfig network = WorkloadLibrary().load(part.workload);
    if (network.diffusion.tiles.pixels > 0) {
      request.image_size = request.image_width = request.frames = 0;
      request.batch = 1;
      return;
    }
    const bool images = network.vision.image_size > 0;
    request.image_size = images ? model_.vision.image_size : 0;
    request.image_width = images && network.diffusion.scale > 1 ? model_.vision.image_width : 0;
    request.frames = network.diffusion.frame_scale > 1 ? model_.vision.frames : 0;
  }

  Serving serving() const { return {request_.batch, copies_, request_.in_flight}; }

  void describe(RunContext& context) const {
    context.workload = model_.name;
    Scenario& scenario = context.scenario;
    scenario.batch = request_.batch;
    scenario.seq_len = 0;
    const VisionConfig& sizes = model_.vision;
    scenario.image_size = sizes.image_size;
    scenario.image_width = sizes.image_width == sizes.image_size ? 0 : sizes.image_width;
    scenario.frames = sizes.frames > 1 ? sizes.frames : 0;
    scenario.steps = request_.steps;
    scenario.dp = copies_;
    scenario.cp = request_.cp;
    scenario.ring = request_.ring;
    if (splits_) scenario.cores = kCoresPerGuidedCopy * copies_;
    scenario.in_flight = request_.in_flight;
    for (const PartPrediction& part : parts_) {
      add_new(part.record.context.notes, context.notes);
      add_new(part.record.context.unstated, context.unstated);
      context.notes.push_back(fmt::format("{}: {:.6g} x {:.4g} ms", part.part->name, part.calls(),
                                          part.figures.call.value() * 1e3));
    }
    context.notes.emplace_back("what the host does between the calls is not part of the time");
    if (!model_.left_out.empty())
      context.notes.push_back(model_.left_out + ": takes time, too, and is no part of this");
  }

  // The figures of the pipeline; what no part changes is as in `longest`.
  CallFigures figures(const CallFigures& longest) const {
    CallFigures whole = longest;
    FORETELL_CHECK(longest.memory.has_value(), "a prediction without its memory");
    MemoryUse memory = *longest.memory;
    memory.weights = Bytes(0);
    Band<Seconds> call80;
    whole.call = Seconds(0);
    for (const PartPrediction& part : parts_) {
      const CallFigures& of_part = part.figures;
      whole.call += part.time();
      const Band<Seconds>& band = of_part.times80.at("call_s");
      call80.low += part.calls() * band.low;
      call80.high += part.calls() * band.high;
      FORETELL_CHECK(of_part.memory.has_value(), "a prediction without its memory");
      memory.weights += of_part.memory->weights;
      memory.activations = std::max(memory.activations, of_part.memory->activations);
    }
    whole.latency = client_latency(whole.call, serving());
    whole.throughput = PerSecond(system_throughput(whole.call, serving()));
    const Interval& unmeasured = default_intervals().fallback();  // the host between the calls
    call80.low = std::min(call80.low, unmeasured.low * whole.call);
    call80.high = std::max(call80.high, unmeasured.high * whole.call);
    const double low = call80.low / whole.call;
    const double high = call80.high / whole.call;
    whole.times80["call_s"] = call80;
    whole.times80["latency_s"] = {low * whole.latency, high * whole.latency};
    whole.throughput80 = Band<PerSecond>{whole.throughput / high, whole.throughput / low};
    scale_costs(longest.throughput / whole.throughput, whole);
    if (!set_memory(memory, whole)) {  // the networks stay on the device together
      throw UserError(fmt::format(
          "{}: its networks need {:.1f} GiB together, but a device of {} has {:.1f} GiB; lower "
          "--batch or --dp, or take a larger system",
          model_.name, whole.memory_used.value() / kGiB, request_.system,
          whole.memory_capacity.value() / kGiB));
    }
    return whole;
  }

  // Of all calls of each network, added up.
  std::vector<OperatorRecord> operators() const {
    std::vector<OperatorRecord> all;
    Seconds start;
    for (const PartPrediction& part : parts_) {
      for (OperatorRecord op : part.record.operators) {
        op.name = part.part->name + "." + op.name;
        op.start_s += start.value();
        op.duration_s *= part.calls();
        op.flops *= part.calls();
        op.bytes *= part.calls();
        all.push_back(std::move(op));
      }
      start += part.time();
    }
    return all;
  }

  // Over the time of all calls.
  void average(ResourceRecord& resource) const {
    const std::string path = resource.path;
    Seconds whole;
    Seconds busy;
    Seconds stalled;
    Bytes moved;
    for (const PartPrediction& part : parts_) {
      whole += part.time();
      for (const ResourceRecord& one : part.record.resources) {
        if (one.path != path) continue;
        busy += one.busy * part.time();
        stalled += one.stalled * part.time();
        moved += Bytes(one.bytes) * part.calls();
      }
    }
    resource = {path, busy / whole, stalled / whole, moved.value()};
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
