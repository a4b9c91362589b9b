// With which probability a service keeps its promises, from the 80 % intervals of its record.
#pragma once

#include <vector>

#include "model/app/serving/request/promise.hpp"
#include "reports/record/serve_record.hpp"

namespace foretell {

// The promised quantity as predicted.
double promised_value(const ServeRecord& record, const Promise& promise);

// That the value is within the limit. Measured over predicted is taken as log-normal with the ends
// of the interval at its 10 % and 90 % quantiles.
double probability_of(const ServeRecord& record, const Promise& promise);

// The product over all, which is the least it can be while errors of one service go together.
double probability_of(const ServeRecord& record, const std::vector<Promise>& promises);

// The smallest limit that is kept with this probability, in seconds.
double limit_kept_with(const ServeRecord& record, const Promise& promise, double probability);

}  // namespace foretell
