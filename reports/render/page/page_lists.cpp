// Writes the lists of request fields and of metrics for the scripts of the page, at build time.
// usage: foretell_page_lists FILE.js
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "reports/record/scenario.hpp"
#include "reports/record/summary.hpp"

namespace foretell {
namespace {

using Json = nlohmann::ordered_json;

std::string kind_text(FieldKind kind) {
  constexpr const char* kNames[] = {"count", "number", "flag", "text", "pairs"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string page_lists() {
  Json fields = Json::array();
  for (const RequestField& field : request_fields()) {
    fields.push_back({{"key", field.key},
                      {"option", field.option},
                      {"kind", kind_text(field.kind())},
                      {"title", title_of(field)}});
  }
  Json metrics = Json::array();
  for (const SummaryMetric& metric : summary_metrics()) {
    if ((metric.shown & SummaryMetric::kCharted) == 0) continue;
    metrics.push_back({{"id", metric.name},
                       {"field", metric.field},
                       {"title", metric.title},
                       {"unit", metric.unit},
                       {"best", metric.maximise ? "max" : "min"}});
  }
  return "// Written by foretell_page_lists at build time.\nexport const kFields = " +
         fields.dump(1) + ";\nexport const kMetricList = " + metrics.dump(1) + ";\n";
}

// A file that says the same already keeps its time.
int write_lists(const char* path) {
  const std::string text = page_lists();
  std::ostringstream known;
  known << std::ifstream(path).rdbuf();
  if (known.str() == text) return 0;
  std::ofstream file(path);
  file << text;
  return file.flush() ? 0 : 1;
}

}  // namespace
}  // namespace foretell

int main(int count, char** words) {
  if (count == 2) return foretell::write_lists(words[1]);
  std::cerr << "usage: foretell_page_lists FILE.js\n";
  return 2;
}
