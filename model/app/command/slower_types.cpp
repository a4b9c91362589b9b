#include "model/app/command/slower_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/base/text.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {
namespace {

constexpr double kSlower = 1.005;  // less is the same in the table

bool is_same_case(const RunContext& one, const RunContext& other) {
  return one.system == other.system && one.workload == other.workload && one.set == other.set &&
         scenario_text(one.scenario) == scenario_text(other.scenario);
}

bool is_narrower(const PrecisionPolicy& one, const PrecisionPolicy& other) {
  const auto stored = size_of(one.weight_storage).value() - size_of(other.weight_storage).value();
  const auto computed = size_of(one.matmul_compute).value() - size_of(other.matmul_compute).value();
  return stored < 0 && computed <= 0;
}

std::map<std::string, double> seconds_by_resource(const RunRecord& record) {
  std::map<std::string, double> seconds;
  for (const OperatorRecord& op : record.operators) seconds[op.critical] += op.duration_s;
  return seconds;
}

// "bf16" of "tensor engine, bf16": what the device multiplies in, whatever the name says.
std::string multiplied_in(const RunRecord& record) {
  if (!record.machine || record.machine->compute.empty()) return "";
  const std::string& name = record.machine->compute.front().name;
  const std::size_t comma = name.rfind(", ");
  return comma == std::string::npos ? "" : name.substr(comma + 2);
}

std::string types_text(const RunRecord& slow, const RunRecord& fast) {
  std::vector<std::string> parts;
  const std::string type = multiplied_in(slow);
  if (!type.empty())
    parts.push_back("it multiplies in " + type + (type == multiplied_in(fast) ? " as well" : ""));
  const DType rest = find_precision(slow.context.dtype).vector;
  const DType other = find_precision(fast.context.dtype).vector;
  if (size_of(rest) > size_of(other)) {
    parts.push_back(fmt::format("and computes the rest in {} instead of {}", to_string(rest),
                                to_string(other)));
  }
  return join(parts, " ");
}

std::string reason(const RunRecord& slow, const RunRecord& fast) {
  const std::string types = types_text(slow, fast);
  std::string text =
      fmt::format("{} is slower than {} on {}{}{}", slow.context.dtype, fast.context.dtype,
                  slow.context.system, types.empty() ? "" : ": ", types);
  const std::map<std::string, double> before = seconds_by_resource(fast);
  std::string most;
  double longer = 0;
  for (const auto& [resource, seconds] : seconds_by_resource(slow)) {
    const auto found = before.find(resource);
    const double more = seconds - (found == before.end() ? 0 : found->second);
    if (resource.empty() || more <= longer) continue;
    most = resource;
    longer = more;
  }
  if (most.empty()) return text;
  return text + "; operators bound by " + most + " take longer";  // sums, which overlap
}

}  // namespace

std::vector<std::string> slower_types(const std::vector<ComparedRun>& runs) {
  std::vector<std::string> notes;
  std::vector<std::pair<std::string, std::string>> said;  // system, data type
  for (const ComparedRun& run : runs) {
    const RunContext& own = run.record.context;
    const std::pair<std::string, std::string> key(own.system, own.dtype);
    if (!run.problem.empty() || std::count(said.begin(), said.end(), key) > 0) continue;
    const RunRecord* fastest = nullptr;
    for (const ComparedRun& other : runs) {
      const RunContext& its = other.record.context;
      if (!other.problem.empty() || !is_same_case(own, its)) continue;
      if (!is_narrower(find_precision(own.dtype), find_precision(its.dtype))) continue;
      if (run.record.summary.latency_s <= kSlower * other.record.summary.latency_s) continue;
      if (fastest == nullptr || other.record.summary.latency_s < fastest->summary.latency_s)
        fastest = &other.record;
    }
    if (fastest == nullptr) continue;
    said.push_back(key);
    notes.push_back(reason(run.record, *fastest));
  }
  return notes;
}

}  // namespace foretell
