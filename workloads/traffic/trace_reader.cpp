#include "workloads/traffic/trace_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/date_time/posix_time/posix_time_types.hpp>
#include <boost/date_time/posix_time/time_parsers.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"
#include "reports/record/csv.hpp"
#include "workloads/traffic/shared_openings.hpp"

namespace foretell {
namespace {

constexpr double kMaxTime = 1e12;  // seconds; times since 1970 are below
constexpr std::size_t kMaxRequests = 10'000'000;

// Names of one thing in traces that are published, ours first; of CSV files the same.
using Aliases = std::vector<const char*>;
const Aliases kTimeColumns{"arrival_s", "offset_s", "Timestamp", "TIMESTAMP"};
const Aliases kInputColumns{"input_len", "prompt_tokens", "Request tokens", "ContextTokens"};
const Aliases kOutputColumns{"output_len", "output_tokens", "Response tokens", "GeneratedTokens"};
const Aliases kInputKeys{"input_toks", "input_length"};
const Aliases kOutputKeys{"output_toks", "output_length"};
constexpr char kJsonLine[] =
    "must be a JSON object with the numbers arrival_time (seconds) or timestamp (milliseconds), "
    "input_toks or input_length, and output_toks or output_length";

struct TraceRow {
  double time = 0;
  double input = 0;
  double output = 0;
  std::int32_t session = -1;
  std::int32_t prefix = -1;
  double prefix_len = 0;
};

// Names as numbers, in the order in which they come.
class Names {
 public:
  std::int32_t number(const std::string& name) {
    const auto next = static_cast<std::int32_t>(numbers_.size());
    return name.empty() ? -1 : numbers_.emplace(name, next).first->second;
  }

 private:
  std::map<std::string, std::int32_t> numbers_;
};

std::int32_t tokens(const std::string& where, const char* name, double value) {
  const auto highest = static_cast<double>(kMaxTraceTokens);
  if (!(value >= 1) || !(value <= highest) || value != std::floor(value)) {
    throw UserError(fmt::format("{}: {} {}: must be a whole number of tokens from 1 to {}{}", where,
                                name, value, kMaxTraceTokens,
                                value == 0 ? "; leave requests without an answer out" : ""));
  }
  return static_cast<std::int32_t>(value);
}

class TraceBuilder {
 public:
  void add(const std::string& where, const TraceRow& row) {
    if (!std::isfinite(row.time) || row.time < 0 || row.time > kMaxTime) {
      throw UserError(
          fmt::format("{}: arrival {}: must be a time in seconds, 0 or later", where, row.time));
    }
    if (requests_.size() == kMaxRequests) {
      throw UserError(
          fmt::format("{}: a trace has at most {} requests; cut it", where, kMaxRequests));
    }
    if (requests_.empty()) first_ = row.time;
    if (row.time < last_) {
      throw UserError(
          fmt::format("{}: arrival {} is before that of the row above, {}; sort the trace by time",
                      where, row.time, last_));
    }
    last_ = row.time;
    requests_.push_back({row.time - first_,
                         tokens(where, "input_len", row.input),
                         tokens(where, "output_len", row.output),
                         row.session,
                         {}});
    if (row.prefix >= 0)
      requests_.back().opening.push_back({row.prefix, prefix_tokens(where, row)});
  }

  // Numbers of the blocks of the prompt that was added last.
  void add_blocks(std::vector<std::int64_t> blocks) {
    prompts_.push_back({requests_.back().input_len, std::move(blocks)});
  }

  std::vector<TrafficRequest> finish(const std::string& path) {
    if (requests_.empty()) throw UserError(path + ": holds no requests");
    if (!prompts_.empty()) find_openings(path);
    return std::move(requests_);
  }

 private:
  static std::int32_t prefix_tokens(const std::string& where, const TraceRow& row) {
    const std::int32_t length = tokens(where, "prefix_len", row.prefix_len);
    if (length > row.input) {
      throw UserError(fmt::format("{}: prefix_len {} is more than the prompt has, {}", where,
                                  length, row.input));
    }
    return length;
  }

  void find_openings(const std::string& path) {
    if (prompts_.size() != requests_.size())
      throw UserError(path + ": hash_ids: some requests have none; give all of them, or none");
    const std::int64_t block = tokens_per_block(prompts_);
    if (block == 0) {
      throw UserError(path +
                      ": hash_ids: must be one number per block of a prompt; with no power of two "
                      "from 1 to 4096 as the tokens of a block do the lengths of all agree");
    }
    std::vector<std::vector<SharedPart>> openings = shared_openings(prompts_, block);
    for (std::size_t i = 0; i < openings.size(); ++i) requests_[i].opening = std::move(openings[i]);
  }

  std::vector<TrafficRequest> requests_;
  std::vector<NumberedPrompt> prompts_;
  double first_ = 0;
  double last_ = 0;
};

double number(const std::string& where, const std::string& name, const std::string& text) {
  if (const std::optional<double> value = to_number(trim(text))) return *value;
  throw UserError(fmt::format("{}: {} '{}': is no number", where, name, text));
}

// Seconds, or a date with the time of day in UTC.
double time_of(const std::string& where, const std::string& name, const std::string& text) {
  if (text.find(':') == std::string::npos) return number(where, name, text);
  const std::string date = text.substr(0, text.find('+'));
  try {
    const boost::posix_time::ptime since(boost::gregorian::date(1970, 1, 1));
    const auto gone = boost::posix_time::time_from_string(date) - since;
    if (!gone.is_special()) return static_cast<double>(gone.total_microseconds()) * 1e-6;
  } catch (const std::exception&) {  // Boost's own say neither what nor where
  }
  throw UserError(
      fmt::format("{}: {} '{}': must be seconds or a date and a time, as 2023-11-16 18:17:03.98",
                  where, name, text));
}

std::size_t column_of(const CsvReader& table, const Aliases& names) {
  for (const char* name : names) {
    if (const auto column = table.column(name)) return *column;
  }
  throw UserError(
      fmt::format("{}:1: has no column {}; a trace has arrival_s, input_len and output_len",
                  table.path(), names.front()));
}

std::vector<TrafficRequest> read_csv(const std::string& path) {
  CsvReader table(path);
  const std::size_t time = column_of(table, kTimeColumns);
  const std::size_t input = column_of(table, kInputColumns);
  const std::size_t output = column_of(table, kOutputColumns);
  const auto session = table.column("session");
  const auto prefix = table.column("prefix");
  const auto prefix_len = table.column("prefix_len");
  if (prefix.has_value() != prefix_len.has_value()) {
    throw UserError(fmt::format(
        "{}:1: prefix and prefix_len belong together: whose beginning it is and how long", path));
  }
  Names sessions;
  Names prefixes;
  TraceBuilder builder;
  CsvRow row;
  while (table.next(row)) {
    const std::string where = fmt::format("{}:{}", path, table.line());
    TraceRow one;
    one.time = time_of(where, table.header()[time], row[time]);
    one.input = number(where, table.header()[input], row[input]);
    one.output = number(where, table.header()[output], row[output]);
    if (session) one.session = sessions.number(row[*session]);
    if (prefix) one.prefix = prefixes.number(row[*prefix]);
    if (one.prefix >= 0)
      one.prefix_len = number(where, table.header()[*prefix_len], row[*prefix_len]);
    builder.add(where, one);
  }
  return builder.finish(path);
}

class JsonLine {
 public:
  JsonLine(std::string where, const std::string& line)
      : where_(std::move(where)), json_(Json::parse(line, nullptr, false)) {
    if (!json_.is_object()) fail(kJsonLine);
  }

  double value(const Aliases& keys) const {
    for (const char* key : keys) {
      const auto found = json_.find(key);
      if (found != json_.end() && found->is_number()) return found->get<double>();
    }
    fail(kJsonLine);
  }

  // Seconds. `timestamp` is in milliseconds, but where chats have numbers in seconds.
  double time() const {
    if (json_.contains("arrival_time")) return value({"arrival_time"});
    return value({"timestamp"}) * (json_.contains("chat_id") ? 1 : 1e-3);
  }

  // A name may be written as a text or as a number.
  std::int32_t name(const Aliases& keys, Names& names) const {
    for (const char* key : keys) {
      const auto found = json_.find(key);
      if (found == json_.end() || found->is_null()) continue;
      return names.number(found->is_string() ? found->get<std::string>() : found->dump());
    }
    return -1;
  }

  bool has_blocks() const { return json_.contains("hash_ids"); }
  std::vector<std::int64_t> blocks() const {
    try {
      return json_.at("hash_ids").get<std::vector<std::int64_t>>();
    } catch (const Json::exception&) {
      fail("hash_ids: must be a list of whole numbers");
    }
  }

  [[noreturn]] void fail(const std::string& what) const { throw UserError(where_ + ": " + what); }
  const std::string& where() const { return where_; }

 private:
  using Json = nlohmann::json;
  std::string where_;
  Json json_;
};

// Blocks say more than names of sessions, whose turns they show to begin alike.
std::vector<TrafficRequest> read_json_lines(const std::string& path) {
  InputFile file(path);
  Names sessions;
  Names prefixes;
  TraceBuilder builder;
  std::string text;
  for (std::size_t count = 1; file.read_line(text); ++count) {
    if (trim(text).empty()) continue;
    const JsonLine line(fmt::format("{}:{}", path, count), text);
    TraceRow row{line.time(), line.value(kInputKeys), line.value(kOutputKeys)};
    if (!line.has_blocks()) row.session = line.name({"session", "session_id"}, sessions);
    row.prefix = line.name({"prefix"}, prefixes);
    if (row.prefix >= 0) row.prefix_len = line.value({"prefix_toks"});
    if (row.prefix >= 0 && line.has_blocks())
      line.fail("prefix and hash_ids both say how it begins; leave one out");
    builder.add(line.where(), row);
    if (line.has_blocks()) builder.add_blocks(line.blocks());
  }
  return builder.finish(path);
}

}  // namespace

std::vector<TrafficRequest> read_trace(const std::string& path) {
  InputFile file(path);
  std::string first;
  while (file.read_line(first) && trim(first).empty()) {
  }
  if (trim(first).empty()) {
    throw UserError(
        path +
        ": is empty; a trace is CSV with the columns arrival_s, input_len, output_len, or "
        "JSON lines with arrival_time, input_toks, output_toks");
  }
  const bool is_json = starts_with(trim(first), "{") || ends_with(path, ".jsonl");
  return is_json ? read_json_lines(path) : read_csv(path);
}

}  // namespace foretell
