#include "model/app/tables/table_request.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "hw/spec/gpu/kernel_library.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/request/resolve/resolved_request.hpp"
#include "model/app/serving/request/serve_keys.hpp"
#include "model/app/tables/row_filter.hpp"
#include "model/base/errors.hpp"
#include "model/base/names.hpp"
#include "model/base/text.hpp"
#include "model/predict/queueing.hpp"
#include "workloads/ir/dtype.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {
namespace {

constexpr double kMsPerSecond = 1e3;
constexpr double kUsPerHostSecond = 1e6;

constexpr const char* kForward = "forward";
constexpr const char* kDecode = "decode";
constexpr const char* kDiffusion = "diffusion";
constexpr const char* kTrainStep = "train-step";
constexpr const char* kAllCopies = "all";
constexpr const char* kNoTokens = "0";
constexpr const char* kOneToken = "1";
constexpr const char* kOfGpu = "gpu";
constexpr const char* kNewestHost = "newest";

bool is_one_of(std::string_view column, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), column) != names.end();
}

// "224x224" -> "224": images are square. A number alone stays as it is. A film of 16 images, the
// only one that a network here takes, may state their number in front.
std::string square_side(const std::string& text) {
  std::vector<std::string> sides = split(text, 'x');
  if (sides.size() == 1) return text;
  if (sides.size() == 3 && sides.front() == "16") sides.erase(sides.begin());
  if (sides.size() == 2 && sides[0] == sides[1]) return sides[0];
  throw UserError(
      "image_size: '" + text +
      "' is not allowed; it must be one number of pixels or two equal ones, as 224x224");
}

const char* column_of(const RequestField& field) {
  return *field.column == '\0' ? field.key : field.column;
}

// Whether a column says anything in this phase.
bool applies(const RequestField& field, const std::string& phase) {
  if (phase == kDecode) return field.phases != (kForwardPhase | kTrainingPhase);
  return field.phases != kGenerationPhase;
}

// Weights of 8 bits make a policy of their own; wider ones are converted when the program is
// compiled, whichever the file of the network holds ("fp32, bf16").
std::string with_weights(const std::string& weight, const std::string& compute) {
  if (weight.empty() || weight == compute) return compute;
  const bool computes_narrow = size_of(find_precision(compute).matmul_compute) < Bytes(2);
  for (const std::string& name : split(weight, ',')) {
    DType dtype = DType::kFp32;
    try {
      dtype = parse_dtype(trim(name));
    } catch (const UserError& error) {
      throw UserError(std::string("weight_dtype: ") + error.what());
    }
    if (size_of(dtype) >= Bytes(2) || computes_narrow) continue;
    if (dtype == DType::kInt8) return "int8-weights";
    if (dtype == DType::kFp8) return "fp8-weights";
    throw UserError("weight_dtype: " + name + " with " + compute +
                    " is not modelled; narrow weights are int8 or fp8");
  }
  return compute;
}

std::string cell(const CellMap& cells, const char* column) {  // "" without the column
  const auto found = cells.find(column);
  return found == cells.end() ? "" : found->second;
}

std::string read_dtype(const CellMap& cells) {
  const std::string compute = cell(cells, "compute_dtype");
  const std::string weight = cell(cells, "weight_dtype");
  if (compute.empty()) return weight;
  return with_weights(weight, compute);
}

// "dp: all" of a rule: a copy on as many GPUs of the system as there are for it.
void give_every_gpu_a_copy(CellMap& cells) {
  std::string& copies = cells["dp"];
  if (copies != kAllCopies) return;
  const std::string tp = cell(cells, "tp");
  const std::int64_t ranks = tp.empty() ? 1 : parse_count("tp", tp, 1, kMaxWays);
  const int devices = GpuCatalog().load(cell(cells, "system")).spec.devices;
  copies = std::to_string(std::max<std::int64_t>(1, devices / ranks));
}

// "host: newest" of a rule: the board is beside a processor as those of the newest boards, whatever
// its own age.
void give_newest_host(const CellMap& cells, Request& request) {
  if (cell(cells, "host") != kNewestHost) return;
  const auto time = kernel_libraries().of_networks(request.library).per_launch;
  if (!time) return;
  request.set.push_back(
      fmt::format("device.stream_floor={:.6g} us", time->value() * kUsPerHostSecond));
}

// "padding: 0.5" of a rule: the share of the tokens that the software leaves out.
void leave_out_padding(const CellMap& cells, Request& request) {
  const std::string share = cell(cells, "padding");
  if (!share.empty()) request.set.push_back("workload.padding=" + share);
}

// Tables count physical cores; where software joins them, programs see fewer.
void count_joined_cores(Request& request) {
  const int used = std::max(1, request.tp) * std::max(1, request.pp) * std::max(1, request.dp);
  if (request.cores <= used) return;
  const auto catalog = kept_catalog();
  const std::vector<std::string> systems = catalog->systems();
  const bool of_neuron = std::find(systems.begin(), systems.end(), request.system) != systems.end();
  if (!of_neuron) return;
  const NeuronSystemSpec spec = catalog->load(request.system).spec;
  const int joined = std::max(1, spec.device.cores_per_logical_core);
  if (request.cores > spec.devices * spec.device.cores / joined) request.cores /= joined;
}

std::string phase_of(const CellMap& cells) {
  const std::string phase = cell(cells, "phase");
  if (!phase.empty()) return phase;
  const bool has_prompt = !cell(cells, "input_len").empty() && cell(cells, "seq_len").empty();
  return has_prompt || !cell(cells, "output_len").empty() ? kDecode : kForward;
}

// A benchmark of prompts generates 0 tokens: its time is that of the first token. One of tokens has
// prompts of 0: generation starts at one token, that of the beginning. The tokens of a prompt
// alone; 0 for other rows.
std::int64_t read_one_side(CellMap& cells) {
  if (phase_of(cells) != kDecode) return 0;
  const std::string prompt = cell(cells, "input_len");
  const std::string answer = cell(cells, "output_len");
  if (prompt == kNoTokens && answer != kNoTokens && !answer.empty()) cells["input_len"] = kOneToken;
  if (answer != kNoTokens || prompt == kNoTokens || prompt.empty()) return 0;
  cells["output_len"] = kOneToken;
  return parse_count("input_len", prompt, 1, kMaxTokens);
}

void read_lengths(const CellMap& cells, Request& request) {
  const std::string phase = phase_of(cells);
  if (!is_one_of(phase, {kForward, kDecode, kDiffusion, kTrainStep})) {
    throw unknown_name("phase", phase, {kForward, kDecode, kDiffusion, kTrainStep});
  }
  if (phase == kTrainStep) request.phase = phase;
  for (const RequestField& field : request_fields()) {
    const char* column = column_of(field);
    std::string text = cell(cells, column);
    const bool is_phase = std::string_view(field.key) == "phase";
    if (text.empty() || is_phase || *field.option == '\0' || !applies(field, phase)) continue;
    if (std::string_view(field.key) == "image_size") text = square_side(text);
    set_field(request, field, column, text);
  }
  // Decode rows state in seq_len for which context the program was compiled.
  const std::string compiled = cell(cells, "seq_len");
  if (phase == kDecode && !compiled.empty() && request.context == 0) {
    const RequestField& field = request_field("context");
    set_count(field, request, parse_count("seq_len", compiled, field.low, field.high));
  }
  if (phase == kDecode && (request.input_len == 0 || request.output_len == 0)) {
    throw UserError(
        "phase: decode needs input_len and output_len; one pass of the network is "
        "stated by seq_len");
  }
}

// Lengths of generations say nothing of one pass.
void refuse_lengths_of_generations(const CellMap& cells) {
  if (phase_of(cells) != kForward) return;
  for (const char* column : {"input_len", "output_len"}) {
    const std::string text = cell(cells, column);
    if (text.empty() || text == kNoTokens) continue;
    throw UserError(fmt::format(
        "{}: is about generations, phase=decode; of phase=forward, one pass, seq_len is the length",
        column));
  }
}

// A measured rate counts what the predicted one does: tokens of a generation, else whole inputs.
void check_rate_unit(const CellMap& cells) {
  const std::string unit = to_lower(cell(cells, "throughput_unit"));
  if (unit.empty() || cell(cells, "throughput").empty()) return;
  const auto names = [&unit](const char* word) { return unit.find(word) != std::string::npos; };
  if (phase_of(cells) == kDecode) {
    if (names("token")) return;
    throw UserError(
        fmt::format("throughput_unit: '{}' of a generation; its rate is in tokens/s: requests/s "
                    "times output_len",
                    unit));
  }
  constexpr const char* kInputs[] = {"inf",  "sampl", "seq", "sent",   "imag",  "img", "req",
                                     "quer", "fram",  "vid", "exampl", "input", "item"};
  const bool known = std::any_of(std::begin(kInputs), std::end(kInputs), names);
  if (known && !names("token") && !names("batch")) return;
  throw UserError(
      fmt::format("throughput_unit: '{}' of one pass; its rate is in inferences/s (samples, "
                  "sequences, images): "
                  "batches/s times batch",
                  unit));
}

// "rate_of: gpu" of a rule: the row divides its rate by the GPUs that make it.
double rate_scale(const CellMap& cells, std::int64_t prompt_tokens, const Request& request) {
  const double scale = prompt_tokens > 0 ? static_cast<double>(prompt_tokens) : 1;
  if (cell(cells, "rate_of") != kOfGpu) return scale;
  return scale / (std::max(1, request.tp) * std::max(1, request.pp) * std::max(1, request.dp));
}

std::string read_engine(const CellMap& cells) {
  std::string engine = cell(cells, "engine");
  if (engine.empty() || phase_of(cells) == kDecode) return engine;
  throw UserError(
      "engine: is about generations; leave it empty, or say phase=decode with input_len and "
      "output_len");
}

// "Seq-Len" as "seqlen".
std::string letters_of(std::string_view name) { return join(words_of(name), ""); }

// What options, studies and records call a column, in letters alone.
struct ColumnName {
  std::string letters;
  const char* column;
};

std::vector<ColumnName> column_names() {
  std::vector<ColumnName> names = {{"dtype", "compute_dtype"}, {"precision", "compute_dtype"}};
  for (const RequestField& field : request_fields()) {
    if (*field.option == '\0') continue;
    for (const char* own : {column_of(field), field.option, field.key})
      names.push_back({letters_of(own), column_of(field)});
  }
  return names;
}

// What a column is called here, by the name of its option or key; "" for others.
std::string meant_column(const std::string& name) {
  const std::string letters = letters_of(name);
  for (const ColumnName& known : column_names()) {
    if (letters == known.letters) return known.column;
  }
  return "";
}

// The column whose name this begins with, or is but for a slip of the keys; "" for others.
std::string nearest_column(const std::string& name) {
  constexpr std::size_t kTelling = 5;  // shorter words begin too many others
  const std::string letters = letters_of(name);
  for (const ColumnName& known : column_names()) {
    const bool is_begun = known.letters.size() >= kTelling && starts_with(letters, known.letters);
    if (is_begun || is_slip_of(letters, known.letters)) return known.column;
  }
  return "";
}

// "Concurrency", "rate" and "max_batch" are of services.
bool is_of_services(const std::string& name) {
  const auto& keys = serve_keys();
  return std::any_of(keys.begin(), keys.end(), [&name](const ServeKey& known) {
    return known.lists && std::string_view(known.key) != "engine" &&
           letters_of(known.key) == letters_of(name);
  });
}

bool states_requests(const CsvRow& header) {
  return has_column(header, "system") && has_column(header, "workload");
}

}  // namespace

CsvRow meant_columns(CsvRow header) {
  for (std::string& name : header) {
    const std::string column = meant_column(name);
    if (!column.empty() && !has_column(header, column)) name = column;
  }
  return header;
}

std::vector<std::string> unread_columns(const CsvRow& header) {
  std::vector<std::string> texts;
  if (!states_requests(header)) return texts;
  for (const std::string& name : header) {
    if (!meant_column(name).empty()) continue;
    if (is_of_services(name)) {
      texts.push_back(fmt::format(
          "column '{}' is not read, as rows with system and workload are single calls; "
          "`foretell serve` and studies predict services, as do tables with gpu, model, framework, "
          "precision, concurrency, isl and osl",
          name));
      continue;
    }
    const std::string column = nearest_column(name);
    if (!column.empty())
      texts.push_back(fmt::format("column '{}' is not read; nearest is '{}'", name, column));
  }
  return texts;
}

RowReader::RowReader(const TableLayout& layout, const CsvRow& header, Request defaults)
    : layout_(layout),
      columns_(header),
      published_(PublishedRows::load(header)),
      defaults_(std::move(defaults)) {
  if (published_ || !states_requests(header)) return;
  columns_ = meant_columns(header);
  names_ = column_names_of_fields();
  for (auto& [option, column] : names_) {
    const auto found = std::find(columns_.begin(), columns_.end(), column);
    if (found != columns_.end())
      column = header[static_cast<std::size_t>(found - columns_.begin())];
  }
}

CellMap RowReader::cells_of(const CsvRow& row) const {
  CellMap cells;
  for (std::size_t i = 0; i < columns_.size(); ++i) cells[columns_[i]] = trim(row[i]);
  if (published_) {
    published_->complete(cells);
    give_every_gpu_a_copy(cells);
  }
  return cells;
}

RowReader::Question RowReader::question(const CsvRow& row) const {
  if (layout_.kind != TableKind::kModels) {
    throw UserError("tables of kind " + layout_.name +
                    " hold kernels, not networks; they are answered without a request");
  }
  CellMap cells = cells_of(row);
  const std::int64_t prompt_tokens = read_one_side(cells);
  Request request = defaults_;
  request.system = cell(cells, "system");
  request.workload = cell(cells, "workload");
  if (request.system.empty()) throw UserError("system: is empty; see `foretell list systems`");
  if (request.workload.empty()) {
    throw UserError("workload: is empty; see `foretell list workloads`");
  }
  request.dtype = read_dtype(cells);
  if (!published_) {
    refuse_lengths_of_generations(cells);
    check_rate_unit(cells);
  }
  read_lengths(cells, request);
  count_joined_cores(request);
  give_newest_host(cells, request);
  leave_out_padding(cells, request);
  check_request(request);
  const double scale = rate_scale(cells, prompt_tokens, request);
  const bool is_counted = !cell(cells, "batch").empty();
  return {std::move(request), read_engine(cells), scale,
          is_counted ? "" : "batch not stated: 1 taken"};
}

namespace {

// What a table calls the time of a call, in ms, per second of a call of the record.
double table_ms(const RunRecord& record) {
  const Scenario& scenario = record.context.scenario;
  const Serving serving{scenario.batch, scenario.dp, scenario.in_flight};
  return table_call(Seconds(1), serving).value() * kMsPerSecond;
}

// Tokens of prompt and answer per token of the answer; 1 for a forward pass.
double all_tokens(const RunRecord& record) {
  const Scenario& scenario = record.context.scenario;
  if (scenario.output_len == 0) return 1;
  const auto output = static_cast<double>(scenario.output_len);
  return (static_cast<double>(scenario.input_len) + output) / output;
}

}  // namespace

std::map<std::string, double> predicted_values(const RunRecord& record) {
  const RunSummary& summary = record.summary;
  std::map<std::string, double> values;
  values["pred_call_ms"] = summary.call_s * table_ms(record);
  values["pred_throughput"] = summary.throughput;
  if (summary.tpot_s) values[kThroughputAllTokens] = summary.throughput * all_tokens(record);
  if (summary.ttft_s) values["pred_ttft_ms"] = *summary.ttft_s * kMsPerSecond;
  if (summary.tpot_s) values["pred_tpot_ms"] = *summary.tpot_s * kMsPerSecond;
  // The interval belongs to what the row is about: the token in decode, the call otherwise.
  const std::map<std::string, Interval> intervals = predicted_intervals(record);
  const auto interval = intervals.find(summary.tpot_s ? "tpot_ms" : "call_ms");
  if (interval != intervals.end()) {
    values["pred_lo_ms"] = interval->second.low;
    values["pred_hi_ms"] = interval->second.high;
  }
  for (const char* quantity : {"call", "ttft", "tpot"}) {
    const auto own = intervals.find(std::string(quantity) + "_ms");
    if (own == intervals.end()) continue;
    values[fmt::format("pred_{}_lo_ms", quantity)] = own->second.low;
    values[fmt::format("pred_{}_hi_ms", quantity)] = own->second.high;
  }
  if (const auto own = intervals.find("throughput"); own != intervals.end()) {
    values["pred_throughput_lo"] = own->second.low;
    values["pred_throughput_hi"] = own->second.high;
  }
  if (summary.cost_usd_per_million) values["pred_usd_per_million"] = *summary.cost_usd_per_million;
  const std::pair<const char*, const std::optional<double>*> energies[] = {
      {"watts", &summary.watts},
      {"wall_watts", &summary.wall_watts},
      {"joules_per_token", &summary.joules_per_token},
      {"joules_per_request", &summary.joules_per_request}};
  for (const auto& [field, value] : energies) {
    if (!*value) continue;
    values[fmt::format("pred_{}", field)] = **value;
    const auto own = summary.interval80.find(field);
    if (own == summary.interval80.end()) continue;
    values[fmt::format("pred_{}_lo", field)] = own->second.low;
    values[fmt::format("pred_{}_hi", field)] = own->second.high;
  }
  if (summary.memory_used_bytes > 0) values["pred_memory_bytes"] = summary.memory_used_bytes;
  return values;
}

std::map<std::string, std::string> predicted_texts(const RunRecord& record) {
  return {{"pred_bottleneck", record.summary.bottleneck}};
}

std::map<std::string, Interval> predicted_intervals(const RunRecord& record) {
  std::map<std::string, Interval> intervals;
  const auto add = [&](const char* column, const char* field, double scale) {
    const auto found = record.summary.interval80.find(field);
    if (found == record.summary.interval80.end()) return;
    intervals[column] = {found->second.low * scale, found->second.high * scale};
  };
  add("call_ms", "call_s", table_ms(record));
  add("ttft_ms", "ttft_s", kMsPerSecond);
  add("tpot_ms", "tpot_s", kMsPerSecond);
  for (const MeasuredColumn& one : energy_quantities())
    add(one.quantity.c_str(), one.quantity.c_str(), 1);
  add("throughput", "throughput", 1);
  add(kThroughputAllTokens, "throughput", all_tokens(record));
  return intervals;
}

}  // namespace foretell
