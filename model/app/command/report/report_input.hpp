// What a report is made of: records, a validation, or a scenario that is predicted first.
#pragma once

#include <string>

#include "model/app/terminal/session.hpp"
#include "reports/render/page_data.hpp"

namespace foretell {

// The content of a store (its records, or its newest study; with `study` the one of that name), of
// JSON lines, of what `validate
// --format json` writes, or of a scenario (see scenario_file.hpp), which is predicted with `jobs`
// processes. The file's name is the title where it states none. UserError when it is none of these,
// damaged, or holds nothing.
ReportContent read_report(const std::string& path, int jobs, const Session& session,
                          const std::string& study = "");

}  // namespace foretell
