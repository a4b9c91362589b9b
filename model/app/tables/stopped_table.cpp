#include "model/app/tables/stopped_table.hpp"

#include <fmt/format.h>

#include "model/app/workers/stop_signals.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

bool is_endless(const CsvReader& table) { return table.path() == "-"; }

}  // namespace

bool next_row(CsvReader& table, CsvRow& row, std::string& problem) {
  if (StopSignals::received() != 0) return false;
  try {
    return table.next(row, problem);
  } catch (const UserError&) {
    if (StopSignals::received() == 0) throw;
    return false;
  }
}

bool next_left_row(CsvReader& table, CsvRow& row, std::string& problem) {
  return !is_endless(table) && table.next(row, problem);
}

std::string interruption_text(const CsvReader& table, std::size_t done, std::size_t all) {
  return fmt::format("interrupted; {} of {}{} rows{} are done", done,
                     is_endless(table) ? "the " : "", all, is_endless(table) ? " read" : "");
}

}  // namespace foretell
