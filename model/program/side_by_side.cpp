#include "model/program/side_by_side.hpp"

#include <utility>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

void append_names(std::vector<std::string>& names, const std::string& owner,
                  const std::vector<std::string>& more) {
  for (const std::string& name : more) names.push_back(owner + "." + name);
}

}  // namespace

SideBySide side_by_side(const std::vector<Program>& programs, const std::string& name) {
  SideBySide result;
  Program& all = result.program;
  all.name = name;
  for (const Program& program : programs) {
    const auto operators = static_cast<std::int32_t>(all.operators.size());
    const auto waits = static_cast<std::uint32_t>(all.waits.size());
    const std::size_t semaphores = all.semaphores.size();
    if (semaphores + program.semaphores.size() >= kNoSemaphore) {
      throw UserError("programs side by side have more semaphores than there are; run fewer");
    }
    append_names(all.operators, program.name, program.operators);
    append_names(all.semaphores, program.name, program.semaphores);
    for (Wait wait : program.waits) {
      wait.semaphore = static_cast<std::uint16_t>(wait.semaphore + semaphores);
      all.waits.push_back(wait);
    }
    std::vector<std::size_t>& numbers = result.streams.emplace_back();
    for (Stream stream : program.streams) {
      if (stream.size() == 0) continue;
      const auto move_links = [&](auto& entries) {
        for (auto& entry : entries) {
          if (entry.op >= 0) entry.op += operators;
          entry.first_wait += waits;
          if (entry.signal != kNoSemaphore) {
            entry.signal = static_cast<std::uint16_t>(entry.signal + semaphores);
          }
        }
      };
      std::visit(move_links, stream.work);
      stream.name = program.name + "." + stream.name;
      numbers.push_back(all.streams.size());
      all.streams.push_back(std::move(stream));
    }
  }
  return result;
}

}  // namespace foretell
