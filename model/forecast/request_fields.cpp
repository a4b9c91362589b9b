#include "model/forecast/request_fields.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/forecast/distribution_text.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kMaxBatch = 1'000'000;
constexpr std::int64_t kMaxTokens = 10'000'000;
constexpr std::int64_t kMaxPixels = 65'536;
constexpr std::int64_t kMaxDimension = 1'000'000'000;
constexpr std::int64_t kMaxWays = 100'000;  // cores, copies and shards of one system

template <auto Member>
std::int64_t get(const Request& request) {
  return request.*Member;
}

template <auto Member>
void set(Request& request, std::int64_t value) {
  using Value = std::remove_reference_t<decltype(request.*Member)>;
  request.*Member = static_cast<Value>(value);  // the range of every field fits its type
}

template <auto Member>
constexpr CountField field(const char* option, const char* column, std::int64_t high,
                           const char* help) {
  return {option, column, help, 1, high, &get<Member>, &set<Member>};
}

// The number that the whole text spells, in any notation; nothing for anything else.
std::optional<double> whole_text_as_number(std::string_view text) {
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ptr != text.data() + text.size() || text.empty()) return std::nullopt;
  if (result.ec == std::errc::result_out_of_range) return HUGE_VAL;
  if (result.ec != std::errc() || std::isnan(value)) return std::nullopt;
  return value;
}

}  // namespace

const std::vector<CountField>& count_fields() {
  static const std::vector<CountField> kFields = {
      field<&Request::batch>("batch", "batch", kMaxBatch, "samples per call"),
      field<&Request::seq_len>("seq", "seq_len", kMaxTokens,
                               "tokens per sample, one forward pass; a number, or a distribution: "
                               "uniform:16..512, histogram:FILE"),
      field<&Request::input_len>("input-len", "input_len", kMaxTokens,
                                 "prompt tokens (prefill); a number or a distribution"),
      field<&Request::output_len>("output-len", "output_len", kMaxTokens,
                                  "generated tokens (decode); a number or a distribution"),
      field<&Request::context>("context", "context", kMaxTokens,
                               "longest context that is compiled for (default: the network's)"),
      field<&Request::image_size>("image-size", "image_size", kMaxPixels,
                                  "height and width of images in pixels"),
      field<&Request::tp>("tp", "tp", kMaxWays, "cores that share one copy of the model"),
      field<&Request::pp>("pp", "pp", kMaxWays, "pipeline stages of one copy"),
      field<&Request::ep>("ep", "ep", kMaxWays,
                          "groups of GPUs of a copy that each hold some of the experts"),
      field<&Request::moe_tp>("moe-tp", "moe_tp", kMaxWays,
                              "GPUs that share each expert (default: the rest of a copy)"),
      field<&Request::attention_dp>(
          "attention-dp", "attention_dp", kMaxWays,
          "groups of --tp GPUs of a copy that each have some of the sequences"),
      field<&Request::dp>("dp", "dp", kMaxWays,
                          "copies side by side (default: as many as fit the cores)"),
      field<&Request::cores>("cores", "cores", kMaxWays, "cores to use (default: all)"),
  };
  return kFields;
}

const CountField& find_count_field(std::string_view option) {
  for (const CountField& field : count_fields()) {
    if (option == field.option) return field;
  }
  throw InternalError(__FILE__, __LINE__, "no count field " + std::string(option));
}

const std::vector<ChoiceField>& choice_fields() {
  static const std::vector<ChoiceField> kFields = {
      {"kv",
       "kv",
       "KV cache that decode steps read: 'bucket', the compiled length, or 'exact', the positions "
       "so far (default: bucket)",
       {"bucket", "exact"},
       &Request::kv},
      {"kv-dtype",
       "kv_dtype",
       "data type of the KV cache (default: that of --dtype)",
       {"int8", "fp8", "fp16", "bf16", "fp32"},
       &Request::kv_dtype},
      {"sampling",
       "sampling",
       "where the next token is chosen: device or host (default: device)",
       {"device", "host"},
       &Request::sampling},
      {"launch",
       "launch",
       "of GPUs: kernels as one 'graph', or one by one in a 'stream' (default: graph)",
       {"graph", "stream"},
       &Request::launch,
       false},
      {"clock",
       "clock",
       "of GPUs: 'burst', as long as the power limit lets it, or 'sustained' (default: burst)",
       {"burst", "sustained"},
       &Request::clock,
       false},
  };
  return kFields;
}

std::string parse_choice(const ChoiceField& field, std::string_view text) {
  const std::string word(trim(text));
  if (std::find(field.choices.begin(), field.choices.end(), word) == field.choices.end())
    throw unknown_name(field.option, word, field.choices);
  return word;
}

std::int64_t parse_count(std::string_view name, std::string_view text, std::int64_t low,
                         std::int64_t high) {
  const std::string_view word = trim(text);
  const std::optional<double> number = whole_text_as_number(word);
  const bool good = number && std::trunc(*number) == *number &&
                    *number >= static_cast<double>(low) && *number <= static_cast<double>(high);
  if (!good) {
    throw UserError(std::string(name) + ": '" + std::string(word) +
                    "' is not allowed; it must be a whole number from " + std::to_string(low) +
                    " to " + std::to_string(high));
  }
  return static_cast<std::int64_t>(*number);
}

void set_length(Request& request, const CountField& field, std::string_view name,
                std::string_view text) {
  const std::string_view option = field.option;
  const bool may_vary =
      option == "seq" || option == "input-len" || option == "output-len" || option == "image-size";
  if (!may_vary || !is_distribution(text)) {
    field.set(request, parse_count(name, text, field.low, field.high));
    return;
  }
  const Distribution lengths = parse_distribution(name, text, field.low, field.high);
  field.set(request, static_cast<std::int64_t>(lengths.highest()));
  request.distributions[field.option] = std::string(trim(text));
}

std::pair<std::string, std::string> parse_pair(std::string_view option, std::string_view text,
                                               std::string_view what) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw UserError(std::string(option) + ": '" + std::string(text) +
                    "' is not allowed; it must be NAME=" + std::string(what));
  }
  return {std::string(trim(text.substr(0, equals))), std::string(trim(text.substr(equals + 1)))};
}

void add_dimension(Request& request, std::string_view text) {
  const auto [name, size] = parse_pair("--dim", text, "SIZE");
  const std::string option = "dim " + name;
  const Distribution sizes = parse_distribution("--" + option, size, 1, kMaxDimension);
  if (!request.dimensions.emplace(name, static_cast<std::int64_t>(sizes.highest())).second)
    throw UserError("--" + option + ": is given twice");
  if (is_distribution(size)) request.distributions[option] = size;
}

void add_branch(Request& request, std::string_view text) {
  const auto [name, probability] = parse_pair("--branch", text, "PROBABILITY");
  const std::optional<double> number = whole_text_as_number(probability);
  if (!number || !(*number >= 0) || !(*number <= 1)) {
    throw UserError("--branch " + name + ": '" + probability +
                    "' is not allowed; a probability is a number from 0 to 1");
  }
  if (!request.branches.emplace(name, probability).second)
    throw UserError("--branch " + name + ": is given twice");
}

void add_trips(Request& request, std::string_view text) {
  const auto [name, count] = parse_pair("--trips", text, "COUNT");
  parse_distribution("--trips " + name, count, 0, kMostTrips);
  if (!request.trips.emplace(name, count).second)
    throw UserError("--trips " + name + ": is given twice");
}

double parse_positive(std::string_view name, std::string_view text, double high) {
  const std::string_view word = trim(text);
  const std::optional<double> number = whole_text_as_number(word);
  if (!number || !(*number > 0) || !(*number <= high)) {
    throw UserError(std::string(name) + ": '" + std::string(word) +
                    "' is not allowed; it must be a number above 0 and up to " + to_text(high));
  }
  return *number;
}

}  // namespace foretell
