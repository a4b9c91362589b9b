// Stored studies for `foretell report`.
#pragma once

#include <optional>
#include <string>

namespace foretell {

// The study of this name in a store, or with "" the newest one, unless the store holds records of
// single predictions: those are shown then. In the form that the extension (".csv", ".md",
// ".html", "" for text) says; a page shows the Pareto front. UserError for an unknown name.
std::optional<std::string> study_report(const std::string& path, const std::string& name,
                                        const std::string& extension, int width);

}  // namespace foretell
