// Where the joules of predictions go, for people.
#pragma once

#include <string>
#include <vector>

#include "reports/record/run_record.hpp"
#include "reports/record/serve_record.hpp"

namespace foretell {

// The energy of a call of one copy by kind of work and by kind of operator, each with its share;
// kinds whose constants were measured on the device say so. A sentence where no energy is known.
std::string energy_text(const RunRecord& record);

// A row for each: joules of a token and of a sample, watts of the boards and at the wall, and the
// largest kind of work.
std::string energies_text(const std::vector<RunRecord>& records, int max_width);

// A row for each service: the same, and which share of the joules its steps take; the rest is drawn
// while boards wait with their clocks up.
std::string service_energies_text(const std::vector<ServeRecord>& records, int max_width);

}  // namespace foretell
