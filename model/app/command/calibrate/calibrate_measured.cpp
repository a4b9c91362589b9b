#include <fmt/format.h>

#include "calib/import/check_measurements.hpp"
#include "calib/import/read_measurements.hpp"
#include "model/app/command/calibrate/calibrate_kernels.hpp"
#include "model/app/terminal/output.hpp"

namespace foretell {
namespace {

std::vector<MeasuredTable> checked_tables(const std::string& path) {
  std::vector<std::string> problems;
  std::vector<MeasuredTable> tables = read_measurements(path, {}, problems);
  for (const MeasuredTable& table : tables) {
    // Parts of records may be small; the fit itself says when there are too few.
    for (std::string& problem : measurement_problems(table, path, {ImportRules{}.tolerance, 1})) {
      problems.push_back(std::move(problem));
    }
  }
  refuse_problems(problems, "nothing was fitted");
  return tables;
}

}  // namespace

int calibrate_measured(const FitCommand& command, const Session& session) {
  std::vector<MeasuredTable> products;
  bool has_operators = false;
  for (MeasuredTable& table : checked_tables(command.table)) {
    switch (table.kind) {
      case TableKind::kGemm:
        products.push_back(std::move(table));
        break;
      case TableKind::kAttention:
        return calibrate_attention(command, session);
      case TableKind::kCollective:
        return calibrate_collective(command, session);
      default:
        // Launches by the host and warm operands are parts of their own, with terms of their own.
        if (table.name == "operator") {
          calibrate_operator(command, table, session);
          has_operators = true;
          break;
        }
        session.say(fmt::format("foretell: {} rows of kind {} are not fitted here",
                                table.rows.size(), table.name));
    }
  }
  if (products.empty() && has_operators) return kSuccess;
  return calibrate_gemm(command, products, session);
}

}  // namespace foretell
