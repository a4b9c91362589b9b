#include "model/app/serving/request/worker_machine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "calib/fitted/shared/common_factors_use.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "hw/spec/shared/kernel_files.hpp"
#include "model/app/request/family/device_family.hpp"
#include "model/app/request/record/added_notes.hpp"
#include "model/app/request/record/energy_record.hpp"
#include "model/app/request/record/make_record.hpp"
#include "model/app/request/resolve/compiled_lengths.hpp"
#include "model/app/serving/steps/call_step_timer.hpp"
#include "model/app/serving/steps/gpu_step_timer.hpp"
#include "model/app/serving/steps/served_network.hpp"
#include "model/base/errors.hpp"
#include "model/mapping/gpu/product_kernels.hpp"
#include "reports/record/hardware_change.hpp"
#include "reports/record/ranks.hpp"
#include "workloads/import/workload.hpp"

namespace foretell {
namespace {

// Of the machine as it is changed; 0: not known.
double on_demand(const Prices& prices, const std::vector<std::string>& changing_set) {
  const Prices held = prices_as_set(prices, changing_set);
  const auto price = held.find(kOnDemand);
  return price == held.end() ? 0 : price->second;
}

// Tokens whose KV cache a device holds beside everything else; less than 0 where nothing is left.
double held_tokens(const WorkerMemory& memory, Bytes capacity) {
  const double left = (capacity - memory.weights - memory.workspace).value();
  return memory.kv_per_token > Bytes(0) ? left / memory.kv_per_token.value() : left;
}

void set_memory(const GpuStepTimer& timer, std::int64_t max_tokens, WorkerMachine& machine) {
  WorkerMemory least = timer.memory(max_tokens, 0);
  int fullest = 0;
  machine.kv_of_stages = least.kv_per_token;
  for (int stage = 1; stage < machine.stages; ++stage) {
    const WorkerMemory memory = timer.memory(max_tokens, stage);
    machine.kv_of_stages += memory.kv_per_token;
    if (held_tokens(memory, machine.capacity) < held_tokens(least, machine.capacity)) {
      least = memory;
      fullest = stage;
    }
  }
  machine.weights = least.weights;
  machine.kv_per_token = least.kv_per_token;
  machine.workspace = least.workspace;
  machine.workspace_of = [&timer, fullest](std::int64_t tokens) {
    return timer.memory(tokens, fullest).workspace;
  };
}

WorkerMachine gpu_machine_of(const Request& request, std::int64_t max_tokens) {
  if (request.sequence_parallel || request.context > 0 ||
      !request.context_encoding_buckets.empty() || !request.token_generation_buckets.empty()) {
    throw UserError(request.system +
                    ": --sequence-parallel, --context and --...-buckets are for services on "
                    "devices that run compiled calls, as NeuronCores do; leave them out");
  }
  auto timer = std::make_unique<GpuStepTimer>(request, request.exact);
  const GpuRequest& resolved = timer->resolved();
  const GpuSystemSpec& spec = resolved.system.spec;
  WorkerMachine machine;
  machine.system = spec.id;
  machine.workload = resolved.model.name;
  machine.dtype = resolved.precision.name;
  machine.kv_dtype = std::string(to_string(resolved.precision.kv_cache));
  machine.factors = timer->factors().id();
  machine.max_length = resolved.model.max_seq_len;
  machine.devices = spec.devices;
  machine.has_experts = resolved.model.experts > 0;
  machine.reads_latents = timer->reads_latents();
  machine.architecture = spec.device.architecture;
  const std::string type =
      product_type(resolved.precision.matmul_compute, resolved.precision.weight_storage);
  const std::vector<std::string> set = changing(request, resolved.system.parameters);
  machine.changed = spec.device.changed || changes_hardware(set);
  if (spec.device.changed || !timer->factors().note(type).empty()) {
    const auto [low, high] = timer->factors().gemm_interval80(type);
    machine.borrowed_kernels = Interval{low, high};
  }
  machine.ranks = timer->ranks();
  machine.stages = timer->stages();
  machine.devices_per_worker =
      std::max(1, resolved.request.tp) * groups_of_copy(resolved.request) * machine.stages;
  machine.capacity = spec.device.hbm.capacity;
  set_memory(*timer, max_tokens, machine);
  machine.vocab = resolved.model.vocab;
  if (const ImageTimer* images = timer->images()) {
    machine.images = images->in_prompt();
    machine.image_tokens = images->tokens_of_one();
  }
  const bool nvlink = spec.interconnect == "nvlink";
  machine.exchanges = nvlink && machine.devices_per_worker > 1;
  machine.link = nvlink ? spec.device.nvlink.bandwidth : spec.device.pcie.bandwidth;
  if (spec.nodes > 1) machine.link = spec.network.bandwidth;  // workers may be on others
  machine.host_link = spec.device.pcie.bandwidth;
  machine.usd_per_hour = on_demand(spec.price_usd_per_hour, set);
  const DeviceEnergy& energy = timer->energy();
  machine.idle = idle_power(1, energy.facts);
  machine.limit = timer->limit();
  machine.host = load_host_power(node_name(spec), spec.interconnect, spec.nodes);
  machine.power_note = [timer = timer.get()](Watts most) { return timer->power_note(most); };
  machine.watts_ratio = {energy.interval_low, energy.interval_high};
  machine.assumed_values = resolved.system.assumed_values + assumed_shapes_of_gpu_kernels() +
                           assumed_common_factors_of_gpus();
  machine.notes = resolved.notes;
  add_new(factor_notes(timer->factors(), type), machine.notes);
  add_new(calibration_notes(energy), machine.notes);
  machine.kernel_notes = [timer = timer.get()] { return timer->notes(); };
  machine.likeness = spec.device.like.note;
  if (machine.usd_per_hour <= 0 && !spec.price_usd_per_hour.empty())
    machine.notes.emplace_back(kPriceOfAnother);
  if (machine.stages > 1) {
    machine.notes.emplace_back(
        "pipeline: no measured service had stages; the intervals are those of services without");
  }
  machine.timer = std::move(timer);
  return machine;
}

WorkerMachine called_machine_of(const Predictor& predict, const Request& request) {
  if (request.pp > 1) {
    throw UserError(request.system +
                    ": pipeline stages of a service are simulated on GPUs; leave --pp out, or "
                    "take copies with --dp");
  }
  if (request.images > 0) {
    throw UserError(request.system +
                    ": images in the prompts of a service are simulated on GPUs; leave --images "
                    "out, or ask `foretell run` for one batch");
  }
  const ModelConfig model = WorkloadLibrary().load(request.workload);
  check_served(model);
  auto timer = std::make_unique<CallStepTimer>(predict, request, request.exact);
  const RunRecord& record = timer->example();
  WorkerMachine machine;
  static_cast<PredictionOrigin&>(machine) = record.context;
  machine.kv_dtype = record.context.scenario.kv_dtype;
  machine.max_length =
      request.context > 0 ? std::min(request.context, model.max_seq_len) : model.max_seq_len;
  if (!request.token_generation_buckets.empty()) {
    machine.max_length = std::min(
        machine.max_length,
        parse_buckets("token-generation-buckets", request.token_generation_buckets).back());
  }
  machine.vocab = model.vocab;
  machine.devices_per_worker = ranks_of_stage(record.context.scenario);
  machine.ranks = std::max(1, request.attention_dp);
  const int copies = std::max(1, record.context.scenario.dp);
  machine.devices = machine.devices_per_worker * copies;
  const RunSummary& summary = record.summary;
  // A call counts all copies on a device; a worker is one of them.
  machine.capacity = Bytes(summary.memory_capacity_bytes);
  if (summary.memory) {
    machine.weights = Bytes(summary.memory->weights_bytes);
    machine.workspace = Bytes(summary.memory->activations_bytes + summary.memory->runtime_bytes +
                              summary.memory->inputs_outputs_bytes);
  }
  machine.kv_per_token = timer->kv_per_token();
  machine.kv_of_stages = machine.kv_per_token;
  const std::vector<std::string> set = changing(request, overridden_paths(record.values));
  machine.usd_per_hour = on_demand(family_of(request.system).prices(request), set);
  machine.idle = timer->idle() / std::max(1, machine.devices);
  if (summary.energy) {
    machine.limit = Watts(summary.energy->limit_w);
    machine.watts_ratio = {summary.energy->interval80.low, summary.energy->interval80.high};
    machine.host = load_host_power(machine.system, std::string(family_of(request.system).name()));
  }
  machine.changed = !record.context.differs.empty() || changes_hardware(set);
  machine.timer = std::move(timer);
  return machine;
}

}  // namespace

const WorkerMachine& MachinePool::machine(const Request& request, std::int64_t max_tokens,
                                          const Speculation& guesses) {
  std::string key = fmt::format(
      "{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}",
      request.system, request.workload, request.dtype, request.kv_dtype, request.tp, request.ep,
      request.moe_tp, request.factors, request.exact, request.clock, request.power_limit,
      request.voltage, max_tokens, request.attention_dp, request.library, request.library_release,
      request.experts, request.context, request.sequence_parallel, request.pp, request.cp,
      request.redundant_experts, request.two_batch);
  key +=
      fmt::format("\n{}\n{}", request.context_encoding_buckets, request.token_generation_buckets);
  for (const std::string& one : request.set) key += "\n" + one;
  if (guesses.drafts > 0)
    key += fmt::format("\n{} guesses of {} on {}", guesses.drafts, guesses.draft, guesses.tp);
  const auto known = machines_.find(key);
  if (known != machines_.end()) return *known->second;
  auto made = std::make_unique<WorkerMachine>(make_worker_machine(predict_, request, max_tokens));
  if (guesses.drafts > 0) add_draft(predict_, request, max_tokens, guesses, *made);
  return *machines_.emplace(key, std::move(made)).first->second;
}

PassTime pass_time(const WorkerMachine& machine, const StepShape& shape) {
  PassTime pass;
  for (int stage = 0; stage < machine.stages; ++stage) {
    const StepTime time = machine.timer->time(shape, stage);
    pass.all += time.total + time.handover;
    pass.slowest = std::max(pass.slowest, time.total);
  }
  return pass;
}

DeviceUse device_use(const WorkerMachine& machine, std::int64_t max_tokens) {
  return {machine.capacity, machine.weights,
          machine.workspace_of ? machine.workspace_of(max_tokens) : machine.workspace,
          machine.exchanges, machine.vocab};
}

WorkerMachine make_worker_machine(const Predictor& predict, const Request& request,
                                  std::int64_t max_tokens) {
  check_names(request);
  if (gpu_family().has_system(request.system)) return gpu_machine_of(request, max_tokens);
  return called_machine_of(predict, request);
}

}  // namespace foretell
