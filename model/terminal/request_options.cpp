#include "model/terminal/request_options.hpp"

#include <CLI/CLI.hpp>
#include <limits>

#include "model/base/errors.hpp"
#include "model/forecast/request_fields.hpp"
#include "reports/record/text_file.hpp"

namespace foretell {
namespace {

constexpr std::string_view kBatch = "batch";

void add_pairs(CLI::App& command, const char* name, const char* type,
               std::vector<std::string>& pairs, const char* help) {
  command.add_option(name, pairs, help)->allow_extra_args(false)->take_all()->type_name(type);
}

void add_list(CLI::App& command, const char* name, const char* type,
              std::vector<std::string>& values, bool lists, const std::string& help) {
  CLI::Option* option =
      command.add_option(name, values, help)->allow_extra_args(false)->type_name(type);
  if (lists) {
    option->delimiter(',')->take_all();
  } else {
    option->expected(1);
  }
}

std::vector<std::string> or_unstated(const std::vector<std::string>& values) {
  return values.empty() ? std::vector<std::string>{""} : values;
}

}  // namespace

void add_dimension_option(CLI::App& command, std::vector<std::string>& dimensions) {
  add_pairs(command, "--dim", "NAME=SIZE", dimensions,
            "size of a dimension that an ONNX file leaves open, NAME=SIZE; repeat for more");
}

std::map<std::string, std::int64_t> parse_dimensions(const std::vector<std::string>& texts) {
  Request request;
  for (const std::string& text : texts) add_dimension(request, text);
  if (!request.distributions.empty()) {
    throw UserError("--" + request.distributions.begin()->first +
                    ": is a distribution; here it must be one size");
  }
  return request.dimensions;
}

void add_request_options(CLI::App& command, RequestOptions& options, bool lists) {
  const std::string several = lists ? ", several with commas" : "";
  add_list(command, "--on", "SYSTEM", options.systems, lists,
           "system, for example inf2.xlarge" + several);
  add_list(command, "--workload", "NAME|FILE", options.workloads, lists,
           "network by name, a config.json or an ONNX file" + several);
  add_dimension_option(command, options.dimensions);
  add_list(command, "--dtype", "TYPE", options.dtypes, lists,
           "data type or precision policy, bf16 when not stated" + several);
  options.counts.resize(count_fields().size());
  for (std::size_t i = 0; i < count_fields().size(); ++i) {
    const CountField& field = count_fields()[i];
    const std::string name = std::string("--") + field.option;
    if (field.option == kBatch) {
      add_list(command, "--batch", "N", options.batches, lists,
               std::string(field.help) + " (default: 1)" + several);
    } else {
      command.add_option(name, options.counts[i], field.help)->type_name("N");
    }
  }
  options.choices.resize(choice_fields().size());
  for (std::size_t i = 0; i < choice_fields().size(); ++i) {
    const ChoiceField& field = choice_fields()[i];
    command.add_option(std::string("--") + field.option, options.choices[i], field.help)
        ->type_name("WORD");
  }
  command
      .add_option(
          "--shapes", options.shapes,
          "how lengths that vary run: 'dynamic', or 'buckets', 'buckets:64,128,512': padded "
          "to the next bucket (default: buckets on NeuronCores, dynamic elsewhere)")
      ->type_name("MODE");
  add_pairs(command, "--branch", "NAME=P", options.branches,
            "probability that a branch is taken, or an exit; repeat for more");
  add_pairs(command, "--trips", "NAME=N", options.trips,
            "trips of a loop, a number or a distribution; repeat for more");
  command
      .add_option("--phase", options.phase,
                  "'forward', or 'train-step': forward, backward and update (default: forward)")
      ->type_name("WORD");
  command
      .add_option("--optimizer", options.optimizer,
                  "of a training step: sgd, momentum or adam (default: adam)")
      ->type_name("WORD");
  command.add_flag("--sequence-parallel", options.sequence_parallel,
                   "in prefill the cores of a copy share the tokens of norms and residuals, too");
  command
      .add_option(
          "--l2", options.l2,
          "of GPUs: 'warm', or rotate:N for N copies of the network in turn (default: warm)")
      ->type_name("STATE");
  command
      .add_option("--in-flight", options.in_flight,
                  "batched requests in flight (default: one per copy)")
      ->type_name("N");
  command
      .add_option("--experts", options.experts,
                  "how tokens choose experts: random, balanced, power-law:A, or a file with one "
                  "load per line (default: random)")
      ->type_name("ROUTING");
  command
      .add_option("--sdk", options.sdk,
                  "release of the vendor's compiler and runtime; of GPUs, of TensorRT-LLM")
      ->type_name("VERSION");
  add_model_options(command, options);
  if (!lists) {
    command
        .add_option("--trace", options.trace_file,
                    "write a timeline that opens in Perfetto to this file")
        ->type_name("FILE");
  }
  command.add_option("--seed", options.seed, "seed of everything random (default: 0)")
      ->type_name("N");
}

void add_model_options(CLI::App& command, RequestOptions& options) {
  command
      .add_option("--set", options.set,
                  "override a parameter, PATH=VALUE, for example 'device.hbm.bandwidth=1.6 TB/s'; "
                  "repeat for more (`foretell show SYSTEM` lists the paths)")
      ->allow_extra_args(false)
      ->take_all()
      ->type_name("PATH=VALUE");
  command
      .add_option("--factors", options.factors,
                  "fitted factors: a file, or 'none' for published facts alone")
      ->type_name("FILE|none");
  command.add_flag("--exact", options.exact, "execute everything, reuse nothing");
}

void check_trace_file(const std::string& path) {
  if (!path.empty()) OutputFile(path).finish();
}

Request row_defaults(const RequestOptions& options) {
  Request request;
  request.set = options.set;
  request.factors = options.factors;
  request.exact = options.exact;
  return request;
}

std::vector<Request> requests(const RequestOptions& options) {
  Request base = row_defaults(options);
  for (std::size_t i = 0; i < options.counts.size(); ++i) {
    const CountField& field = count_fields()[i];
    if (options.counts[i].empty()) continue;
    const std::string name = std::string("--") + field.option;
    set_length(base, field, name, options.counts[i]);
  }
  for (std::size_t i = 0; i < options.choices.size(); ++i) {
    if (options.choices[i].empty()) continue;
    const ChoiceField& field = choice_fields()[i];
    base.*field.member = parse_choice(field, options.choices[i]);
  }
  for (const std::string& text : options.dimensions) add_dimension(base, text);
  for (const std::string& text : options.branches) add_branch(base, text);
  for (const std::string& text : options.trips) add_trips(base, text);
  base.shapes = options.shapes;
  base.phase = options.phase;
  base.optimizer = options.optimizer;
  base.sequence_parallel = options.sequence_parallel;
  if (!options.in_flight.empty()) {
    base.in_flight = parse_positive("--in-flight", options.in_flight, kMaxInFlight);
  }
  if (!options.seed.empty()) {
    base.seed = static_cast<std::uint64_t>(parse_count("--seed", options.seed, 0, kMaxSeed));
  }
  base.sdk = options.sdk;
  base.experts = options.experts;
  base.l2 = options.l2;
  base.trace_file = options.trace_file;
  check_trace_file(base.trace_file);

  const CountField& batch = count_fields().front();
  std::vector<Request> result;
  for (const std::string& system : or_unstated(options.systems)) {
    for (const std::string& workload : or_unstated(options.workloads)) {
      for (const std::string& dtype : or_unstated(options.dtypes)) {
        for (const std::string& size : or_unstated(options.batches)) {
          Request request = base;
          request.system = system;
          request.workload = workload;
          request.dtype = dtype;
          if (!size.empty())
            batch.set(request, parse_count("--batch", size, batch.low, batch.high));
          check_request(request);
          result.push_back(std::move(request));
        }
      }
    }
  }
  return result;
}

}  // namespace foretell
