// What can be known to be wrong with a study before anything is predicted.
#pragma once

#include "model/app/study/study.hpp"

namespace foretell {

// UserError with every mistake: keys and paths that match nothing (the nearest is named), values
// that their parameter refuses on every system, systems, networks and data types that do not
// exist, formulas that cannot be calculated.
void check_study(const Study& study, const DefaultValue& defaults);

}  // namespace foretell
