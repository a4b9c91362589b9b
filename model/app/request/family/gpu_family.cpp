// GPUs as a family of devices.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "calib/fitted/shared/common_factors_use.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "hw/spec/shared/kernel_files.hpp"
#include "model/app/request/family/device_family.hpp"
#include "model/app/request/record/added_notes.hpp"
#include "model/app/request/record/intervals.hpp"
#include "model/app/request/record/machine_facts.hpp"
#include "model/app/request/resolve/gpu_place.hpp"
#include "model/app/request/resolve/gpu_request.hpp"
#include "model/app/request/resolve/step_tokens.hpp"
#include "model/base/errors.hpp"
#include "model/mapping/gpu/product_kernels.hpp"
#include "model/predict/calls/gpu_call.hpp"
#include "model/predict/calls/gpu_memory.hpp"
#include "model/predict/calls/limited_call.hpp"
#include "reports/record/hardware_change.hpp"
#include "reports/record/ranks.hpp"
#include "workloads/ir/two_batches.hpp"

namespace foretell {
namespace {

constexpr const char* kGpuFamily = "gpu";

MemoryPlace place_of(const GpuSystemSpec& spec) {
  MemoryPlace place;
  place.system = spec.id;
  place.devices = spec.devices;
  place.capacity = spec.device.hbm.capacity;
  place.size = (spec.device.hbm.capacity * spec.devices).value();
  return place;
}

EnergyFacts energy_of(const GpuRequest& resolved, const BoardEnergy& board) {
  const GpuSystemSpec& spec = resolved.system.spec;
  const Request& request = resolved.request;
  EnergyFacts facts;
  facts.energy = board.asked;
  const double ranks = request.tp * groups_of_copy(request);
  facts.setting = {ranks, ranks * request.pp * request.dp, kept_limit(resolved, board)};
  facts.host = load_host_power(node_name(spec), spec.interconnect, spec.nodes);
  facts.devices = spec.devices;
  return facts;
}

class GpuDevice final : public ResolvedDevice {
 public:
  explicit GpuDevice(const Request& request)
      : resolved_(resolve_gpu(request)),
        factors_(factors_of(resolved_)),
        type_(
            product_type(resolved_.precision.matmul_compute, resolved_.precision.weight_storage)) {
    add_new(factor_notes(factors_, type_), resolved_.notes);
  }

  const ResolvedWorkload& workload() const override { return resolved_; }
  std::vector<std::string> notes() const override { return notes_; }

  SystemFacts facts() const override {
    SystemFacts facts = facts_of(resolved_.system, factors_.id());
    facts.assumed_values +=
        assumed_shapes_of_gpu_kernels() + assumed_common_factors_of_gpus() + resolved_.host_values;
    for (Parameter& factor : factors_.parameters(type_))
      facts.parameters.push_back(std::move(factor));
    facts.machine = gpu_machine(resolved_.system, resolved_.precision.matmul_compute);
    facts.interval80 = interval(IntervalQuantity::kCall);
    facts.first_token80 = interval(IntervalQuantity::kTtft);
    facts.intervals_of_changed = true;
    facts.energy = energy_of(resolved_, energy_);
    return facts;
  }

  Metrics call(const Graph& graph, Phase phase) override {
    GpuCallResult result =
        run_within(call_of(resolved_, graph, factors_), energy_, clock_limits_of(resolved_));
    parts_.insert(parts_.end(), result.parts.begin(), result.parts.end());
    if (resolved_.request.two_batch && !is_in_turns(graph)) {
      result.notes.emplace_back(
          "two-batch: one token of one sequence in each group of GPUs has no halves; such calls "
          "run whole");
    }
    if (!power_is_noted_ && !result.power_note.empty()) result.notes.push_back(result.power_note);
    power_is_noted_ = power_is_noted_ || !result.power_note.empty();
    add_new(result.notes, notes_);
    if (phase == Phase::kForward) result.metrics.call += resolved_.host_call;
    return std::move(result.metrics);
  }

  void set_overheads(Generation& generation) const override {
    generation.prefill_overhead = resolved_.host_prompt;
    const Seconds chooses = resolved_.host_sample;
    if (chooses > Seconds(0))
      generation.afterwards = [chooses](const PipelinePass&) { return chooses; };
  }

  ShownCall show(const Graph& graph, Phase /*phase*/) const override {
    GpuCall call = call_of(resolved_, graph, factors_);
    call.for_timeline = true;
    ShownCall shown;
    shown.kernels = run_within(call, energy_, clock_limits_of(resolved_)).kernels;
    return shown;
  }
  KernelTraceWords words() const override { return {spec().device.name, "launch"}; }

  MemoryUse memory_of(const Graph& graph) const override {
    return memory_of_gpu(graph, resolved_.fusion);
  }

  MemoryRules memory_rules() const override {
    MemoryRules rules;
    rules.part = "each GPU of " + spec().id;
    rules.narrow_caches = true;
    const Request& request = resolved_.request;
    if (request.input_len == 0) return rules;
    const std::int64_t positions = cached_positions(resolved_);
    rules.prefill = prefill_pass(*this);
    rules.prefill.kv_len = std::max(request.input_len, positions);
    if (resolved_.model.family != Family::kEncoderDecoder) {
      const std::int64_t tokens = tokens_of_step(kGpuFamily);
      rules.prefill.tokens = std::min(request.input_len, tokens);
      rules.prefill.batch =
          std::clamp<std::int64_t>(tokens / rules.prefill.tokens, 1, request.batch);
    }
    rules.decode = decode_pass(*this, positions);
    return rules;
  }

  MemoryPlace place() const override { return place_for(spec()); }

  std::vector<MemoryPlace> other_places() const override {
    std::vector<MemoryPlace> places;
    const std::vector<std::string> set = split_machine_set(resolved_.request).system;
    const GpuCatalog catalog;
    for (const std::string& id : catalog.systems()) {
      try {
        places.push_back(place_for(catalog.load(id, set).spec));
      } catch (const UserError&) {
        continue;  // an override that is not of this system
      }
    }
    return places;
  }

  Seconds handover(Bytes bytes) const override {
    const Request& request = resolved_.request;
    const int gpus = std::max(1, request.tp) * groups_of_copy(request);
    return handover_time(spec(), factors_, {std::max(1, request.pp), gpus}, bytes);
  }

 private:
  // With the groups that the heads of the network can be split over.
  MemoryPlace place_for(const GpuSystemSpec& spec) const {
    MemoryPlace place = place_of(spec);
    for (int ranks = 2; ranks <= place.devices; ranks *= 2) {
      if (resolved_.model.heads % ranks == 0) place.degrees.push_back(ranks);
    }
    return place;
  }

  const GpuSystemSpec& spec() const { return resolved_.system.spec; }

  // Measured / predicted: what the kernels say, and at least what published networks say, as
  // libraries, their versions and fusions differ by more than the kernels of one of them. Nothing
  // by published facts alone, and where the host launches kernels of a library for graphs, which
  // was not measured. By a library with a host of its own it is what published networks say.
  std::optional<Interval> interval(IntervalQuantity quantity) const {
    if (parts_.empty() || factors_.id() == "none") return std::nullopt;
    if (resolved_.launch != LaunchKind::kGraph) {
      if (!factors_.library().per_launch) return std::nullopt;
      return of_networks("network by host", quantity);
    }
    const auto [low, high] = chain_interval80(parts_, factors_.common().kernel_correlation);
    Interval kernels{low, high};
    if (is_changed() && !spec().device.changed) kernels = of_changed_hardware(kernels);
    const Interval networks = of_networks(graph_family(resolved_.model), quantity);
    return Interval{std::min(networks.low, kernels.low), std::max(networks.high, kernels.high)};
  }

  // What published networks say of the quantity, else of calls: wider away from where they stand.
  Interval of_networks(std::string_view family, IntervalQuantity quantity) const {
    const Place place = place_on_gpus(resolved_);
    const IntervalTable& table = default_intervals();
    IntervalChoice found = table.choose(kGpuFamily, family, "any", quantity, place);
    if (!found.note.empty())
      found = table.choose(kGpuFamily, family, "any", IntervalQuantity::kCall, place);
    return is_changed() ? of_changed_hardware(found.ratio) : found.ratio;
  }

  // Intervals of kernels on a device that was changed say so themselves, unless a factor was.
  bool is_changed() const {
    return spec().device.changed ||
           changes_hardware(changing(resolved_.request, resolved_.system.parameters));
  }

  GpuRequest resolved_;
  GpuFactors factors_;
  BoardEnergy energy_ = energy_of_board(resolved_);
  std::string type_;              // of products
  bool power_is_noted_ = false;   // of the first call that has something to say
  std::vector<ChainPart> parts_;  // of all calls
  std::vector<std::string> notes_;
};

class GpuFamily final : public DeviceFamily {
 public:
  std::string_view name() const override { return kGpuFamily; }
  std::string_view recognised_by() const override {
    return "a node of GPUs has an 'interconnect', a GPU has 'sms'";
  }
  std::vector<std::string> systems() const override { return GpuCatalog().systems(); }
  std::vector<std::string> devices() const override { return GpuCatalog().devices(); }
  bool has_system(std::string_view id) const override { return GpuCatalog().has_system(id); }
  std::string find_system(std::string_view id) const override {
    return GpuCatalog().find_system(id);
  }

  SystemSheet sheet(const Request& request) const override {
    LoadedGpuSystem system = GpuCatalog().load(request.system, machine_set(request));
    const std::string likeness = take_for_measured(request.factors, system);
    const GpuSystemSpec& spec = system.spec;
    SystemSheet sheet;
    sheet.facts = facts_of(system, "none");
    const std::string nodes = spec.nodes > 1
                                  ? fmt::format("{} nodes of {} x ", spec.nodes, gpus_of_node(spec))
                                  : fmt::format("{} x ", spec.devices);
    sheet.heading = fmt::format("{}: {}{}, assumed values: {}", system.spec_id, nodes,
                                spec.device.name, system.assumed_values);
    if (!likeness.empty()) sheet.heading += "\n" + likeness;
    sheet.name = spec.device.name;
    sheet.devices = spec.devices;
    sheet.parts = spec.devices * spec.device.sms;
    sheet.memory = spec.devices * spec.device.hbm.capacity;
    sheet.execute = [device = spec.device](const Program& program) {
      return foretell::simulate(GpuMachine{device}, program);
    };
    sheet.limits.ranks = gpus_of_node(spec);  // rounds of a file go over the links of a node
    sheet.stated.sms = spec.device.sms;
    sheet.stated.memory_rate = spec.device.hbm.bandwidth;
    sheet.stated.link_rate =
        spec.interconnect == "pcie" ? spec.device.pcie.bandwidth : spec.device.nvlink.bandwidth;
    sheet.device_memory = spec.device.hbm.capacity;
    sheet.words = {spec.device.name, "launch"};
    return sheet;
  }

  // In a graph a kernel sets the condition and a conditional node of CUDA 12.4 starts the part; in
  // a stream the condition is copied to the host, which launches the part.
  Seconds branch_time(const Request& request) const override {
    const GpuRequest resolved = resolve_gpu(request);
    const GpuDeviceSpec& device = resolved.system.spec.device;
    const bool stream = resolved.launch == LaunchKind::kStream;
    return device.branch_kernels * (stream ? device.stream_floor : device.launch_floor);
  }

  std::vector<ImprovedPart> improved_parts(const Request& request) const override {
    if (request.workload.empty()) return {};  // kernels written by hand state their times
    const GpuRequest resolved = resolve_gpu(request);
    const GpuDeviceSpec& device = resolved.system.spec.device;
    const std::string type(to_string(resolved.precision.matmul_compute));
    const bool matrix = device.matrix_rate.count(type) > 0;
    return {{(matrix ? "device.matrix_rate." : "device.vector_rate.") + type,
             (matrix ? "matrix pipe of " : "vector pipe of ") + type, 2},
            {"device.clock.boost", "clock of SMs, pipes and L2", 2},
            {"device.hbm.bandwidth", "memory bandwidth", 2},
            {"device.l2.capacity", "L2 capacity", 2},
            {"factors.sm_feed", "operands into an SM", 2},
            {"factors.launch", "kernel launch", 0.5},
            {"device.nvlink.bandwidth", "NVLink bandwidth", 2}};
  }

 private:
  std::unique_ptr<ResolvedDevice> make_device(const Request& request) const override {
    return std::make_unique<GpuDevice>(request);
  }
};

}  // namespace

const DeviceFamily& gpu_family() {
  static const GpuFamily kFamily;
  return kFamily;
}

}  // namespace foretell
