#include "model/mapping/gpu/second_stream.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>

#include "model/base/errors.hpp"
#include "workloads/ir/operators/networks.hpp"

namespace foretell {
namespace {

const char* word_of(LaunchKind launch) { return launch == LaunchKind::kGraph ? "graph" : "stream"; }

double rows_of(const Tensor& tensor) {
  if (tensor.shape.empty()) return 1;
  const std::int64_t columns = std::max<std::int64_t>(1, tensor.shape.back());
  const std::int64_t rows = element_count(tensor.shape) / columns;
  return static_cast<double>(rows);
}

}  // namespace

std::map<std::string, std::string> branches_beside(const Graph& graph, const KernelLibrary& library,
                                                   LaunchKind launch) {
  std::map<std::string, std::string> beside;
  const bool sends = std::any_of(graph.ops().begin(), graph.ops().end(),
                                 [](const Op& op) { return op.kind == "SendReceive"; });
  if (sends) beside.emplace(kSentBeside, kSendsBranch);
  if (library.streams.empty()) return beside;
  for (const auto& [branch, part] : kernel_libraries().choice().branches) {
    const auto first = std::find_if(
        graph.ops().begin(), graph.ops().end(),
        [&part = part](const Op& op) { return op.name.find(part) != std::string::npos; });
    if (first == graph.ops().end()) continue;
    const double tokens = rows_of(graph.tensor(first->inputs.front()));
    if (library.runs_beside(branch, word_of(launch), tokens)) beside[part] = branch;
  }
  return beside;
}

void place_beside(const Graph& graph, const std::vector<FusedOp>& fused, const FusionRules& rules,
                  std::vector<MappedOp>& ops) {
  if (rules.beside.empty() && !rules.exchanges_beside) return;
  FORETELL_CHECK(fused.size() == ops.size(), "an operation for each that was mapped");
  std::map<TensorId, std::size_t> writers;     // who wrote a tensor last
  std::map<TensorId, std::size_t> converters;  // who wrote it in a narrower type
  std::optional<std::size_t> computed;         // last; with exchanges, of the half that they are of
  for (std::size_t i = 0; i < ops.size(); ++i) {
    MappedOp& op = ops[i];
    op.beside = rules.exchanges_beside ? fused[i].kind == FusedKind::kCollective
                                       : !branch_of(rules.beside, graph.op(op.main).name).empty();
    const auto wait_for = [&](const std::map<TensorId, std::size_t>& makers, TensorId tensor) {
      const auto found = makers.find(tensor);
      if (found != makers.end() && ops[found->second].beside != op.beside)
        op.needs.push_back(found->second);
    };
    if (rules.exchanges_beside && op.beside && computed) op.needs.push_back(*computed);
    if (!op.beside) computed = i;
    for (const TensorAccess& read : fused[i].reads) {
      wait_for(writers, read.tensor);
      wait_for(converters, read.tensor);
    }
    for (const TensorAccess& write : fused[i].writes) writers[write.tensor] = i;
    if (op.converted != kNoId) converters[op.converted] = i;
  }
}

}  // namespace foretell
