// The programming interface of Foretell: requests in, records out. Installed as
// <foretell/foretell.hpp>; needs nothing but the standard library, link with `pkg-config --libs
// foretell` or foretell::foretell.
//
//   foretell::api::Request request;
//   request.systems = {"inf2.xlarge"};
//   request.workloads = {"gpt2"};
//   request.values["seq"] = {"128"};
//   const foretell::api::Record record = foretell::api::run(request);
//   record.number("latency_s");
//
// `foretell run` is this function; every other command is there by its words, with the same
// results and messages as on the command line: result({"list", "systems", "--format", "json"}).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace foretell {
struct RunRecord;
}

namespace foretell::api {

// What is wrong and what to type instead, as the command line says it.
class Error : public std::runtime_error {
 public:
  Error(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
  int code() const { return code_; }  // 2: the input, 3: a bug of Foretell

 private:
  int code_;
};

// What to predict: the options of the command line by their names, as texts with their units.
// Nothing is what is not stated; lists have one value each, but for those of `compare`.
struct Request {
  std::vector<std::string> systems;    // --on
  std::vector<std::string> workloads;  // names, or files: config.json, .onnx
  std::vector<std::string> dtypes;
  std::map<std::string, std::vector<std::string>> values;  // of further options: {"batch", {"8"}}
  std::map<std::string, bool> flags;                       // of options without a value: "exact"
  std::vector<std::string> set;                            // "device.hbm.bandwidth=1.6 TB/s"
  std::string factors;
  std::string trace_file;
  std::string seed;
};

// What was predicted; copies share it.
class Record {
 public:
  explicit Record(RunRecord whole);

  // A number of the summary by its name in JSON, in the unit at its end: "latency_s", "ttft_s",
  // "throughput", "cost_usd_per_million" … Nothing where it does not apply. Error for a name that
  // no record has.
  std::optional<double> number(const std::string& name) const;
  const std::string& bottleneck() const;
  std::string json() const;                            // schema foretell.run/1, as --format json
  const RunRecord& whole() const { return *record_; }  // for Foretell itself

 private:
  std::shared_ptr<const RunRecord> record_;
};

// Predicts one request. Error for what a user can get wrong. `progress` gets the share that is
// done. One prediction or command runs at a time in a process, others wait.
Record run(const Request& request, const std::function<void(double)>& progress = {});

struct Answer {
  int code = 0;          // 0 good, 1 outside tolerance or some rows failed, 2 the input, 3 our bug
  std::string result;    // what the command would have written to standard output
  std::string messages;  // … and to standard error
};

// Runs a command that has -o (all but completion): `arguments` as after the word foretell, without
// -o. Never throws for what a user can get wrong: see the code. Commands with --jobs above 1 fork
// workers. `shows_progress` draws the bar of the command line where standard error is a terminal.
Answer command(std::vector<std::string> arguments, bool shows_progress = false);

// The same; Error in place of codes 2 and 3. `messages`, where given, takes those of codes 0 and 1.
std::string result(std::vector<std::string> arguments, std::string* messages = nullptr);

std::string version();  // "0.2.0 (commit)"

}  // namespace foretell::api
