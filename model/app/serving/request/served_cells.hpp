// Cells of tables of served points and runs, and the names in which such tables are written.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/base/looked_up.hpp"
#include "model/config/document.hpp"

namespace foretell {

// Cells of a row by column; columns that are not there are empty.
using ServedCells = std::map<std::string, std::string>;
std::string served_cell(const ServedCells& cells, const char* column);

// Is a name among these?
bool is_one_of(const std::vector<std::string>& names, const std::string& name);

// What names of a table are here, by section of a recipe.
using ServedNames = std::map<std::string, std::string>;
// UserError with file:line where the section is missing or holds no texts.
ServedNames served_names(const Node& root, const char* section);
// The texts below a key that holds one or several; none where it is missing.
std::vector<std::string> texts_in(const Node& node, const char* key);

// The system that a table means: by a name of `systems`, a device, a system or the file of either.
// A device stands for eight of it where its links join that many, unless it is asked for `alone`.
// UserError with near names.
std::string served_system(const ServedNames& systems, const char* column, const std::string& name,
                          bool alone = false);

// The key of a network in `networks`: "NAME PRECISION" where files differ by precision and it
// stands there, else its name.
std::string network_key(const ServedNames& networks, const std::string& network,
                        const std::string& precision);

// The workload that a recipe names for a network of its table: a name of ours, or
// "configs/FILE" among the measured data. UserError where that folder is not known.
std::string workload_named(const std::string& network, const std::string& named);

}  // namespace foretell
