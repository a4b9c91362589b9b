// JSON of calls that differ and of steps of training, both ways.
#pragma once

#include "reports/record/json_reader.hpp"

namespace foretell {

RecordJson to_json(const DistributionRecord& distribution);
RecordJson to_json(const TrainingRecord& training);

DistributionRecord read_distribution(const RecordReader& in);
TrainingRecord read_training(const RecordReader& in);

}  // namespace foretell
