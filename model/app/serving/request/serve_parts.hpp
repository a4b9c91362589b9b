// Pieces of serve() that stand in files of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/app/request/prediction.hpp"
#include "model/app/serving/request/worker_machine.hpp"
#include "model/serving/service.hpp"
#include "model/serving/service_result.hpp"
#include "reports/record/serve_record.hpp"
#include "workloads/traffic/load.hpp"

namespace foretell {

// "round-robin", "least-loaded", "prefix-aware"; UserError with the nearest.
Router parse_router(const std::string& name);

// Takes the overrides of the engine out of those of the machine, and returns them.
std::vector<std::string> take_engine_set(Request& machine);
// An engine calls the kernels of its own library and release, where nothing else was asked for:
// `engine_name` as typed.
void take_kernels(const std::string& engine_name, const EngineSpec& engine, Request& machine);

// Whole blocks of `block` tokens in the memory for them; very many where tokens keep nothing.
std::int64_t floor_blocks(Bytes kv, Bytes per_token, std::int64_t block);

// What the service waits for most, in words: a queue that grows, seats, KV blocks, prompts, decode
// bandwidth, exchange, host, link, or nothing.
std::string what_binds(const ServiceResult& result);
std::map<std::string, double> time_shares_of(const ServiceResult& result, int batches);

// Whether requests of the load begin alike, as its trace says.
bool shares_prefixes(const Load& load);
// The prefix cache, the memory of the host and its link, and what needs them. UserError for rules
// that the machine or the network cannot follow.
void set_cache_rules(const EngineSpec& engine, const Load& load, const WorkerMachine& worker,
                     WorkerRules& rules);
// UserError where a prompt is too short for this many images of `each` tokens.
void check_image_tokens(const Load& load, std::int64_t images, std::int64_t each);
// The images of prompts. UserError where a prompt is too short for them.
void set_images(const Load& load, const WorkerMachine& worker, WorkerRules& rules);
// What a record says of the network and its copies.
void add_network_fields(const Request& machine, ServeContext& context);
// Keeps what a cold server takes to call a kernel for the first time where the engine, the device
// and the network have such kernels.
void set_first_use(const EngineHost& host, const WorkerMachine& worker, WorkerRules& rules);
// What the memory of a worker is laid out for; an engine for one batch (0: for any load) has no
// places beyond it.
LargestStep largest_step(const WorkerRules& rules, std::int64_t batch);
// Where the engine takes its limits from memory and lengths, and none are stated: fills them in.
void tune(const EngineSpec& engine, const Load& load, const WorkerMachine& worker,
          RuleChoices& choices);
// What prefix caches did.
std::vector<std::string> cache_notes(const ServiceResult& result);

// The timeline and the distributions of the record. `batches`: that are in flight, of all workers.
void fill_series(const ServiceResult& result, int batches, ServeRecord& record);

// Workers that are alike, and how many of them there are.
struct PoweredWorkers {
  const WorkerMachine* machine = nullptr;
  int workers = 0;

  double devices() const { return machine->devices_per_worker * workers; }
};

// The least --tp of the system above that of `machine` with which a quarter of the memory that the
// engine takes is left for KV blocks, or where none does that leaves the most; nothing where no
// block fits.
std::optional<int> wider_tp(MachinePool& pool, const Request& machine, const EngineSpec& engine,
                            double share, const LargestStep& largest);

// How a network whose weights leave no room for KV blocks gets some, for an error.
std::string room_advice(MachinePool& pool, const Request& machine, const EngineSpec& engine,
                        double share, const LargestStep& largest);

// What is taken for granted: a release newer than all that are described (`engine_name` as typed),
// a worker that leaves devices for others, workers on more devices than the system has, a system
// without a price beside one with.
std::vector<std::string> service_notes(const std::string& engine_name, const EngineSpec& engine,
                                       const std::vector<PoweredWorkers>& groups);

// USD per hour of the machines that the workers are on, each paid for as a whole; nothing where the
// price of one is not known.
std::optional<double> machines_price(const std::vector<PoweredWorkers>& groups);

// That a queue grows as long as requests come, `offered_per_s` of them in a second, and the largest
// rate that is stable: of requests, or of KV caches where the link between workers binds.
std::vector<std::string> growth_notes(const ServiceResult& result, double offered_per_s,
                                      std::int64_t requests);

// Joules and watts of a service: its devices draw active idle power from the first arrival to the
// last answer, and what its steps add. Nothing for machines without energy. With
// `usd_per_kwh` and `pue` of the request, the cost of energy at the wall.
void fill_energy(const ServiceResult& result, const std::vector<PoweredWorkers>& groups,
                 const Request& request, ServeRecord& record);

// Steps as slices per worker, requests as slices on tracks of their own,
// `idle_of`: of the devices of each worker; their power is a counter, 0: none is shown.
std::string serve_trace_json(const ServiceResult& result, const std::vector<Watts>& idle_of);

}  // namespace foretell
