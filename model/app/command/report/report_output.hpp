// Writes a report in the form that the name of its file, or --format, asks for.
#pragma once

#include <string>

#include "model/app/terminal/output.hpp"
#include "reports/render/page_data.hpp"

namespace foretell {

// UserError for another ending than .html, .md, .csv, .json or .jsonl. For standard output ("-"),
// what `format` says. UserError for a page where this program has none.
Format report_format(const std::string& output, const std::string& format);

// UserError for a validation that is not whole.
std::string rendered(const ReportContent& content, Format form, int width);

}  // namespace foretell
