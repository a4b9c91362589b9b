// A graph as a program of the toy: operators are fused, one after the other, and each is cut into
// tiles that fill half the SRAM, so that the next one is loaded while the array works.
#pragma once

#include <vector>

#include "model/mapping/shared/fuse.hpp"
#include "model/program/program_builder.hpp"
#include "model/testing/toy_npu/spec/toy_spec.hpp"

namespace foretell {

inline constexpr std::size_t kToyArrayStream = 0;
inline constexpr std::size_t kToyDmaStream = 1;

ProgramBuilder toy_builder(const std::string& name);
// `tiles` of `bytes` in all, and the columns that they take together.
void emit_toy_tiles(ProgramBuilder& builder, std::uint32_t tiles, Bytes bytes,
                    std::uint64_t columns);

struct ToyMapping {
  Program program;
  std::vector<FusedOp> ops;  // in the order of the operators of the program
};
ToyMapping map_to_toy(const Graph& graph, const ToyNpuSpec& spec);

}  // namespace foretell
