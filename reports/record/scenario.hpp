// What a request asks for, and the one list of its fields.
//
// Options, columns of tables, keys of studies and scenarios, the JSON and CSV of records, their
// differences, texts and the page walk the list; nothing else names a field. A new field is a
// member and a row here, and the place that reads the member.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reports/record/request_field.hpp"

namespace foretell {

// 0, "" and false mean "not stated". In a record all defaults are filled in.
struct Scenario {
  std::int64_t batch = 0;
  std::int64_t seq_len = 0;              // one forward pass
  std::int64_t input_len = 0;            // prefill …
  std::int64_t output_len = 0;           // … and decode
  std::int64_t context = 0;              // longest context that the graphs are compiled for
  std::string context_encoding_buckets;  // lengths that prompts are compiled for: "2048,4096"
  std::string token_generation_buckets;  // lengths of the cache that steps are compiled for
  std::int64_t image_size = 0;           // height and width in pixels
  std::int64_t image_width = 0;          // where it is not the height
  std::int64_t frames = 0;               // of a video
  std::int64_t images = 0;               // in every prompt
  std::int64_t steps = 0;                // of the removal of noise
  std::string kv;                  // how far decode steps read the KV cache: "bucket", "exact"
  std::string kv_dtype;            // type of the KV cache; not stated: that of the precision policy
  std::string sampling;            // where the next token is chosen: "device", "host"
  int tp = 0;                      // cores that share one copy of the model
  bool sequence_parallel = false;  // they share the tokens of norms and residuals, too; prefill
  int pp = 0;                      // pipeline stages of one copy
  int ep = 0;                      // groups of GPUs of a copy that each hold some of the experts
  int moe_tp = 0;        // GPUs that share the width of an expert; not stated: the rest of a copy
  int attention_dp = 0;  // groups of --tp parts of a copy that each have some of the sequences
  int cp = 0;            // groups of --tp GPUs of a copy that each have some of a call's tokens
  int ring = 0;          // of --cp, GPUs that pass keys around; the rest of them divide heads
  std::int64_t redundant_experts = 0;  // copies of the most loaded experts, beside one of each
  bool two_batch = false;              // halves of a batch that exchange and compute in turns
  std::string experts;                 // how tokens choose experts (workloads/ir/routing.hpp)
  int dp = 0;                          // copies side by side
  int cores = 0;                       // cores used
  double in_flight = 0;                // batched requests in flight
  std::string sdk;      // of NeuronCores: release of the compiler and runtime, "2.21.0"
  std::string library;  // of GPUs: whose kernels the network runs, by its file in hw/kernels
  std::string library_release;  // its release, "1.2.0"
  std::string l2;               // of GPUs: "warm", "rotate:5"
  std::string launch;           // of GPUs: "graph", "stream"
  std::string clock;            // of GPUs: "burst", "sustained", "1500 MHz"
  std::string power_limit;      // of GPUs: of a board, "500W"
  std::string voltage;          // of GPUs: most of the voltage at the full clock, "0.9"
  double usd_per_kwh = 0;       // price of energy
  double pue = 0;               // energy of the building / of the systems in it
  std::string node;       // process that the device is made in, for its energy and area: "3nm"
  std::string hbm;        // generation of its memory, for its energy and area: "hbm3e"
  std::string shapes;     // how lengths vary: "dynamic", "buckets", "buckets:64,128"
  std::string phase;      // "forward", "train-step"; not stated: what the lengths say
  std::string optimizer;  // of a training step: "sgd", "momentum", "adam"
  // Lengths that vary, as they were given ("uniform:16..512"): by option ("seq") or "dim NAME" of
  // an ONNX file. The field itself holds the longest in a request, 0 in a record.
  TextMap distributions;
  TextMap branches;    // of control flow: probability by name
  TextMap trips;       // of loops, by name
  TextMap service;     // a load on the system and what its service is to do, by key: "rate", "slo"
  SizeMap dimensions;  // sizes that an ONNX file leaves open, by name
  bool exact = false;  // no replay cache, no interpolation
  std::string label;   // anything, to tell runs apart; changes no number
};

inline constexpr std::int64_t kMaxBatch = 1'000'000;
inline constexpr std::int64_t kMaxTokens = 10'000'000;
inline constexpr std::int64_t kMaxPixels = 65'536;
inline constexpr std::int64_t kMaxFrames = 16'384;
inline constexpr std::int64_t kMaxSteps = 100'000;
inline constexpr std::int64_t kMaxWays = 100'000;  // cores, copies and shards of one system
inline constexpr std::int64_t kMaxDimension = 1'000'000'000;
inline constexpr std::int64_t kMaxUsdPerKwh = 1000;
inline constexpr std::int64_t kMaxPue = 100;
inline constexpr std::int64_t kMaxTrips = 1'000'000;
inline constexpr std::int64_t kMaxInFlight = 1'000'000;  // above 0; tables state averages

// In the order of records.
inline std::vector<RequestField> request_field_rows() {
  using S = Scenario;
  using F = RequestField;
  constexpr const char* kAboutGpus = "is about GPUs; leave it out";
  constexpr const char* kClocksOfNeuron =
      "is of boards of GPUs: NeuronCores take none; leave it out, and state slower clocks "
      "themselves, as in --set core.tensor.clock=1.2GHz";
  constexpr const char* kClocksOfCpus =
      "is of boards of GPUs: CPUs take none; leave it out, and lower device.clock.base and "
      "device.clock.all_core with --set";
  constexpr const char* kGpusAlone = "is modelled on GPUs alone; leave it out";
  constexpr const char* kNotOnCpus = "is not modelled on CPUs; leave it out";
  constexpr const char* kNothingCompiled =
      "is about NeuronCores: nothing is compiled for a length here; leave it out";
  return {
      F{&S::batch, "batch", "batch", "batch {}", "samples per call (default: 1)"}
          .range(1, kMaxBatch)
          .takes("N")
          .asked()
          .may_list(),
      F{&S::seq_len, "seq_len", "seq", "sequence {}",
        "tokens per sample, one forward pass; a number, or a distribution: uniform:16..512, "
        "histogram:FILE"}
          .range(1, kMaxTokens)
          .takes("N")
          .asked()
          .may_vary()
          .called("sequence length")
          .only_in(kForwardPhase | kTrainingPhase)
          .may_list(),
      F{&S::input_len, "input_len", "input-len", "input {}",
        "prompt tokens (prefill); a number or a distribution"}
          .range(1, kMaxTokens)
          .takes("N")
          .asked()
          .may_vary()
          .called("input length")
          .only_in(kGenerationPhase)
          .may_list(),
      F{&S::output_len, "output_len", "output-len", "output {}",
        "generated tokens (decode); a number or a distribution"}
          .range(1, kMaxTokens)
          .takes("N")
          .asked()
          .may_vary()
          .called("output length")
          .only_in(kGenerationPhase)
          .may_list(),
      F{&S::context, "context", "context", "context {}",
        "longest context that is compiled for (default: the network's)"}
          .range(1, kMaxTokens)
          .takes("N")
          .only_in(kGenerationPhase)
          .tells(FieldSaid::kToTellApart)
          .of_services(),
      F{&S::context_encoding_buckets, "context_encoding_buckets", "context-encoding-buckets",
        "prompts compiled for {}",
        "lengths that NeuronCores have prompts compiled for, such as 2048,4096,10240 (default: "
        "128 and its doubles up to the context)"}
          .takes("LENGTHS")
          .only_in(kGenerationPhase)
          .tells(FieldSaid::kToTellApart)
          .not_on("gpu", kNothingCompiled)
          .not_on("cpu", kNothingCompiled)
          .of_services(),
      F{&S::token_generation_buckets, "token_generation_buckets", "token-generation-buckets",
        "steps compiled for {}",
        "lengths of the KV cache that NeuronCores have decode steps compiled for, such as 12800 "
        "(default: 128 and its doubles up to the context)"}
          .takes("LENGTHS")
          .only_in(kGenerationPhase)
          .tells(FieldSaid::kToTellApart)
          .not_on("gpu", kNothingCompiled)
          .not_on("cpu", kNothingCompiled)
          .of_services(),
      F{&S::image_size, "image_size", "image-size", "image {}",
        "height and width of images in pixels"}
          .range(1, kMaxPixels)
          .takes("N")
          .asked()
          .may_vary()
          .called("image size")
          .may_list()
          .of_services(),
      F{&S::image_width, "image_width", "image-width", "{} wide",
        "width of images in pixels where --image-size is their height alone"}
          .range(1, kMaxPixels)
          .takes("N")
          .of_services(),
      F{&S::frames, "frames", "frames", "{} frames",
        "of networks that make videos (default: as their publishers run them)"}
          .range(1, kMaxFrames)
          .takes("N"),
      F{&S::images, "images", "images", "images {}",
        "in every prompt, of networks that read them; their tokens are part of --input-len"}
          .range(1, kMaxFrames)
          .takes("N")
          .only_in(kGenerationPhase)
          .of_services(),
      F{&S::steps, "steps", "steps", "{} steps",
        "in which a pipeline removes noise: calls of what it calls more than once"}
          .range(1, kMaxSteps)
          .takes("N"),
      F{&S::kv, "kv", "kv", "KV cache {}",
        "KV cache that decode steps read: 'bucket', the compiled length, or 'exact', the positions "
        "so far (default: bucket)"}
          .one_of({"bucket", "exact"})
          .only_in(kGenerationPhase)
          .not_on("gpu",
                  "is about NeuronCores: GPUs read the cache up to the position; leave it out",
                  "bucket")
          .not_on("cpu",
                  "is about NeuronCores: CPUs read the cache up to the position; leave it out",
                  "bucket"),
      F{&S::kv_dtype, "kv_dtype", "kv-dtype", "KV cache in {}",
        "data type of the KV cache (default: that of a quantised file, else of --dtype)"}
          .one_of({"int8", "fp8", "fp16", "bf16", "fp32"})
          .only_in(kGenerationPhase)
          .called("KV cache")
          .may_list()
          .of_services(),
      F{&S::sampling, "sampling", "sampling", "sampling on the {}",
        "where the next token is chosen: device or host (default: device)"}
          .one_of({"device", "host"})
          .only_in(kGenerationPhase)
          .not_on("gpu", "is about NeuronCores: GPUs sample on the device; leave it out", "host")
          .not_on("cpu", "is about NeuronCores: CPUs sample themselves; leave it out", "host"),
      F{&S::tp, "tp", "tp", "tp {}", "cores that share one copy of the model"}
          .range(1, kMaxWays)
          .takes("N")
          .tells(FieldSaid::kAboveOne)
          .may_list()
          .not_on("cpu",
                  "is not modelled on CPUs: all cores of a copy work on it together; leave it out")
          .of_services(),
      F{&S::sequence_parallel, "sequence_parallel", "sequence-parallel", "sequence parallel",
        "in prefill the cores of a copy share the tokens of norms and residuals, too"}
          .of_services(),
      F{&S::pp, "pp", "pp", "pp {}", "pipeline stages of one copy"}
          .range(1, kMaxWays)
          .takes("N")
          .tells(FieldSaid::kAboveOne)
          .not_on("cpu", kNotOnCpus)
          .may_list()
          .of_services(),
      F{&S::ep, "ep", "ep", "ep {}",
        "groups of GPUs, or of NeuronCores, of a copy that each hold some of the experts"}
          .range(1, kMaxWays)
          .takes("N")
          .tells(FieldSaid::kAboveOne)
          .not_on("cpu", kNotOnCpus)
          .may_list()
          .of_services(),
      F{&S::moe_tp, "moe_tp", "moe-tp", "experts tp {}",
        "GPUs, or NeuronCores, that share each expert (default: the rest of a copy)"}
          .range(1, kMaxWays)
          .takes("N")
          .tells(FieldSaid::kAboveOne)
          .not_on("cpu", kNotOnCpus)
          .of_services(),
      F{&S::attention_dp, "attention_dp", "attention-dp", "attention dp {}",
        "groups of --tp GPUs, or NeuronCores, of a copy that each have some of the sequences"}
          .range(1, kMaxWays)
          .takes("N")
          .tells(FieldSaid::kAboveOne)
          .not_on("cpu", kNotOnCpus),
      F{&S::cp, "cp", "cp", "cp {}",
        "groups of --tp GPUs of a copy that each have some of the tokens of a prompt, and of its "
        "KV cache; or of the tokens of a sample that noise is removed from"}
          .range(1, kMaxWays)
          .takes("N")
          .tells(FieldSaid::kAboveOne)
          .may_list()
          .not_on("neuron", kGpusAlone)
          .not_on("cpu", kGpusAlone)
          .of_services(),
      F{&S::ring, "ring", "ring", "ring {}",
        "of the --cp GPUs that remove noise, as many pass keys around (ring attention), the others "
        "exchange tokens for heads (default: as few as heads allow)"}
          .range(1, kMaxWays)
          .takes("N")
          .may_list()
          .not_on("neuron", kGpusAlone)
          .not_on("cpu", kGpusAlone),
      F{&S::redundant_experts, "redundant_experts", "redundant-experts", "{} redundant experts",
        "copies of the most loaded experts, held by the groups of --ep beside one of each"}
          .range(1, kMaxWays)
          .takes("N")
          .not_on("cpu", kNotOnCpus)
          .of_services(),
      F{&S::two_batch, "two_batch", "two-batch", "two batches in turns",
        "two-batch overlap: one half of the batch, or of a prompt, computes while the other "
        "exchanges with other GPUs"}
          .only_in(kGenerationPhase)
          .not_on("neuron", kGpusAlone)
          .not_on("cpu", kGpusAlone)
          .of_services(),
      F{&S::experts, "experts", "experts", "experts {}",
        "how tokens choose experts: random, balanced, power-law:A, or a file with one load per "
        "line (default: random)"}
          .takes("ROUTING")
          .not_on("cpu", kNotOnCpus)
          .of_services(),
      F{&S::dp, "dp", "dp", "1 copy|{} copies",
        "copies side by side (default: as many as fit the cores)"}
          .range(1, kMaxWays)
          .takes("N")
          .called("copies")
          .may_list(),
      F{&S::cores, "cores", "cores", "1 core|{} cores", "cores to use (default: all)"}
          .range(1, kMaxWays)
          .takes("N"),
      F{&S::in_flight, "in_flight", "in-flight", "in flight {}",
        "batched requests in flight (default: one per copy)"}
          .range(0, kMaxInFlight)
          .takes("N")
          .called("in flight")
          .in_column("inflight"),
      F{&S::sdk, "sdk", "sdk", "SDK {}", "of NeuronCores: release of the compiler and runtime"}
          .takes("VERSION")
          .not_on(
              "gpu",
              "is the SDK of NeuronCores: leave it out; --library names whose kernels a GPU runs "
              "and --library-release its release")
          .not_on("cpu", "is about NeuronCores; leave it out"),
      F{&S::library, "library", "library", "kernels of {}",
        "of GPUs: whose kernels the network runs, by its file in hw/kernels (default: what "
        "hw/kernels/choice.yaml says)"}
          .takes("LIBRARY")
          .may_list()
          .not_on("neuron", kAboutGpus)
          .not_on("cpu", kAboutGpus)
          .of_services(),
      F{&S::library_release, "library_release", "library-release", "release {} of the library",
        "of GPUs: release of --library (default: the newest)"}
          .takes("VERSION")
          .called("library release")
          .not_on("neuron", kAboutGpus)
          .not_on("cpu", kAboutGpus)
          .of_services(),
      F{&S::l2, "l2", "l2", "L2 {}",
        "of GPUs: 'warm', or rotate:N for N copies of the network in turn (default: warm)"}
          .takes("STATE")
          .not_on("neuron", kAboutGpus)
          .not_on("cpu", kAboutGpus),
      F{&S::launch, "launch", "launch", "launched as a {}",
        "of GPUs: kernels as one 'graph', or one by one in a 'stream' (default: graph, of "
        "frameworks whose host launches kernel by kernel stream)"}
          .one_of({"graph", "stream"})
          .not_on("neuron", kAboutGpus)
          .not_on("cpu", kAboutGpus),
      F{&S::clock, "clock", "clock", "clock {}",
        "of GPUs: 'burst', as long as the power limit lets it, 'sustained', or at most a "
        "frequency, 1500MHz (default: burst; sustained on boards with fewer watts for an "
        "operation than the one that was measured)"}
          .takes("CLOCK")
          .not_on("neuron", kClocksOfNeuron)
          .not_on("cpu", kClocksOfCpus)
          .may_list()
          .of_services(),
      F{&S::power_limit, "power_limit", "power-limit", "power limit {}",
        "of GPUs: watts of a board, 500W; the clock falls until it fits (default: the board's)"}
          .takes("WATTS")
          .not_on("neuron", kClocksOfNeuron)
          .not_on("cpu", kClocksOfCpus)
          .may_list()
          .of_services(),
      F{&S::voltage, "voltage", "voltage", "at most {} of the full voltage",
        "of GPUs: what the chip is supplied with at most, as a share of its voltage at the full "
        "clock, 0.9 or 90% (default: what its curve has for each clock)"}
          .takes("SHARE")
          .not_on("neuron", kAboutGpus)
          .not_on("cpu", kAboutGpus)
          .of_services(),
      F{&S::usd_per_kwh, "usd_per_kwh", "usd-per-kwh", "{} USD per kWh",
        "price of energy, for costs with energy"}
          .range(0, kMaxUsdPerKwh)
          .takes("USD")
          .of_services(),
      F{&S::pue, "pue", "pue", "PUE {}",
        "energy of the building over that of its systems, 1 or more (default: 1)"}
          .range(1, kMaxPue)
          .takes("RATIO")
          .of_services(),
      F{&S::node, "node", "node", "made in {}",
        "what if it were made in another process, such as 3nm: energy, area, time within a limit"}
          .takes("NODE"),
      F{&S::hbm, "hbm", "hbm", "with {}",
        "what if its memory were another, such as hbm3e: energy and cost, not bandwidth"}
          .takes("GENERATION"),
      F{&S::shapes, "shapes", "shapes", "shapes {}",
        "how lengths that vary run: 'dynamic', or 'buckets', 'buckets:64,128,512': padded to the "
        "next bucket (default: buckets on NeuronCores, dynamic elsewhere)"}
          .takes("MODE")
          .asked(),
      F{&S::phase, "phase", "phase", "{}",
        "'forward', or 'train-step': forward, backward and update (default: forward)"}
          .one_of({"forward", "train-step"})
          .asked(),
      F{&S::optimizer, "optimizer", "optimizer", "{}",
        "of a training step: sgd, momentum or adam (default: adam)"}
          .one_of({"sgd", "momentum", "adam"})
          .only_in(kTrainingPhase)
          .asked(),
      F{&S::distributions, "distributions", "", "{} {}", ""}.asked(),
      F{&S::service, "service", "", "{} {}", ""}.asked(),
      F{&S::branches, "branches", "branch", "{} taken with {}",
        "probability that a branch is taken, or an exit; repeat for more"}
          .takes("PROBABILITY")
          .range(0, 1)
          .asked(),
      F{&S::trips, "trips", "trips", "{} {} trips",
        "trips of a loop, a number or a distribution; repeat for more"}
          .takes("COUNT")
          .range(0, kMaxTrips)
          .asked(),
      F{&S::dimensions, "dimensions", "dim", "{} {}",
        "size of a dimension that an ONNX file leaves open; repeat for more"}
          .takes("SIZE")
          .range(1, kMaxDimension)
          .asked(),
      F{&S::exact, "exact", "exact", "exact", "execute everything, reuse nothing"}.tells(
          FieldSaid::kToTellApart),
      F{&S::label, "label", "label", "label {}", "any text, kept in the record and shown with it"}
          .takes("TEXT"),
  };
}

const std::vector<RequestField>& request_fields();
// By option or key; InternalError for an unknown one.
const RequestField& request_field(std::string_view name);

bool is_stated(const RequestField& field, const Scenario& scenario);
// The value of a count.
std::int64_t count_of(const RequestField& field, const Scenario& scenario);
void set_count(const RequestField& field, Scenario& scenario, std::int64_t value);
// As a cell of a table: "8", "exact", "yes", "a=1; b=2"; "" when it is not stated.
std::string cell_of(const RequestField& field, const Scenario& scenario);
const char* title_of(const RequestField& field);

enum class ScenarioWords {
  kShort,     // for people: "batch 8, sequence 128, 2 copies"
  kAll,       // different scenarios, different words
  kQuestion,  // the numbers that are asked for, by their titles: "batch 8, sequence length 128"
};
std::string scenario_words(const Scenario& scenario, ScenarioWords which);

}  // namespace foretell
