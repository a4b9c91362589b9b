// Systems that a plan has searched already, so that an interrupted one goes on.
#pragma once

#include <map>
#include <string>

#include "model/app/plan/plan.hpp"

namespace foretell {

class PlanStore {
 public:
  // "" stores nothing. A file that is there is read: lines of the same question count, a last line
  // that was cut off does not. UserError for a file that holds anything else or cannot be written.
  PlanStore(std::string path, const PlanRequest& request);

  const SystemPlan* find(const std::string& system) const;  // null: to be searched
  void add(const SystemPlan& plan);                         // on disk when this returns

 private:
  void read();

  std::string path_;
  std::string question_;  // hash of everything that the answer depends on
  std::map<std::string, SystemPlan> plans_;
};

}  // namespace foretell
