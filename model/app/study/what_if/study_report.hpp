// Stored studies for `foretell report`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/record/study_store.hpp"
#include "reports/render/output_format.hpp"

namespace foretell {

// The study of this name in a store, or with "" the newest one, unless the store holds records of
// single predictions: those are shown then. In the form that the extension (".csv", ".md", "" for
// text) says. UserError for an unknown name.
std::optional<std::string> study_report(const std::string& path, const std::string& name,
                                        Format format, int width);

// The newest of this name, because a changed study keeps it; with "" the newest. UserError for an
// unknown name; there has to be one.
const StudyHead& find_study(const std::vector<StudyHead>& studies, const std::string& name);

}  // namespace foretell
