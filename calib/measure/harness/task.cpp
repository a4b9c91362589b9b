#include "calib/measure/harness/task.hpp"

#include "model/base/errors.hpp"

namespace foretell {

std::int64_t MeasureTask::size(const std::string& name) const {
  for (const auto& [field, value] : shape) {
    if (field == name) return value;
  }
  throw InternalError(__FILE__, __LINE__, op + " has no size " + name);
}

const std::string& MeasureTask::state(const std::string& name) const {
  const auto found = states.find(name);
  FORETELL_CHECK(found != states.end(), op + " has no state " + name);
  return found->second;
}

std::string task_text(const MeasureTask& task) {
  std::string text = task.op + " " + task.dtype;
  for (const auto& [name, size] : task.shape) text += " " + name + "=" + std::to_string(size);
  std::string states;
  for (const auto& [name, state] : task.states) states += (states.empty() ? "" : ", ") + state;
  return states.empty() ? text : text + " (" + states + ")";
}

}  // namespace foretell
