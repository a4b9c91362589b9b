// Fields of a config.json that change neither which operators run nor how large they are.
#pragma once

#include <string>
#include <vector>

namespace foretell {

// Those of `names` that workloads/import/hf/plain_fields.yaml does not list. UserError when that
// file cannot be read.
std::vector<std::string> fields_that_may_matter(const std::vector<std::string>& names);

}  // namespace foretell
