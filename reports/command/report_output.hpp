// Writes a report in the form that the name of its file, or --format, asks for.
#pragma once

#include <string>

#include "model/terminal/output.hpp"
#include "reports/render/page_data.hpp"

namespace foretell {

enum class ReportForm { kHtml, kMarkdown, kCsv, kJson, kText };

// UserError for another ending than .html, .md, .csv, .json or .jsonl. For standard output ("-"),
// what `format` says.
ReportForm report_form(const std::string& output, const std::string& format);

// UserError for a validation that is not whole.
std::string rendered(const ReportContent& content, ReportForm form, int width);

}  // namespace foretell
