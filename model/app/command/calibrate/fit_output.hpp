// What a fit says on standard output: text as it comes, or for programs one table at the end.
#pragma once

#include <string>
#include <vector>

#include "calib/fitted/shared/factor_file.hpp"
#include "calib/validate/statistics.hpp"
#include "model/app/terminal/output.hpp"
#include "reports/render/table.hpp"

namespace CLI {
class App;
}

namespace foretell {

// Cells of the table by the names of its columns; "" where a row has no use for one.
struct FitLine {
  std::string device;
  std::string table;  // of kernels: library, version and types; "" where the device has one set
  std::string row;    // factor, interval, accuracy, evidence or trade_off
  std::string name;   // of the factor, the class, or what the text is about
  std::string value;
  std::string low80;
  std::string high80;
  std::string identified = {};  // whether the rows tell a factor: yes or no
  std::string rows = {};
  std::string mape = {};  // shares
  std::string median = {};
  std::string p90 = {};
  std::string bias = {};
  std::string text = {};
};

// What is known of each factor that a few rows of the user's have moved, line by line.
std::string evidence_text(const FitEvidence& evidence);

void add_fit_format_option(CLI::App& command, std::string& format);

class FitOutput {
 public:
  explicit FitOutput(const std::string& format);  // UserError for an unknown one

  // Written at once, when the format is for people.
  void say(const std::string& text) const;
  void add(const FitLine& line);
  void add_accuracy(const std::string& device, const std::string& name, const Accuracy& accuracy);
  // The factors of one table of kernels (names and values), what is known of them, and of what they
  // predict.
  void add_set(const std::string& device, const std::string& table,
               const std::vector<std::pair<std::string, std::string>>& factors,
               const FitEvidence& evidence, double interval_low, double interval_high,
               const std::string& fitted_on, const std::string& held_out);
  // Writes the table, when the format is one.
  void finish() const;

 private:
  Format format_;
  Table table_;
};

}  // namespace foretell
