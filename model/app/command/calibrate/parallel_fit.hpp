// Fits that do not depend on each other, on all processors.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "model/app/terminal/session.hpp"

namespace foretell {

// What `fit(0)` … `fit(count - 1)` return, in order, each in a process of its own with a progress
// bar over all of them: the same with any number of jobs. `jobs` is the text of the option, "" for
// one per processor. A UserError of the first fit that failed.
std::vector<std::string> fit_all(std::size_t count, const std::string& jobs, const Session& session,
                                 const std::function<std::string(std::size_t)>& fit);

}  // namespace foretell
