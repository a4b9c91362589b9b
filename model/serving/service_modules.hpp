// The modules of a service, see service.hpp. All state that they share stands in ServiceState.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <systemc>
#include <unordered_map>
#include <vector>

#include "model/serving/scheduler.hpp"
#include "model/serving/service.hpp"
#include "workloads/traffic/load.hpp"

namespace foretell {

inline constexpr double kServiceTicks = 1e9;  // per second

// Nanoseconds; whole, and never 0 for a step, which would stall the clock.
sc_core::sc_time service_time(Seconds time);
Seconds service_now();

class ServingWorker;
class ServingClients;
class KvLink;

// What the modules share; owned by run_service.
struct ServiceState {
  const ServiceSetup* setup = nullptr;
  ServiceResult result;
  bool stopped = false;
  ServingClients* clients = nullptr;
  KvLink* link = nullptr;
  // Batches of workers, those of one worker side by side.
  std::vector<ServingWorker*> serving;
  std::vector<ServingWorker*> decoding;
  // A router that knows which worker computed what; places among the workers.
  std::unordered_map<std::int32_t, std::int32_t> session_worker;
  std::unordered_map<std::int32_t, std::int32_t> chain_worker;
  std::size_t next_worker = 0;   // of `serving`
  std::size_t next_decoder = 0;  // of `decoding`
  std::int64_t in_service = 0;
  Seconds counted_until;

  // Workers that ask how long their step takes. The answer may be a simulation with a SystemC
  // kernel of its own, and two of these do not run inside one another: the service pauses for it.
  std::vector<ServingWorker*> asking;

  // `sequence`: whose beginning workers may know; null: none is known to.
  ServingWorker& route(const std::vector<ServingWorker*>& workers, const Sequence* sequence);
  std::int32_t worker_of(const Sequence& sequence) const;
  // Begins a request on one of `serving`.
  void begin(const Sequence& sequence);
  void count_requests(std::int64_t change);
  void answered(const Sequence& sequence, Seconds now);
  void first_token_came(Seconds now);
};

// Sends requests: by the clock of an open load, or when an answer of a closed one is there.
class ServingClients : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(ServingClients);
  ServingClients(const sc_core::sc_module_name& name, ServiceState& state);

  void answer_came();
  void first_token_came();

 private:
  void send_due();  // SC_METHOD
  void send(const TrafficRequest& request);

  ServiceState& state_;
  RequestSource source_;
  TrafficRequest pending_;
  bool has_pending_ = false;
  std::int64_t clients_ = 0;  // of a closed load, that have started
  sc_core::sc_event due_;
};

// What the host takes for a step.
struct StepHost {
  Seconds work;
  Seconds gap;  // before it, where the work overlaps with the devices'
};

// What the batches of a worker share: when its host is through with the last step that it was
// given, and when that leaves each stage.
struct PipelineFree {
  Seconds host;
  std::vector<Seconds> stages;
};

// One copy of the network with the engine that runs it, step after step; of a worker with several
// pipeline stages, one of the batches that are in flight.
class ServingWorker : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(ServingWorker);
  // `number`: of the worker; `batch`: of all batches of all workers.
  ServingWorker(const sc_core::sc_module_name& name, ServiceState& state, const ServingGroup& group,
                std::int32_t number, std::int32_t batch, std::shared_ptr<PipelineFree> free);

  // A request arrives; it can be scheduled when the host is through with it.
  void accept(Sequence sequence, bool from_client);
  // The request begins elsewhere when there is room for its answer here (service_room.cpp).
  void ask_room(Sequence sequence);
  // It will not come: its answer ended where it began.
  void give_room_back(const Sequence& sequence);
  // The service stands still: finds the time of the step that was planned, and starts it.
  void time_step();

  std::int64_t load() const;
  std::size_t running() const;
  std::size_t waiting() const;
  std::size_t requests() const;  // running and waiting
  std::size_t without_room() const { return without_room_.size(); }
  double kv_share() const;
  std::int32_t number() const { return number_; }
  const ServingGroup& group() const { return group_; }
  std::int64_t blocks_used() const;
  std::int64_t preemptions() const;
  void add_cache(ServiceResult& result) const;  // what its prefix caches did

 private:
  struct Arriving {
    sc_core::sc_time ready;
    Sequence* sequence;
  };
  bool has_room(const Sequence& sequence) const;
  void let_in();
  void receive(std::size_t arrived);
  bool holds_for_balance();
  void plan_ranks();
  void arrive();  // SC_METHOD: the host is through with the first that arrives
  void step();    // SC_METHOD: the step that runs ends, the next one begins
  bool plan_step(bool follows);
  void note_start(const Sequence& sequence);
  void end_step();
  void end_rank(std::size_t rank, Seconds now);
  void give_token(Sequence* sequence, Seconds now, std::int32_t tokens);
  std::int64_t images_in(const PlannedChunk& chunk) const;
  StepShape shape_of(const StepPlan& plan, std::int64_t ghosts) const;
  std::vector<StepShape> shapes_of_ranks() const;
  StepHost host_time(const StepPlan& plan) const;
  Seconds first_use(const StepPlan& plan);
  bool is_graphed(const StepPlan& plan, const StepShape& shape) const;
  std::vector<StepTime> times_of_stages(const std::vector<StepShape>& shapes, Joules& energy);
  Seconds pass_stages(const std::vector<StepTime>& stages, const StepHost& host, Seconds& work);
  Seconds copy_time(const StepPlan& plan);
  void account(const StepTime& time);
  void sample(Seconds from, Seconds until);
  std::int32_t accepted_drafts();

  ServiceState& state_;
  const ServingGroup& group_;
  std::int32_t number_;
  std::int32_t batch_;
  std::shared_ptr<PipelineFree> pipeline_;
  std::vector<std::unique_ptr<Scheduler>> ranks_;
  std::vector<const StepPlan*> plans_;
  std::deque<Sequence> places_;  // of all sequences here; reused
  std::vector<Sequence*> free_;
  std::vector<Seconds> last_token_;  // by place
  sc_core::sc_time tokenized_;       // when the tokenizer is through with what has arrived
  std::deque<Arriving> arriving_;
  std::vector<Sequence*> inbox_;       // that the scheduler has not looked at yet
  std::int64_t held_for_balance_ = 0;  // steps
  std::size_t prepared_ = 0;           // of these, when the host prepared the step that comes next
  std::int64_t decodes_since_look_ = std::numeric_limits<std::int64_t>::max() / 2;
  std::vector<Sequence*> done_;
  std::deque<Sequence> without_room_;  // first come, first served
  std::int64_t promised_ = 0;          // requests that have room here and are on their way
  std::int64_t promised_tokens_ = 0;   // of their prompts
  RandomStream guesses_;
  bool busy_ = false;
  bool had_prompt_ = false;                   // since the worker started
  bool had_piece_ = false;                    // a later piece of a prompt
  Refusal refusal_ = Refusal::kNothingWaits;  // of the step that runs
  std::vector<std::int64_t> ghosts_;  // of each rank: answers that the host has not seen end
  Seconds step_begin_;
  Seconds idle_since_;
  sc_core::sc_event arrived_;
  sc_core::sc_event wake_;
};

// Moves KV caches from prefill to decode workers, one after another.
class KvLink : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(KvLink);
  KvLink(const sc_core::sc_module_name& name, ServiceState& state);

  void send(const Sequence& sequence);
  std::size_t waiting() const { return queue_.size(); }  // with the one on its way

 private:
  void next();  // SC_METHOD

  ServiceState& state_;
  std::deque<Sequence> queue_;
  bool busy_ = false;
  bool moving_ = false;  // the first of the queue is on its way
  sc_core::sc_event done_;
};

}  // namespace foretell
