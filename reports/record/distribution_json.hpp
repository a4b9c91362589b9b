// JSON of calls that differ, of steps of training and of energy, both ways.
#pragma once

#include "reports/record/json_reader.hpp"

namespace foretell {

RecordJson to_json(const DistributionRecord& distribution);
RecordJson to_json(const TrainingRecord& training);
RecordJson to_json(const EnergyRecord& energy);

DistributionRecord read_distribution(const RecordReader& in);
TrainingRecord read_training(const RecordReader& in);
EnergyRecord read_energy(const RecordReader& in);

}  // namespace foretell
