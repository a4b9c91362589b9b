#include "model/app/command/report/report_output.hpp"

#include <fmt/format.h>

#include "calib/validate/accuracy_report.hpp"
#include "model/base/errors.hpp"
#include "reports/render/answer.hpp"
#include "reports/render/html_report.hpp"
#include "reports/render/record_text.hpp"
#include "reports/render/service_text.hpp"

namespace foretell {
namespace {

constexpr const char* kNoPrediction = "There are no predictions.\n";

std::string verdict_text(const Judgement& judgement) {
  return judgement.verdict + (judgement.close ? ", too close to call" : "");
}

std::string why_text(const JudgedClaim& judged) {
  const std::string& note = judged.claim.note;
  return judged.judgement.why + (note.empty() ? "" : ". " + note);
}

Table claim_table(const std::vector<JudgedClaim>& claims) {
  Table table;
  table.columns = {{"claim"}, {"source"}, {"verdict"}, {"predicted"}, {"needs"}, {"why"}};
  for (const JudgedClaim& judged : claims) {
    table.rows.push_back({judged.claim.says, judged.claim.source, verdict_text(judged.judgement),
                          judged.judgement.predicted, judged.judgement.needs, why_text(judged)});
  }
  return table;
}

std::string markdown(const ReportContent& content) {
  std::string text;
  if (!content.title.empty()) text += "# " + markdown_text(content.title) + "\n\n";
  for (const std::string& sentence : answer_of(content)) text += markdown_text(sentence) + "\n\n";
  if (!content.about.empty()) text += markdown_text(content.about) + "\n\n";
  if (!content.claims.empty()) text += render_markdown(claim_table(content.claims)) + "\n";
  if (!content.records.empty()) {
    text += comparison_markdown(compared(content.records), kOnDemand);
  } else if (content.problems.empty()) {
    text += kNoPrediction;
  }
  for (const std::string& problem : content.problems)
    text += "\nNot predicted: " + markdown_text(problem) + "\n";
  return text;
}

std::string plain(const ReportContent& content, int width) {
  std::string text;
  for (const std::string& sentence : answer_of(content)) text += sentence + "\n";
  if (!text.empty()) text += "\n";
  if (!content.claims.empty()) text += render_text(claim_table(content.claims), width) + "\n";
  if (!content.records.empty()) {
    text += comparison_text(compared(content.records), kOnDemand, width);
  } else if (content.problems.empty()) {
    text += kNoPrediction;
  }
  for (const std::string& problem : content.problems) text += "\nnot predicted: " + problem + "\n";
  return text;
}

std::string rendered_accuracy(const ReportContent& content, Format form, int width) {
  const AccuracyReport report = accuracy_from_json(content.accuracy, content.title);
  if (form == Format::kTable) return accuracy_text(report, width);
  if (form == Format::kJson) return accuracy_json(report);
  if (form == Format::kMarkdown)
    return "# " + markdown_text(content.title) + "\n\n" + accuracy_markdown(report);
  return rows_text(accuracy_rows(report), form);
}

std::string rendered_rows(const PredictedRows& table, Format form) {
  if (table.rows.size() < table.total) {
    throw UserError(fmt::format(
        "the table has {} rows, of which a report keeps the first {}; `foretell predict TABLE -o "
        "FILE` writes all of them as .csv, .jsonl or .md",
        table.total, table.rows.size()));
  }
  std::vector<CsvRow> rows = {table.header};
  rows.insert(rows.end(), table.rows.begin(), table.rows.end());
  return rows_text(rows, form);
}

std::string rendered_services(const ReportContent& content, Format form, int width) {
  if (form == Format::kTable) return services_text(content.services, width);
  if (form == Format::kMarkdown) return services_markdown(content.title, content.services);
  std::string lines;
  if (form == Format::kJson) {
    for (const ServeRecord& service : content.services) lines += to_json(service) + "\n";
    return lines;
  }
  return rows_text(serve_rows(content.services), form);
}

}  // namespace

Format report_format(const std::string& output, const std::string& format) {
  const Format form = output == "-" ? parse_format(format) : format_of_file(output);
  if (output != "-" && format_by_ending(output, format) != format) {
    throw UserError(
        fmt::format("--format {}: the ending of {} says another form; leave it out, or name "
                    "another file",
                    format, output));
  }
  if (form == Format::kHtml) check_page();
  return form;
}

std::string rendered(const ReportContent& content, Format form, int width) {
  if (form == Format::kHtml) return html_report(content);
  if (!content.accuracy.empty()) return rendered_accuracy(content, form, width);
  if (content.predicted) return rendered_rows(*content.predicted, form);
  if (!content.services.empty()) return rendered_services(content, form, width);
  if (form == Format::kTable) return plain(content, width);
  if (form == Format::kMarkdown) return markdown(content);
  return records_text(content.records, form);
}

}  // namespace foretell
