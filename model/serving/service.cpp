#include "model/serving/service.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "model/base/memory_error.hpp"
#include "model/serving/service_modules.hpp"

namespace foretell {
namespace {

// A SystemC kernel of its own that counts nanoseconds.
class ServiceClock {
 public:
  ServiceClock()
      : previous_(sc_core::sc_curr_simcontext),
        context_(std::make_unique<sc_core::sc_simcontext>()) {
    sc_core::sc_curr_simcontext = context_.get();
    sc_core::sc_set_time_resolution(1, sc_core::SC_NS);
  }
  ~ServiceClock() { sc_core::sc_curr_simcontext = previous_; }
  ServiceClock(const ServiceClock&) = delete;
  ServiceClock& operator=(const ServiceClock&) = delete;

 private:
  sc_core::sc_simcontext* previous_;
  std::unique_ptr<sc_core::sc_simcontext> context_;
};

void check_fits(const WorkerRules& rules, std::int64_t input, std::int64_t output) {
  if (input + output > rules.max_length) {
    throw UserError(fmt::format(
        "a request of {} + {} tokens is longer than the context of the network, {}; lower "
        "--input-len or --output-len",
        input, output, rules.max_length));
  }
  if (Scheduler(rules).fits(input, output)) return;
  if (!rules.chunking && input > rules.max_tokens) {
    throw UserError(fmt::format(
        "a prompt of {} tokens does not fit a step of {} and is not cut: raise --max-tokens, or "
        "allow chunks with --chunk",
        input, rules.max_tokens));
  }
  throw MemoryError(fmt::format(
      "a request of {} + {} tokens needs {} KV blocks of {} tokens, but a worker has {}; raise "
      "--tp or --kv-fraction, take a narrower --kv-dtype or --dtype, or shorter requests",
      input, output, blocks_for(input + output - 1, rules.block), rules.block, rules.blocks));
}

void check_loads(const ServiceSetup& setup) {
  const Load& load = *setup.load;
  std::vector<const WorkerRules*> all = {&setup.serving.rules};
  for (const ServingGroup& group : setup.decoding) all.push_back(&group.rules);
  for (const WorkerRules* rules : all) {
    if (load.trace.empty()) {
      check_fits(*rules, longest_input(load), longest_output(load));
      continue;
    }
    for (std::size_t i = 0; i < load.trace.size(); ++i) {
      const auto here = [i](const UserError& error) {
        return fmt::format("request {} of the trace: {}", i + 1, error.what());
      };
      try {
        check_fits(*rules, load.trace[i].input_len, load.trace[i].output_len);
      } catch (const MemoryError& error) {
        throw MemoryError(here(error));
      } catch (const UserError& error) {
        throw UserError(here(error));
      }
    }
  }
}

using Workers = std::vector<std::unique_ptr<ServingWorker>>;

void build_workers(const ServingGroup& group, const char* name, ServiceState& state, Workers& all,
                   std::vector<ServingWorker*>& members) {
  const int stages = group.stages();
  for (int i = 0; i < group.workers; ++i) {
    const std::int32_t number = all.empty() ? 0 : all.back()->number() + 1;
    const auto free = std::make_shared<PipelineFree>();
    free->stages.resize(static_cast<std::size_t>(stages));
    for (int at = 0; at < stages; ++at) {
      const auto batch = static_cast<std::int32_t>(all.size());
      const std::string path =
          fmt::format("{}{}{}", name, i, stages > 1 ? fmt::format("_batch{}", at) : "");
      all.push_back(
          std::make_unique<ServingWorker>(path.c_str(), state, group, number, batch, free));
      members.push_back(all.back().get());
    }
  }
}

}  // namespace

ServiceResult run_service(const ServiceSetup& setup) {
  FORETELL_CHECK(setup.load != nullptr && setup.serving.timer != nullptr, "a service needs both");
  check_loads(setup);
  const ServiceClock clock;
  ServiceState state;
  state.setup = &setup;
  state.result.warm_up = setup.warm_up;
  state.result.requests.reserve(static_cast<std::size_t>(setup.load->requests));
  Workers workers;
  build_workers(setup.serving, setup.decoding.empty() ? "worker" : "prefill", state, workers,
                state.serving);
  for (const ServingGroup& group : setup.decoding) {
    build_workers(group, "decode", state, workers, state.decoding);
  }
  KvLink link("kv_link", state);
  state.link = &link;
  ServingClients clients("clients", state);
  state.clients = &clients;
  do {
    for (ServingWorker* worker : std::exchange(state.asking, {})) worker->time_step();
    sc_core::sc_start();
  } while (!state.asking.empty());
  state.count_requests(0);
  ServiceResult& result = state.result;
  result.interrupted = state.stopped;
  for (const auto& worker : workers) {
    result.leaked_blocks += worker->blocks_used();
    result.preemptions += worker->preemptions();
    worker->add_cache(result);
  }
  result.executed_steps = setup.serving.timer->executed();
  for (const ServingGroup& group : setup.decoding) {
    if (group.timer != setup.serving.timer) result.executed_steps += group.timer->executed();
  }
  if (result.end > Seconds(0)) {
    result.kv_share = result.kv_share_time / (result.end * static_cast<double>(workers.size()));
  }
  return std::move(state.result);
}

}  // namespace foretell
