#include "reports/record/wide_row.hpp"

#include <functional>
#include <utility>

#include "model/base/text.hpp"

namespace foretell {
namespace {

std::string percentile(const RunSummary& summary, double Percentiles::*which) {
  return summary.distribution ? to_text(summary.distribution->latency_s.*which) : "";
}

std::string overhead_of_padding(const RunSummary& summary) {
  const bool pads = summary.distribution && !summary.distribution->padding.empty();
  return pads ? to_text(summary.distribution->padding.front().overhead) : "";
}

struct Column {
  std::string name;
  std::function<std::string(const RunContext&, const RunSummary&)> cell;
};

using C = RunContext;
using S = RunSummary;

void add_scenario(std::vector<Column>& columns) {
  for (const RequestField& field : request_fields()) {
    columns.push_back(
        {field.key, [&field](const C& c, const S&) { return cell_of(field, c.scenario); }});
  }
}

// Intervals follow their metric, the percentiles the latency, the unit the throughput.
void add_metrics(std::vector<Column>& columns) {
  for (const SummaryMetric& metric : summary_metrics()) {
    columns.push_back(
        {metric.field, [&metric](const C&, const S& s) { return cell_of(metric, s); }});
    const std::string_view field = metric.field;
    if (has_interval(metric)) {
      for (const auto& [name, end] : {std::pair{"lo", &Interval::low}, {"hi", &Interval::high}}) {
        columns.push_back(
            {interval_column(field, name),
             [&metric, end = end](const C&, const S& s) { return interval_end(metric, s, end); }});
      }
    }
    if (field == "latency_s") {
      columns.insert(
          columns.end(),
          {{"latency_p50_s", [](const C&, const S& s) { return percentile(s, &Percentiles::p50); }},
           {"latency_p90_s", [](const C&, const S& s) { return percentile(s, &Percentiles::p90); }},
           {"latency_p99_s", [](const C&, const S& s) { return percentile(s, &Percentiles::p99); }},
           {"padding_overhead", [](const C&, const S& s) { return overhead_of_padding(s); }}});
    }
    if (field == "throughput") {
      columns.push_back(
          {"throughput_unit", [](const C&, const S& s) { return s.throughput_unit; }});
    }
  }
}

const std::vector<Column>& columns() {
  static const std::vector<Column> kColumns = [] {
    std::vector<Column> all = {{"system", [](const C& c, const S&) { return c.system; }},
                               {"workload", [](const C& c, const S&) { return c.workload; }},
                               {"dtype", [](const C& c, const S&) { return c.dtype; }}};
    add_scenario(all);
    all.push_back({"set", [](const C& c, const S&) { return join(c.set, "; "); }});
    all.push_back({"factors", [](const C& c, const S&) { return c.factors; }});
    all.push_back(
        {"assumed_values", [](const C& c, const S&) { return std::to_string(c.assumed_values); }});
    add_metrics(all);
    all.push_back({"bottleneck", [](const C&, const S& s) { return s.bottleneck; }});
    all.push_back({"version", [](const C& c, const S&) { return c.version; }});
    all.push_back({"commit", [](const C& c, const S&) { return c.commit; }});
    return all;
  }();
  return kColumns;
}

}  // namespace

const CsvRow& wide_header() {
  static const CsvRow kHeader = [] {
    CsvRow header;
    for (const Column& column : columns()) header.push_back(column.name);
    return header;
  }();
  return kHeader;
}

CsvRow wide_row(const RunRecord& record) {
  CsvRow row;
  for (const Column& column : columns()) row.push_back(column.cell(record.context, record.summary));
  return row;
}

}  // namespace foretell
