// JSON of calls that differ, both ways.
#pragma once

#include "reports/record/record_fields.hpp"

namespace foretell {

RecordJson to_json(const DistributionRecord& distribution);
DistributionRecord read_distribution(const RecordReader& in);

}  // namespace foretell
