#include "reports/command/report_output.hpp"

#include <filesystem>
#include <utility>

#include "calib/validate/accuracy_report.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "reports/record/json_lines.hpp"
#include "reports/record/wide_row.hpp"
#include "reports/render/answer.hpp"
#include "reports/render/html_report.hpp"
#include "reports/render/record_text.hpp"

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

std::string rendered_accuracy(const ReportContent& content, ReportForm form, int width) {
  const AccuracyReport report = accuracy_from_json(content.accuracy, content.title);
  switch (form) {
    case ReportForm::kMarkdown:
      return "# " + markdown_text(content.title) + "\n\n" + accuracy_markdown(report);
    case ReportForm::kCsv:
      return accuracy_csv(report);
    case ReportForm::kJson:
      return accuracy_json(report);
    default:
      return accuracy_text(report, width);
  }
}

}  // namespace

ReportForm report_form(const std::string& output, const std::string& format) {
  if (output == "-") {
    switch (parse_format(format)) {
      case Format::kTable:
        return ReportForm::kText;
      case Format::kJson:
        return ReportForm::kJson;
      case Format::kCsv:
        return ReportForm::kCsv;
    }
  }
  const std::string extension = to_lower(std::filesystem::path(output).extension().string());
  if (extension == ".html") return ReportForm::kHtml;
  if (extension == ".md") return ReportForm::kMarkdown;
  if (extension == ".csv") return ReportForm::kCsv;
  if (extension == ".json" || extension == ".jsonl") return ReportForm::kJson;
  throw UserError(output +
                  ": the name has to end in .html, .md, .csv or .jsonl, which says what to write");
}

std::string rendered(const ReportContent& content, ReportForm form, int width) {
  if (form == ReportForm::kHtml) return html_report(content);
  if (!content.accuracy.empty()) return rendered_accuracy(content, form, width);
  switch (form) {
    case ReportForm::kMarkdown:
      return markdown(content);
    case ReportForm::kCsv:
      return wide_csv(content.records);
    case ReportForm::kJson:
      return to_json_lines(content.records);
    default:
      return plain(content, width);
  }
}

}  // namespace foretell
