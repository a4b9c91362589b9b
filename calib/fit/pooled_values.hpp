// Which of several tables has the value of a factor that another one uses: the rules of
// resolve_factors() (calib/fitted/gpu/shared_factors.hpp) for a fit that moves and drops values.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "calib/fit/pooled_fit.hpp"

namespace foretell {

struct PooledPlace {  // of a value
  std::size_t table;
  std::string name;
  bool operator==(const PooledPlace& other) const {
    return table == other.table && name == other.name;
  }
  bool operator<(const PooledPlace& other) const {
    return std::tie(table, name) < std::tie(other.table, other.name);
  }
};

class PooledValues {
 public:
  // What a search changes, by table.
  struct State {
    std::vector<std::map<std::string, double>> own;
    std::vector<std::set<std::string>> usual;   // that are those of the kind
    std::vector<std::set<std::string>> ceased;  // that do not apply any more
  };
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  // Each table has a value of its own where it starts from another than it would take.
  PooledValues(const std::vector<PooledTable>& tables, std::optional<std::size_t> usual);

  State state;

  bool is_common(std::size_t t) const { return !tables_[t].loss; }
  bool applies(std::size_t t, const std::string& name) const;
  // Where a table without a value of its own finds one among the tables.
  std::optional<std::size_t> provider(std::size_t t, const std::string& name) const;
  double value_of(std::size_t t, const std::string& name) const;
  // Would a table without a value of its own have one?
  bool can_share(std::size_t t, const std::string& name) const;
  // Can the factor cease to apply to a table that has a value of its own?
  bool can_cease(std::size_t t, const std::string& name) const;
  std::vector<std::size_t> users_of(const PooledPlace& place) const;
  std::vector<PooledPlace> all_places() const;
  // Where a table looks for values that it does not state, in this order.
  const std::vector<std::size_t>& chain(std::size_t t) const { return chains_[t]; }
  // Tables that take from a common one before any other: where its values would be read.
  std::vector<std::size_t> members_of(std::size_t common) const;
  // Tables whose value would be another.
  std::vector<std::size_t> readers_of(const PooledPlace& common) const;
  std::optional<std::size_t> usual() const { return usual_; }
  // Middle values of factors that three tables or more state, for others to take.
  void seed_usual();
  // A usual value that one table takes is its own; one that none takes goes.
  void settle_usual();

 private:
  std::vector<std::size_t> chain_of(std::size_t t) const;
  double given(std::size_t t, const std::string& name) const;
  double shared_start(std::size_t t, const std::string& name) const;

  const std::vector<PooledTable>& tables_;
  std::optional<std::size_t> usual_;
  std::vector<std::vector<std::size_t>> chains_;
};

}  // namespace foretell
