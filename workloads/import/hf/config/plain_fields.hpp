// What is known of config.json files as data: fields that change neither which operators run nor
// how large they are, and architectures that cannot be imported.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretell {

// Those of `names` that workloads/import/hf/plain_fields.yaml does not list. UserError when that
// file cannot be read.
std::vector<std::string> fields_that_may_matter(const std::vector<std::string>& names);

// What of an architecture (its model_type) there is no graph for, as
// workloads/import/hf/missing_parts.yaml says; "": it does not know that one.
std::string missing_part(std::string_view model_type);

}  // namespace foretell
