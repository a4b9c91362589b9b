#include "model/app/plan/plan_store.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <foretell/version.hpp>
#include <fstream>
#include <utility>

#include "model/base/errors.hpp"
#include "model/base/hash.hpp"
#include "model/base/limited_text.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr std::size_t kHashDigits = 16;

std::string question_of(const PlanRequest& request) {
  const ServeRequest& service = request.service;
  return content_hash(
      fmt::format("{} {}\n{}\n{} requests {} router {}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", kVersion,
                  kCommit, service.machine.workload, load_options(service), service.requests,
                  service.router, service.machine.factors, service.slo, request.probability,
                  join(request.dtypes, ","), request.workers, join(request.engines, ","),
                  join(request.libraries, ","), fmt::join(request.max_batches, ",")));
}

}  // namespace

PlanStore::PlanStore(std::string path, const PlanRequest& request)
    : path_(std::move(path)), question_(question_of(request)) {
  if (path_.empty()) return;
  if (std::filesystem::exists(path_)) read();
  const std::ofstream file(path_, std::ios::app);
  if (!file) throw UserError(fmt::format("--store {}: cannot be written", path_));
}

// A line is the hash of the question, a space, and the plan of a system.
void PlanStore::read() {
  std::ifstream file(path_);
  std::vector<std::string> lines = split(read_limited(file, path_, kMaxLogBytes), '\n');
  lines.pop_back();  // cut off
  int number = 0;
  for (const std::string& line : lines) {
    ++number;
    const std::string where = fmt::format("{}:{}", path_, number);
    if (line.size() < kHashDigits + 2 || line[kHashDigits] != ' ') {
      throw UserError(where +
                      ": is no line of a plan; name a file that `foretell plan --store` "
                      "wrote, or a new one");
    }
    if (line.compare(0, kHashDigits, question_) != 0) continue;
    SystemPlan plan = read_system_plan(line.substr(kHashDigits + 1), where);
    plans_[plan.system] = std::move(plan);
  }
}

const SystemPlan* PlanStore::find(const std::string& system) const {
  const auto found = plans_.find(system);
  return found == plans_.end() ? nullptr : &found->second;
}

void PlanStore::add(const SystemPlan& plan) {
  plans_[plan.system] = plan;
  if (path_.empty()) return;
  std::ofstream file(path_, std::ios::app);
  file << question_ << ' ' << to_json(plan) << '\n' << std::flush;
  if (!file) throw UserError(fmt::format("--store {}: cannot be written", path_));
}

}  // namespace foretell
