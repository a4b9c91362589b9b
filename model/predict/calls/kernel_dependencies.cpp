#include "model/predict/calls/kernel_dependencies.hpp"

#include <map>
#include <set>

#include "model/base/errors.hpp"

namespace foretell {

void fill_dependencies(const Graph& graph, const std::vector<std::size_t>& counts,
                       std::vector<KernelRun>& kernels, const FusionRules& rules) {
  const std::vector<FusedOp> fused = fuse_kernels(graph, rules);
  FORETELL_CHECK(fused.size() == counts.size(), "one count for each operation");
  std::map<TensorId, std::size_t> writer;  // the kernel that wrote a tensor last
  std::size_t first = 0;
  for (std::size_t op = 0; op < fused.size(); ++op) {
    const std::size_t end = first + counts[op];
    FORETELL_CHECK(end <= kernels.size(), "kernels for every operation");
    if (end == first) continue;
    std::set<std::size_t> sources;
    for (const TensorAccess& read : fused[op].reads) {
      const auto found = writer.find(read.tensor);
      if (found != writer.end()) sources.insert(found->second);
    }
    kernels[first].reads.assign(sources.begin(), sources.end());
    for (std::size_t next = first + 1; next < end; ++next) kernels[next].reads = {next - 1};
    for (const TensorAccess& write : fused[op].writes) writer[write.tensor] = end - 1;
    first = end;
  }
}

}  // namespace foretell
