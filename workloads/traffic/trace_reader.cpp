#include "workloads/traffic/trace_reader.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

constexpr double kMaxTime = 1e12;  // seconds; times since 1970 are below
constexpr std::size_t kMaxRequests = 10'000'000;

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
    throw UserError(fmt::format("{}: {} {}: must be a whole number of tokens from 1 to {}", where,
                                name, value, kMaxTraceTokens));
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
    requests_.push_back({row.time - first_, tokens(where, "input_len", row.input),
                         tokens(where, "output_len", row.output), row.session, row.prefix,
                         prefix_tokens(where, row)});
  }

  std::vector<TrafficRequest> finish(const std::string& path) {
    if (requests_.empty()) throw UserError(path + ": holds no requests");
    return std::move(requests_);
  }

 private:
  static std::int32_t prefix_tokens(const std::string& where, const TraceRow& row) {
    if (row.prefix < 0) return 0;
    const std::int32_t length = tokens(where, "prefix_len", row.prefix_len);
    if (length > row.input) {
      throw UserError(fmt::format("{}: prefix_len {} is more than the prompt has, {}", where,
                                  length, row.input));
    }
    return length;
  }

  std::vector<TrafficRequest> requests_;
  double first_ = 0;
  double last_ = 0;
};

double number(const std::string& where, const std::string& name, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') {
    throw UserError(fmt::format("{}: {} '{}': is no number", where, name, text));
  }
  return value;
}

std::size_t column_of(const CsvReader& table, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (const auto column = table.column(name)) return *column;
  }
  throw UserError(
      fmt::format("{}:1: has no column {}; a trace has arrival_s, input_len and output_len",
                  table.path(), names.front()));
}

std::vector<TrafficRequest> read_csv(const std::string& path) {
  CsvReader table(path);
  const std::size_t time = column_of(table, {"arrival_s", "offset_s"});
  const std::size_t input = column_of(table, {"input_len", "prompt_tokens"});
  const std::size_t output = column_of(table, {"output_len", "output_tokens"});
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
    one.time = number(where, table.header()[time], row[time]);
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

std::vector<TrafficRequest> read_json_lines(const std::string& path) {
  InputFile file(path);
  Names sessions;
  Names prefixes;
  TraceBuilder builder;
  std::string line;
  for (std::size_t count = 1; file.read_line(line); ++count) {
    if (trim(line).empty()) continue;
    const std::string where = fmt::format("{}:{}", path, count);
    const auto json = nlohmann::json::parse(line, nullptr, false);
    const auto value = [&](const char* name) {
      const auto found = json.is_object() ? json.find(name) : json.end();
      if (!json.is_object() || found == json.end() || !found->is_number()) {
        throw UserError(fmt::format(
            "{}: must be a JSON object with the numbers arrival_time, input_toks and output_toks",
            where));
      }
      return found->get<double>();
    };
    // A name may be written as a text or as a number.
    const auto name = [&](const char* key, Names& names) {
      const auto found = json.find(key);
      if (found == json.end() || found->is_null()) return -1;
      return names.number(found->is_string() ? found->get<std::string>() : found->dump());
    };
    TraceRow row{value("arrival_time"), value("input_toks"), value("output_toks")};
    row.session = name("session", sessions);
    row.prefix = name("prefix", prefixes);
    if (row.prefix >= 0) row.prefix_len = value("prefix_toks");
    builder.add(where, row);
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
