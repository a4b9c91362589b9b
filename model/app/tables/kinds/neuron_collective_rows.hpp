// Collectives between the cores of a Neuron system, as rows of a table.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "calib/fitted/neuron/calibrated_system.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "model/app/tables/kinds/kernel_rows.hpp"
#include "model/predict/rows/row_time.hpp"
#include "model/system/collective_run.hpp"
#include "reports/record/csv.hpp"

namespace foretell {

// Simulates each different collective once, alone on the whole topology. `bytes` is the larger
// buffer of one rank, as the vendor's nccom-test states it.
class NeuronCollectiveRows {
 public:
  NeuronCollectiveRows(const CsvRow& header, std::vector<std::string> set);

  // Is the row about a Neuron system?
  bool serves(const CsvRow& row) const;
  // Without a measured interval: the default one. What is wrong stands in its error.
  RowTime answer(const CsvRow& row);

 private:
  struct Group {
    Group(const CalibratedSystem& loaded, int ranks)
        : system(loaded), costs(loaded.spec, loaded.factors, ranks) {}

    const CalibratedSystem& system;
    CollectiveCosts costs;
  };
  RowTime predict(const CsvRow& row);
  Group& group_of(const std::string& system, int ranks);

  NamedCells cells_;
  std::vector<std::string> set_;
  Catalog catalog_;
  std::set<std::string> known_;
  std::map<std::string, CalibratedSystem> systems_;
  std::map<std::string, std::unique_ptr<Group>> groups_;
};

}  // namespace foretell
