// Which rows of a table `calibrate fit` takes: those that `validate` counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "model/app/command/calibrate/table_rows.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const CsvRow kScaleHeader = {"gpu", "framework", "op", "dtype", "m", "k", "latency_us"};
const std::vector<CsvRow> kScaleRows = {
    {"h100_sxm", "vllm", "compute_scale", "fp8", "1", "32", "0.002"},
    {"h100_sxm", "vllm", "compute_scale", "fp8", "2", "32", "0.5"},
    {"h100_sxm", "vllm", "scale_matrix", "fp8", "4", "32", "0.002"},
    {"h100_sxm", "sglang", "compute_scale", "fp8", "8", "32", "9"},
    {"h100_sxm", "vllm", "compute_scale", "fp8", "16", "32", "0"},
};

// Rows of the fit, by their m.
class CalibrateRows : public testing::Test {
 protected:
  CalibrateRows() { session.messages = &messages; }
  TakeRow collect() {
    return [this](const NamedCells& cells, const CsvRow& row) {
      taken.push_back(cells.text(row, "m"));
      return true;
    };
  }

  std::ostringstream messages;
  Session session;
  std::vector<std::string> taken;
};

TEST_F(CalibrateRows, TimesThatNoKernelTakesAreLeftOutAndTimesOfZeroAreLeftToTheKind) {
  std::string text;
  const auto add = [&](const CsvRow& row) {
    for (const std::string& cell : row) text += cell + (&cell == &row.back() ? "\n" : ",");
  };
  add(kScaleHeader);
  for (const CsvRow& row : kScaleRows) add(row);
  const TemporaryFolder folder;
  take_rows(folder.write("t.csv", text), collect(), session);
  EXPECT_THAT(taken, ElementsAre("2", "4", "16"));
  EXPECT_THAT(messages.str(), HasSubstr("left out, 2 rows of "));
  EXPECT_THAT(messages.str(), HasSubstr("impossible_times.yaml"));
}

TEST_F(CalibrateRows, ImportedMeasurementsObeyTheSameRules) {
  MeasuredTable table;
  table.header = kScaleHeader;
  table.rows = kScaleRows;
  take_rows(table, collect(), session);
  EXPECT_THAT(taken, ElementsAre("2", "4", "16"));
  EXPECT_THAT(messages.str(), HasSubstr("left out, 2 rows of the measurements"));
}

}  // namespace
}  // namespace foretell
