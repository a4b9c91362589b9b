// The cheapest deployments that keep promises on a service: the schema "foretell.plan/1".
//
// Units are in the field names, as in run_record.hpp; shares and probabilities are 0…1. Equal
// inputs give equal bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/record/csv.hpp"
#include "reports/record/serve_record.hpp"

namespace foretell {

inline constexpr const char* kPlanSchema = "foretell.plan/1";

// How an instance is set up.
struct DeploymentSetting {
  std::string dtype;
  std::string engine;                // as it is typed, or "vllm-0.14@<hash>"; "": the default
  std::string library;               // of kernels; "": the default
  std::int64_t tp = 1;               // 0: no split is known, as the type is refused
  std::int64_t pp = 1;               // stages of a worker, each of `tp` devices in every rank
  std::int64_t attention_dp = 1;     // ranks of a worker with sequences of their own
  std::int64_t ep = 1;               // groups of devices of a worker, each with some experts
  std::int64_t workers = 1;          // of an instance
  std::int64_t prefill_workers = 0;  // of these, where they are separate; 0: every worker does both
  std::int64_t max_batch = 0;        // sequences of a worker at one time; 0: the engine's
  // Separate workers as they were stated: "tp=4,workers=2". The split above is then that of decode.
  std::string prefill;
  std::string decode;

  std::int64_t devices() const { return tp * pp * attention_dp; }  // of a worker
};

// Instances of one system that share a load evenly, all set up alike.
struct PlannedDeployment : DeploymentSetting {
  std::string system;
  std::int64_t instances = 1;
  double usd_per_hour = 0;     // of all instances; with a price of energy that of it, too
  double usd_per_million = 0;  // output tokens, likewise
  ServeStatistic ttft_s;
  ServeStatistic tpot_s;
  ServeStatistic e2e_s;
  double output_tokens_per_s = 0;  // of all instances
  double requests_per_s = 0;
  double kv_used_share = 0;
  std::optional<double> joules_per_token;  // of the boards; empty: no energy of them is known
  std::optional<double> joules_per_request;
  std::optional<double> watts;  // of the boards of all instances
  std::optional<double> wall_watts;
  std::optional<double> energy_usd_per_million;  // its part of the cost, where it has a price
  double probability = 0;                        // that every promise is kept
  std::string binds;
  bool on_front = false;  // no other is at least as good in cost, TTFT, TPOT and joules
  std::string simulate;   // the command that shows one instance under its share of the load
  std::string start;      // the engine's own command for one worker; "": not known
};

// Why a deployment cannot be taken.
inline constexpr const char* kRefused = "refused";  // the type, the network or what is stated
inline constexpr const char* kNoMemory = "memory";  // does not hold the network, or a request
inline constexpr const char* kTooSlow = "promise";  // one of them is broken
inline constexpr const char* kTooDear = "cost";     // others of the system are cheaper

// What was tried and cannot be taken.
struct RejectedDeployment : DeploymentSetting {
  std::string cause;  // one of the words above
  std::string reason;
  // All promises with the limits that it keeps, and how far the one that is off most is (1.3: 30 %
  // above it); "" and 0 where another reason comes first.
  std::string nearest;
  double excess = 0;
};

struct SystemPlan {
  std::string system;
  std::vector<PlannedDeployment> deployments;  // cheapest first
  std::vector<RejectedDeployment> rejected;
  std::int64_t simulations = 0;
};

struct PlanContext {
  std::string version;
  std::string commit;
  std::string workload;
  std::string load;  // as options: "--rate 4 --input-len 1024 …"
  std::string slo;
  double probability = 0;
  std::uint64_t seed = 0;
};

struct PlanRecord {
  PlanContext context;
  std::vector<SystemPlan> systems;  // in the order of the request
  bool interrupted = false;         // these are the systems that were searched so far
  std::string would_hold;           // where no system holds the network: one that does; else ""
};

// Memory is missing, and no candidate of any system runs, whatever is promised.
bool nothing_holds(const PlanRecord& plan);

// How its workers are set up, apart from the limit of their batch; equal for equal ones.
std::string setting_of(const DeploymentSetting& one);

// The cheapest of a system that is set up otherwise than its best one; null when there is none.
const PlannedDeployment* runner_up_of(const SystemPlan& plan);

// The cheapest of every system, cheapest first; then by name.
std::vector<const PlannedDeployment*> best_of_systems(const PlanRecord& plan);

// One line. InternalError for a number that is NaN or infinite.
std::string to_json(const PlanRecord& record);
std::string to_json(const SystemPlan& plan);
// UserError that starts with `where` for text that is no such object.
SystemPlan read_system_plan(const std::string& json, const std::string& where);
// A header, and a row for every deployment that keeps the promises.
std::vector<CsvRow> plan_rows(const PlanRecord& record);

}  // namespace foretell
