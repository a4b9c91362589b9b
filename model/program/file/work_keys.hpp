// Keys of grids, exchanges, loops and host calls in a program file: their work is a few named
// quantities.
#pragma once

#include <string>
#include <vector>

#include "model/base/errors.hpp"
#include "model/config/document.hpp"
#include "model/program/file/expression.hpp"
#include "model/program/program.hpp"

namespace foretell {

// What is wrong with a node, with its place.
UserError problem_at(const Node& node, const std::string& path, const std::string& message);

// Reads the keys of one statement; `common` are those that every statement may have ("take", …).
// UserErrors carry file and line. Counts and bytes may be expressions of parameters.
Grid read_grid(const Node& node, const std::string& path, const ExpressionNames& names,
               const std::vector<std::string>& common);
// What the GPUs of a group send one another, in equal rounds.
Collective read_exchange(const Node& node, const std::string& path, const ExpressionNames& names,
                         const std::vector<std::string>& common);
Loop read_parallel_loop(const Node& node, const std::string& path, const ExpressionNames& names,
                        const std::vector<std::string>& common);
HostCall read_host_call(const Node& node, const std::string& path, const ExpressionNames& names,
                        const std::vector<std::string>& common);

}  // namespace foretell
