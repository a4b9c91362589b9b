#include "model/app/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hw/engines/engine_catalog.hpp"
#include "hw/spec/gpu/kernel_library.hpp"
#include "model/app/plan/certainty.hpp"
#include "model/app/request/family/device_family.hpp"
#include "model/app/request/resolve/gpu_request.hpp"
#include "model/app/request/resolve/prompt_images.hpp"
#include "model/app/request/resolve/refuse_option.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/serving/request/serve_parts.hpp"
#include "model/app/serving/request/split_text.hpp"
#include "model/app/serving/steps/served_network.hpp"
#include "model/app/study/pareto.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {
namespace {

// `set`: overrides, among which a price may be.
bool has_price(const std::string& system, const std::vector<std::string>& set = {}) {
  Request request;
  request.system = system;
  request.set = set;
  const Prices prices = family_of(system).prices(request);
  const auto found = prices.find(kOnDemand);
  return found != prices.end() && found->second > 0;
}

// Of all systems only those are searched whose family has a meaning for what is stated: no power
// limit of NeuronCores.
bool takes_what_is_stated(const DeviceFamily& family, const Request& machine) {
  try {
    refuse_fields(machine, family.name());
    return true;
  } catch (const UserError&) {
    return false;
  }
}

void add_option(std::string& text, const char* name, const std::string& value) {
  if (value.empty()) return;
  const bool is_plain = value.find_first_of(" '\"<>*$&|;()") == std::string::npos;
  text += fmt::format(is_plain ? " {} {}" : " {} '{}'", name, value);
}

// Separate workers that are stated, or what is stated of workers that all do the same.
void check_stated_workers(const PlanRequest& request) {
  const ServeRequest& service = request.service;
  if (!service.decode_system.empty()) {
    throw UserError(
        "--decode-on: a plan buys instances of one system; leave it out, or simulate the pair with "
        "`foretell serve`");
  }
  if (service.prefill.empty() != service.decode.empty())
    throw UserError("--prefill and --decode belong together: state both, or leave both out");
  if (service.prefill.empty()) return;
  parse_split("--prefill", service.prefill);
  parse_split("--decode", service.decode);
  if (request.workers == "together")
    throw UserError("--workers together: --prefill and --decode state separate ones");
  const Request& machine = service.machine;
  if (machine.tp + machine.pp + machine.ep + service.attention_dp + service.dp > 0) {
    throw UserError(
        "--tp, --pp, --ep, --attention-dp and --dp: separate workers state them in --prefill and "
        "--decode, as in 'tp=4,workers=2'");
  }
}

}  // namespace

std::vector<std::string> candidate_systems(const PlanRequest& request) {
  std::vector<std::string> systems;
  if (request.systems.empty()) {
    for (const DeviceFamily* family : device_families()) {
      if (!takes_what_is_stated(*family, request.service.machine)) continue;
      for (const std::string& system : family->systems()) {
        if (has_price(system)) systems.push_back(system);
      }
    }
    return systems;
  }
  for (const std::string& name : request.systems) {
    const std::string system = family_of(name).find_system(name);
    if (!has_price(system, request.service.machine.set)) {
      throw UserError(
          fmt::format("{}: has no price in hw/systems, and a plan is judged by cost; give one with "
                      "--set 'system.price.on_demand=… USD/h', or name an instance that has one "
                      "(`foretell list systems`)",
                      system));
    }
    if (std::find(systems.begin(), systems.end(), system) == systems.end()) {
      systems.push_back(system);
    }
  }
  return systems;
}

void check_plan(const PlanRequest& request) {
  const ServeRequest& service = request.service;
  if (service.machine.workload.empty()) {
    throw UserError("no network; name one with --workload, see `foretell list workloads`");
  }
  const ModelConfig model = WorkloadLibrary().load(service.machine.workload);
  check_served(model);
  check_served_images(service.machine, model);
  if (service.offline > 0) {
    throw UserError(
        "--offline: a plan needs requests over time; give --rate, --concurrency or --trace");
  }
  check_stated_workers(request);
  check_energy_price(service.machine);
  const Load load = load_of(service);
  if (model.max_seq_len > 0 && longest_input(load) + longest_output(load) > model.max_seq_len) {
    throw UserError(fmt::format(
        "a request of {} + {} tokens is longer than the context of {}, {}; shorten --input-len or "
        "--output-len, or name another network",
        longest_input(load), longest_output(load), model.name, model.max_seq_len));
  }
  Request machine = service.machine;
  if (!machine.power_limit.empty()) read_power_limit(machine.power_limit);
  if (machine.images > 0) {
    fill_image_size(machine, model);
    check_image_tokens(load, machine.images, prompt_image(machine, model).tokens);
  }
  const std::vector<std::string> engine_set = take_engine_set(machine);
  if (request.engines.empty()) EngineCatalog().load(service.engine, engine_set);
  for (const std::string& engine : request.engines) {
    if (engine == kAllEngines && request.engines.size() > 1) {
      throw UserError("--engine: 'all' stands alone, or name the engines one by one");
    }
    EngineCatalog().load(engine == kAllEngines ? "" : engine, engine_set);
  }
  if (service.slo.empty()) {
    throw UserError(
        "no promise; say what the service has to keep, as in --slo 'ttft.p99<=1s,tpot.p99<=40ms'");
  }
  parse_promises(service.slo);
  for (const std::string& dtype : request.dtypes) find_precision(dtype);
  for (const std::string& library : request.libraries) kernel_libraries().of_networks(library);
  if (!(request.probability > 0 && request.probability < 1)) {
    throw UserError(
        fmt::format("--probability {}: is between 0 and 1, as in 0.8", request.probability));
  }
  const std::vector<std::string> known = {"together", "separate", "both"};
  if (std::find(known.begin(), known.end(), request.workers) == known.end()) {
    throw unknown_name("kind of workers", request.workers, known);
  }
}

void check_settings(const PlanRequest& request, const std::vector<std::string>& systems) {
  std::string first;
  for (const std::string& system : systems) {
    Request machine = request.service.machine;
    machine.system = system;
    take_engine_set(machine);
    try {
      refuse_fields(machine, family_of(system).name());
      family_of(system).sheet(machine);
      return;
    } catch (const UserError& error) {
      if (first.empty()) first = error.what();
    }
  }
  if (!first.empty()) throw UserError(first);
}

bool states_workers(const ServeRequest& service) {
  const Request& machine = service.machine;
  return !service.prefill.empty() ||
         machine.tp + machine.pp + machine.ep + service.attention_dp + service.dp > 0;
}

void mark_front(PlanRecord& plan) {
  std::vector<PlannedDeployment*> all;
  std::vector<std::vector<double>> points;
  for (SystemPlan& system : plan.systems) {
    for (PlannedDeployment& one : system.deployments) {
      one.on_front = false;
      all.push_back(&one);
      const double joules = one.joules_per_token.value_or(std::numeric_limits<double>::max());
      points.push_back({one.usd_per_million, one.ttft_s.mean, one.tpot_s.mean, joules});
    }
  }
  for (const std::size_t place : pareto_front(points, {false, false, false, false})) {
    all[place]->on_front = true;
  }
}

std::string load_options(const ServeRequest& service) {
  std::string text;
  const auto add_count = [&text](const char* name, std::int64_t count) {
    if (count > 0) add_option(text, name, std::to_string(count));
  };
  add_count("--concurrency", service.concurrency);
  if (service.rate > 0) {
    add_option(text, "--rate", fmt::format("{:.6g}", service.rate));
    if (service.arrivals != "poisson") add_option(text, "--arrivals", service.arrivals);
  }
  if (service.start != ServeRequest().start) add_option(text, "--start", service.start);
  add_option(text, "--trace", service.trace);
  if (service.trace_every > 1) add_option(text, "--every", std::to_string(service.trace_every));
  add_option(text, "--input-len", service.input_len);
  add_option(text, "--output-len", service.output_len);
  if (service.prefix_share > 0) {
    add_option(text, "--prefix-cache", fmt::format("{}", service.prefix_share));
  }
  add_option(text, "--speculate", service.speculate);
  add_option(text, "--engine", service.engine);
  add_count("--max-batch", service.max_batch);
  add_count("--max-tokens", service.max_tokens);
  if (service.kv_fraction > 0)
    add_option(text, "--kv-fraction", fmt::format("{}", service.kv_fraction));
  add_option(text, "--chunk", service.chunk);
  add_count("--dp", service.dp);
  add_count("--attention-dp", service.attention_dp);
  if (service.router != ServeRequest().router) add_option(text, "--router", service.router);
  add_option(text, "--prefill", service.prefill);
  add_option(text, "--decode", service.decode);
  add_option(text, "--link", service.link_rate);
  for (const RequestField& field : request_fields()) {
    if (!field.serves || !is_stated(field, service.machine)) continue;
    const std::string option = std::string("--") + field.option;
    if (field.kind() == FieldKind::kFlag) {
      text += " " + option;
    } else {
      add_option(text, option.c_str(), cell_of(field, service.machine));
    }
  }
  for (const std::string& one : service.machine.set) add_option(text, "--set", one);
  if (service.machine.seed != 0) {
    add_option(text, "--seed", std::to_string(service.machine.seed));
  }
  return text.empty() ? text : text.substr(1);
}

}  // namespace foretell
