#include "reports/record/wide_row.hpp"

#include <functional>
#include <utility>

#include "model/base/text.hpp"

namespace foretell {
namespace {

std::string stated(std::int64_t value) { return value == 0 ? "" : std::to_string(value); }
std::string stated(double value) { return value > 0 ? to_text(value) : ""; }
std::string optional_text(const std::optional<double>& value) {
  return value ? to_text(*value) : "";
}

std::string bound(const RunSummary& summary, double Interval::*side) {
  const auto found = summary.interval80.find("latency_s");
  return found == summary.interval80.end() ? "" : to_text(found->second.*side);
}

std::string stated(const std::map<std::string, std::string>& values) {
  std::vector<std::string> words;
  for (const auto& [name, value] : values) words.push_back(name + "=" + value);
  return join(words, "; ");
}

std::string percentile(const RunSummary& summary, double Percentiles::*which) {
  return summary.distribution ? to_text(summary.distribution->latency_s.*which) : "";
}

std::string overhead_of_padding(const RunSummary& summary) {
  const bool pads = summary.distribution && !summary.distribution->padding.empty();
  return pads ? to_text(summary.distribution->padding.front().overhead) : "";
}

struct Column {
  const char* name;
  std::function<std::string(const RunContext&, const RunSummary&)> cell;
};

using C = RunContext;
using S = RunSummary;

const std::vector<Column>& columns() {
  static const std::vector<Column> kColumns = {
      {"system", [](const C& c, const S&) { return c.system; }},
      {"workload", [](const C& c, const S&) { return c.workload; }},
      {"dtype", [](const C& c, const S&) { return c.dtype; }},
      {"batch", [](const C& c, const S&) { return stated(c.scenario.batch); }},
      {"seq_len", [](const C& c, const S&) { return stated(c.scenario.seq_len); }},
      {"input_len", [](const C& c, const S&) { return stated(c.scenario.input_len); }},
      {"output_len", [](const C& c, const S&) { return stated(c.scenario.output_len); }},
      {"context", [](const C& c, const S&) { return stated(c.scenario.context); }},
      {"image_size", [](const C& c, const S&) { return stated(c.scenario.image_size); }},
      {"kv", [](const C& c, const S&) { return c.scenario.kv; }},
      {"kv_dtype", [](const C& c, const S&) { return c.scenario.kv_dtype; }},
      {"sampling", [](const C& c, const S&) { return c.scenario.sampling; }},
      {"tp", [](const C& c, const S&) { return stated(std::int64_t{c.scenario.tp}); }},
      {"sequence_parallel",
       [](const C& c, const S&) { return c.scenario.sequence_parallel ? "yes" : ""; }},
      {"pp", [](const C& c, const S&) { return stated(std::int64_t{c.scenario.pp}); }},
      {"dp", [](const C& c, const S&) { return stated(std::int64_t{c.scenario.dp}); }},
      {"cores", [](const C& c, const S&) { return stated(std::int64_t{c.scenario.cores}); }},
      {"in_flight", [](const C& c, const S&) { return stated(c.scenario.in_flight); }},
      {"sdk", [](const C& c, const S&) { return c.scenario.sdk; }},
      {"phase", [](const C& c, const S&) { return c.scenario.phase; }},
      {"optimizer", [](const C& c, const S&) { return c.scenario.optimizer; }},
      {"distributions", [](const C& c, const S&) { return stated(c.scenario.distributions); }},
      {"shapes", [](const C& c, const S&) { return c.scenario.shapes; }},
      {"branches", [](const C& c, const S&) { return stated(c.scenario.branches); }},
      {"trips", [](const C& c, const S&) { return stated(c.scenario.trips); }},
      {"dimensions", [](const C& c, const S&) { return stated(c.scenario.dimensions); }},
      {"l2", [](const C& c, const S&) { return c.scenario.l2; }},
      {"launch", [](const C& c, const S&) { return c.scenario.launch; }},
      {"clock", [](const C& c, const S&) { return c.scenario.clock; }},
      {"exact", [](const C& c, const S&) { return c.scenario.exact ? "yes" : ""; }},
      {"set", [](const C& c, const S&) { return join(c.set, "; "); }},
      {"factors", [](const C& c, const S&) { return c.factors; }},
      {"assumed_values", [](const C& c, const S&) { return std::to_string(c.assumed_values); }},
      {"latency_s", [](const C&, const S& s) { return to_text(s.latency_s); }},
      {"latency_lo_s", [](const C&, const S& s) { return bound(s, &Interval::low); }},
      {"latency_hi_s", [](const C&, const S& s) { return bound(s, &Interval::high); }},
      {"latency_p50_s", [](const C&, const S& s) { return percentile(s, &Percentiles::p50); }},
      {"latency_p90_s", [](const C&, const S& s) { return percentile(s, &Percentiles::p90); }},
      {"latency_p99_s", [](const C&, const S& s) { return percentile(s, &Percentiles::p99); }},
      {"padding_overhead", [](const C&, const S& s) { return overhead_of_padding(s); }},
      {"throughput", [](const C&, const S& s) { return to_text(s.throughput); }},
      {"throughput_unit", [](const C&, const S& s) { return s.throughput_unit; }},
      {"call_s", [](const C&, const S& s) { return to_text(s.call_s); }},
      {"ttft_s", [](const C&, const S& s) { return optional_text(s.ttft_s); }},
      {"tpot_s", [](const C&, const S& s) { return optional_text(s.tpot_s); }},
      {"cost_usd_per_million",
       [](const C&, const S& s) { return optional_text(s.cost_usd_per_million); }},
      {"memory_used_bytes", [](const C&, const S& s) { return to_text(s.memory_used_bytes); }},
      {"memory_capacity_bytes",
       [](const C&, const S& s) { return to_text(s.memory_capacity_bytes); }},
      {"bottleneck", [](const C&, const S& s) { return s.bottleneck; }},
      {"version", [](const C& c, const S&) { return c.version; }},
      {"commit", [](const C& c, const S&) { return c.commit; }},
  };
  return kColumns;
}

}  // namespace

const CsvRow& wide_header() {
  static const CsvRow kHeader = [] {
    CsvRow header;
    for (const Column& column : columns()) header.emplace_back(column.name);
    return header;
  }();
  return kHeader;
}

CsvRow wide_row(const RunRecord& record) {
  CsvRow row;
  for (const Column& column : columns()) row.push_back(column.cell(record.context, record.summary));
  return row;
}

std::string wide_csv(const std::vector<RunRecord>& records) {
  std::string text = to_csv(wide_header());
  for (const RunRecord& record : records) text += to_csv(wide_row(record));
  return text;
}

}  // namespace foretell
