// Which numbers the tables of chips can share, found with all of them in view: shared_fit.hpp asks
// what one table needs beside the numbers of another, which were fitted without it.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/config/fields.hpp"

namespace foretell {

// A table and its factors. Values are in base units and above zero: a factor that is not named does
// not apply.
struct PooledTable {
  std::string name;
  std::optional<std::size_t> parent;    // place among the tables; none: it is like none of them
  std::optional<std::size_t> common;    // place of what the table has in common on every chip
  std::map<std::string, double> given;  // by a table of another chip that it is like
  std::map<std::string, double> start;  // of every factor that applies
  std::set<std::string> usual;          // factors whose value is the usual one of the kind
  std::set<std::string> fixed;          // factors that no search moves
  bool is_closed = false;        // of what is in common: chips that are not here take it, too
  FieldList* fields = nullptr;   // where `loss` reads them; required
  std::function<double()> loss;  // mean relative error with what the fields hold; empty: no
                                 // table, but what tables of a name have in common
  double most = 0;               // loss that it may not exceed
  // The same on more rows, for the last search; empty: there are no more.
  std::function<double()> last_loss;
  double last_most = 0;
};

struct PoolOptions {
  double mean_gives = 0;  // by which the mean loss of the tables may rise over that of `start`
  bool gives_up = true;   // no: values are searched anew, on what `last_loss` says, and all stay
  // By which the loss of no table may rise where a factor ceases to apply to one: its rows do not
  // feel it.
  double ceases_below = 0;
  // Place of the usual values of the kind, a table without loss that no table names as `common`.
  std::optional<std::size_t> usual = std::nullopt;
};

struct PooledFit {
  std::vector<std::map<std::string, double>> own;     // by table; the rest is its parent's
  std::vector<std::map<std::string, double>> values;  // all that apply
  std::vector<std::set<std::string>> usual;           // by table; those of PoolOptions::usual
  std::vector<double> losses;
};

// Starts with a value of its own for each factor that differs from the parent's, moves all of them
// to the least mean loss, then gives up one after another: a table takes the value of who it would
// take it from, or both take one between; or tables with the same `common` have one in common, all
// or all but one of them. Each time what costs least for a value that is saved, values around it
// searched anew, as long as the mean loss and that of each table allow it. A table takes values
// from a parent with the same `common`, from `common`, from another parent, in this order. What
// is closed stays as it is. Parents stand in any order; InternalError when one leads back to
// itself. Deterministic.
PooledFit fit_pooled(const std::vector<PooledTable>& tables, const PoolOptions& options);

}  // namespace foretell
