#include "model/components/shared/executor.hpp"

#include <algorithm>

#include "model/base/errors.hpp"

namespace foretell {

void Executor::start() {
  FORETELL_CHECK(modules_.size() == program().streams.size(), "a module for every stream");
  const auto start_kind = [this](auto wanted) {
    for (std::size_t s = 0; s < modules_.size(); ++s) {
      if (wanted(program().streams[s].kind())) modules_[s]->start();
    }
  };
  start_kind([](StreamKind kind) { return kind == StreamKind::kTransfers; });
  start_kind([](StreamKind kind) { return kind == StreamKind::kCollectives; });
  start_kind([](StreamKind kind) {
    return kind != StreamKind::kTransfers && kind != StreamKind::kCollectives;
  });
}

bool Executor::finished() const {
  return std::all_of(modules_.begin(), modules_.end(),
                     [](const auto& module) { return module->finished(); });
}

std::string Executor::describe_blocked() const {
  std::string text;
  for (std::size_t s = 0; s < modules_.size(); ++s) {
    const std::size_t at = modules_[s]->position();
    if (at >= program().streams[s].size()) continue;
    const std::string who = "\n  " + program().place(s, at) + " waits for ";
    const std::string other = modules_[s]->waits_for();
    if (!other.empty()) text += who + other;
    const EntryLinks links = program().links(s, at);
    for (std::uint32_t w = links.first_wait; w < links.first_wait + links.wait_count; ++w) {
      const Wait& wait = program().waits[w];
      const std::uint32_t value = shared_.semaphores.value(wait.semaphore);
      if (value >= wait.threshold) continue;
      text += who + "semaphore '" + program().semaphores[wait.semaphore] + "' to reach " +
              std::to_string(wait.threshold) + "; it is " + std::to_string(value);
    }
  }
  return text;
}

}  // namespace foretell
