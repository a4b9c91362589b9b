// Which operations of a network run on a second stream of the GPU, beside the rest of their block.
//
// A library says which branches of a block it runs there (hw/kernels/, `streams`). Operations of a
// stream follow one another; one that reads what the other stream has made waits for that. So a
// branch begins when its input is there and whoever reads its result waits for it, which is what
// the events do that libraries put between two streams.
//
// With two halves of a batch that take turns (workloads/ir/two_batches.hpp) it is the collectives
// that run there, each after what its half has computed before it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hw/spec/gpu/kernel_library.hpp"
#include "model/mapping/gpu/mapped_op.hpp"
#include "model/mapping/shared/fuse.hpp"
#include "model/program/grid.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

// The branch of keys and values that go to the next GPU while attention works, whatever the
// library.
inline constexpr std::string_view kSendsBranch = "ring";

// The branches of the graph that the library runs beside the rest of their block, as
// FusionRules::beside has them. Tokens are rows of what a branch reads first.
std::map<std::string, std::string> branches_beside(const Graph& graph, const KernelLibrary& library,
                                                   LaunchKind launch);

// Sets MappedOp::beside and MappedOp::needs; `fused` and `ops` are one for one.
void place_beside(const Graph& graph, const std::vector<FusedOp>& fused, const FusionRules& rules,
                  std::vector<MappedOp>& ops);

}  // namespace foretell
