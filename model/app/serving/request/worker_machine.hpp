// The machine of one worker: who times its steps, and what memory it has for KV blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hw/spec/shared/host_power.hpp"
#include "model/app/request/prediction.hpp"
#include "model/app/serving/request/split_text.hpp"
#include "model/serving/step_timer.hpp"
#include "model/serving/worker_rules.hpp"
#include "reports/record/run_record.hpp"

namespace foretell {

struct WorkerMachine : PredictionOrigin {
  std::unique_ptr<StepTimer> timer;
  std::string kv_dtype;
  std::int64_t max_length = 0;  // of a context
  bool has_experts = false;
  bool reads_latents = false;  // its attention (MLA)
  std::string architecture;    // of its devices; "": not known
  // Measured / predicted of products by the factors of another chip, where this one has none, or
  // was changed.
  std::optional<Interval> borrowed_kernels;
  bool changed = false;  // not as it was measured
  int devices = 1;       // of the system
  int devices_per_worker = 1;
  int stages = 1;          // of the pipeline of a worker
  int ranks = 1;           // of a stage, each with sequences of its own on equally many devices
  bool exchanges = false;  // its devices, over links of their own
  Bytes capacity;          // of one device
  // For one device, of the stage that holds the fewest tokens.
  Bytes weights;
  Bytes kv_per_token;
  Bytes workspace;                                  // of a step of `max_tokens`
  std::function<Bytes(std::int64_t)> workspace_of;  // by tokens of a step; empty: not known
  std::int64_t images = 0;                          // in every prompt
  std::int64_t image_tokens = 0;                    // … each of them
  std::int64_t vocab = 0;                           // words of the network; 0: not known
  Bytes kv_of_stages;                               // of a token: one device of each stage together
  BytesPerSecond link;                              // of one device to another: NVLink or PCIe
  BytesPerSecond host_link;  // of one device to the memory of its host; 0: not known
  double usd_per_hour = 0;   // of the system; 0: not stated
  Watts idle;                // of one device, clocks up; 0: energy is not known
  Watts limit;               // of one device; 0: none is known
  // What is said where a device draws this much and no limit holds it, "": nothing.
  std::function<std::string(Watts)> power_note;
  HostPower host;
  std::pair<double, double> watts_ratio{1, 1};  // measured / predicted, 80 %
  // Of the kernels that were executed so far; empty: none has any.
  std::function<std::vector<std::string>()> kernel_notes;
};

// Machines by everything that they are made from, so that several services share what they execute.
class MachinePool {
 public:
  explicit MachinePool(Predictor predict) : predict_(std::move(predict)) {}
  // As make_worker_machine(); the machine lives as long as the pool.
  // `guesses`: of a draft network, as add_draft().
  const WorkerMachine& machine(const Request& request, std::int64_t max_tokens,
                               const Speculation& guesses = {});
  // Drops all machines when there are more than these.
  void forget_beyond(std::size_t most) {
    if (machines_.size() > most) machines_.clear();
  }

 private:
  Predictor predict_;
  std::map<std::string, std::unique_ptr<WorkerMachine>> machines_;
};

// Through all stages: what a step of this shape takes, and what the stage takes that takes longest.
struct PassTime {
  Seconds all;
  Seconds slowest;
};
PassTime pass_time(const WorkerMachine& machine, const StepShape& shape);

DeviceUse device_use(const WorkerMachine& machine, std::int64_t max_tokens);

// `max_tokens`: of a step, whose activations need memory. UserError for names and types that do not
// fit each other.
WorkerMachine make_worker_machine(const Predictor& predict, const Request& request,
                                  std::int64_t max_tokens);

// Where steps guess tokens, the network that does so shares devices, memory and time of the worker;
// without one a note says that guesses take no time. UserError for one that does not fit.
void add_draft(const Predictor& predict, const Request& request, std::int64_t max_tokens,
               const Speculation& guesses, WorkerMachine& machine);

}  // namespace foretell
