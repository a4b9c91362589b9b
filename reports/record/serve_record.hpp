// What a service did under a load: the schema "foretell.serve/1".
//
// Units are in the field names, as in run_record.hpp; shares are 0…1. Equal inputs give equal
// bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/record/csv.hpp"
#include "reports/record/run_record.hpp"
#include "reports/record/served_times.hpp"

namespace foretell {

inline constexpr const char* kServeSchema = "foretell.serve/1";

struct ServeContext : PredictionOrigin {
  std::string kv_dtype;
  std::string engine;                                         // "vllm-0.8@<hash>"
  std::vector<std::pair<std::string, std::string>> scenario;  // load and options, as stated
};

struct ServeStatistic {
  double mean = 0;
  double p50 = 0;
  double p90 = 0;
  double p95 = 0;
  double p99 = 0;
};

struct NamedStatistic {
  const char* name;
  double ServeStatistic::*value;
};
inline constexpr NamedStatistic kServeStatistics[] = {{"mean", &ServeStatistic::mean},
                                                      {"p50", &ServeStatistic::p50},
                                                      {"p90", &ServeStatistic::p90},
                                                      {"p95", &ServeStatistic::p95},
                                                      {"p99", &ServeStatistic::p99}};
std::vector<std::string> serve_statistic_names();
// UserError for another name (with the nearest).
double value_of(const ServeStatistic& statistic, const std::string& name);

struct ServeSummary {
  ServeStatistic ttft_s;
  ServeStatistic tpot_s;
  ServeStatistic itl_s;
  ServeStatistic e2e_s;
  double output_tokens_per_s = 0;
  double requests_per_s = 0;
  std::optional<double> goodput_per_s;  // answers per second that keep every promise
  std::string slo;
  std::vector<ServePromise> promises;  // of `slo`
  std::optional<bool> keeps_slo;
  double batch_mean = 0;  // sequences per decode step
  double kv_used_share = 0;
  std::int64_t preemptions = 0;
  std::int64_t steps = 0;
  std::int64_t executed_steps = 0;  // calls of the machine that were simulated for them
  std::int64_t requests = 0;        // answered
  bool interrupted = false;
  std::optional<double> cost_usd_per_million;  // output tokens, on demand
  double duration_s = 0;
  // Over the whole simulated service, idle time included: of the boards of all workers, and of
  // their share of the system at the wall. Absent where no energy of the device is known.
  std::optional<double> watts;
  std::optional<double> wall_watts;
  std::optional<double> joules_per_token;    // per output token
  std::optional<double> joules_per_request;  // answered
  std::optional<double> busy_energy_share;   // of the joules: what steps add to active idle
  std::optional<double> energy_usd_per_million;
  std::optional<double> usd_per_million_with_energy;
  std::string binds;                           // what the service waits for most
  std::map<std::string, double> time_shares;   // of the workers, by what they do
  std::map<std::string, double> memory_bytes;  // of one device
  std::map<std::string, Interval> interval80;  // by field: "ttft_s.mean"
};

struct ServeSecond {
  double second = 0;
  double running = 0;
  double waiting = 0;
  double kv_used_share = 0;
  double output_tokens_per_s = 0;
  double batch = 0;  // sequences per decode step that began in it; 0 without one
};

struct ServedRecord {
  double arrival_s = 0;
  double ttft_s = 0;
  double e2e_s = 0;
  std::int64_t input_len = 0;
  std::int64_t output_len = 0;
  std::int64_t preemptions = 0;
  std::int64_t worker = 0;
  bool answered = false;
  double start_s = 0;  // after the arrival: its first step begins; -1: none did
};

struct ServeRecord {
  ServeContext context;
  ServeSummary summary;
  std::vector<ServeSecond> timeline;
  // Times that the shares of serve_shares() do not exceed, by name: "ttft_s", "tpot_s", "itl_s",
  // "e2e_s". Empty when nothing was answered, and in records of earlier versions.
  std::map<std::string, std::vector<double>> distributions;
  std::vector<ServedRecord> requests;  // not part of the JSON object
};

// One line. InternalError for a number that is NaN or infinite.
std::string to_json(const ServeRecord& record);
// A line per request.
std::string to_json_lines(const std::vector<ServedRecord>& requests);
// A header, and a row of numbers for each: the summary.
std::vector<CsvRow> serve_rows(const std::vector<ServeRecord>& records);

// Whether a line begins such a JSON object, of this or another version of the schema.
bool is_serve_line(const std::string& line);
// Reads what to_json() wrote; `requests` stay empty. UserErrors start with `where`: text that is no
// JSON or not whole, another schema, a missing field or one of the wrong type, a number that
// cannot be (a negative time, a share outside 0 to 1).
ServeRecord serve_record_from_json(std::string_view text, const std::string& where);
// A file of them, a line each. UserError with file:line.
std::vector<ServeRecord> read_serve_records(const std::string& path);

}  // namespace foretell
