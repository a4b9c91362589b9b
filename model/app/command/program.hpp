// What main() does: a session on the standard streams, and the application.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/app/study/sweep/cluster.hpp"

namespace foretell {

using ClusterFactory = std::function<std::unique_ptr<Cluster>()>;

// Returns the exit code. `join` joins the processes that a launcher started, see Session; with
// `silent` nothing is printed: another rank speaks.
int run_program(const std::vector<std::string>& arguments, ClusterFactory join, bool silent);

}  // namespace foretell
