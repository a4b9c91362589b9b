// `foretell validate` on the published table of Neuron devices, as numbers.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/app/command/application.hpp"
#include "model/app/command/testing/published_table.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/record/csv.hpp"

namespace foretell {

struct ValidatedErrors {
  int rows = 0;
  double mape = 0;
  double p90 = 0;
  double bias = 0;
  double coverage = 0;  // of the 80 % interval
};

// A test that needs the measured tables; it is skipped where they are not.
class PublishedNeuronRows : public ::testing::Test {
 protected:
  void SetUp() override {
    table_ = published_table("neuron_models_measured.csv");
    if (table_.empty()) GTEST_SKIP() << "skipped, no data";
  }

  // Errors of one measured quantity over the rows that `arguments` choose.
  ValidatedErrors errors(const std::string& quantity, std::vector<std::string> arguments) const {
    const TemporaryFolder folder;
    const std::string file = folder.file("errors.csv");
    arguments.insert(arguments.begin(), {"validate", table_});
    arguments.insert(arguments.end(), {"--format", "csv", "-o", file});
    Session session;
    session.predict = predict;
    const int code = run_application(arguments, session);
    EXPECT_TRUE(code == kSuccess || (leaves_out_ && code == kOutsideTolerance)) << code;
    CsvReader reader(file);
    CsvRow row;
    while (reader.next(row)) {
      if (row.at(0) == quantity)
        return {std::stoi(row.at(1)), std::stod(row.at(2)), std::stod(row.at(4)),
                std::stod(row.at(5)), std::stod(row.at(8))};
    }
    ADD_FAILURE() << "no " << quantity;
    return {};
  }

  std::string table_;
  bool leaves_out_ = false;  // rows without a prediction are allowed
};

}  // namespace foretell
