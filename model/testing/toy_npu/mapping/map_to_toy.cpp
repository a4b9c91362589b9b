#include "model/testing/toy_npu/mapping/map_to_toy.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/testing/toy_npu/timing/toy_timing.hpp"

namespace foretell {
namespace {

constexpr std::uint32_t kBytesOfDescriptor = 64;

Bytes sum_of(const std::vector<TensorAccess>& accesses) {
  Bytes sum(0);
  for (const TensorAccess& access : accesses) sum += access.bytes;
  return sum;
}

Transfer transfer_of(Bytes bytes, TransferDirection direction) {
  Transfer transfer;
  transfer.direction = direction;
  transfer.descriptor_bytes = kBytesOfDescriptor;
  transfer.descriptors =
      static_cast<std::uint32_t>(std::max(1.0, std::ceil(bytes.value() / kBytesOfDescriptor)));
  return transfer;
}

}  // namespace

ProgramBuilder toy_builder(const std::string& name) {
  return ProgramBuilder(name,
                        {{"array", std::vector<Instruction>{}}, {"dma", std::vector<Transfer>{}}});
}

void emit_toy_tiles(ProgramBuilder& builder, std::uint32_t tiles, Bytes bytes,
                    std::uint64_t columns) {
  std::vector<Deps> done;
  for (std::uint32_t tile = 0; tile < tiles; ++tile) {
    const Deps free = tile < 2 ? Deps{} : done[tile - 2];
    const Deps loaded =
        builder.emit_to(kToyDmaStream, transfer_of(bytes / tiles, TransferDirection::kLoad), free);
    Instruction multiply;
    multiply.opcode = Opcode::kMultiplyMoving;
    multiply.n = static_cast<std::uint32_t>(columns * (tile + 1) / tiles - columns * tile / tiles);
    multiply.n = std::max(1U, multiply.n);
    done.push_back(builder.emit_to(kToyArrayStream, multiply, loaded));
  }
}

ToyMapping map_to_toy(const Graph& graph, const ToyNpuSpec& spec) {
  ToyMapping mapping;
  mapping.ops = fuse_kernels(graph);
  ProgramBuilder builder = toy_builder("call");
  for (const FusedOp& op : mapping.ops) {
    builder.begin_operator(graph.op(op.main).name);
    Flops flops(0);
    for (const OpId id : op.ops) flops += graph.flops(id);
    const Bytes read = sum_of(op.reads);
    const double tiles = std::max(1.0, std::ceil(read / (spec.sram / 2)));
    emit_toy_tiles(builder, static_cast<std::uint32_t>(tiles), read,
                   toy_columns(spec.array, flops));
    Deps computed;
    computed.add(kToyArrayStream, builder.queue_length(static_cast<int>(kToyArrayStream)) - 1);
    builder.emit_to(kToyDmaStream, transfer_of(sum_of(op.writes), TransferDirection::kStore),
                    computed);
  }
  mapping.program = std::move(builder).finish();
  return mapping;
}

}  // namespace foretell
