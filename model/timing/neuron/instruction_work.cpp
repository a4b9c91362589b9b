#include "model/timing/neuron/instruction_work.hpp"

namespace foretell {
namespace {

constexpr double kBitsPerByte = 8;
constexpr double kAccumulator = 4;  // bytes of a value in PSUM

double elements(const Instruction& instruction) {
  return static_cast<double>(instruction.n) * instruction.partitions;
}

void count_tensor(const Instruction& instruction, EnergyWork& work) {
  const double bytes = element_bytes(instruction.type);
  const double moved = elements(instruction);
  work.sram += Bytes(moved * bytes);
  if (instruction.opcode != Opcode::kMultiplyMoving) {
    if (instruction.opcode == Opcode::kTranspose) work.sram += Bytes(moved * kAccumulator);
    return;
  }
  add_matrix_flops(work, kBitsPerByte * bytes, Flops(2 * moved * instruction.aux));
  work.sram += Bytes(static_cast<double>(instruction.n) * instruction.aux * kAccumulator);
}

bool is_special(Opcode opcode) {
  return opcode == Opcode::kActivate || opcode == Opcode::kActivateReduce ||
         opcode == Opcode::kReciprocal || opcode == Opcode::kRsqrt;
}

}  // namespace

void count_instruction(Engine engine, const Instruction& instruction, EnergyWork& work) {
  if (instruction.opcode == Opcode::kSemaphoreOnly) return;
  if (engine == Engine::kTensor) return count_tensor(instruction, work);
  const double count = elements(instruction);
  if (is_special(instruction.opcode)) {
    work.exponentials += count;
  } else {
    work.vector += Flops(count);
  }
  work.sram +=
      Bytes(count * (element_bytes(instruction.type) + element_bytes(instruction.out_type)));
}

void count_transfer(const Transfer& transfer, EnergyWork& work) {
  const Bytes bytes(static_cast<double>(transfer.bytes()));
  if (transfer.direction != TransferDirection::kOnChip) work.dram += bytes;
  work.sram += bytes;
}

void count_collective(const Collective& collective, EnergyWork& work) {
  if (!collective.exchange.rounds.empty()) {
    work.link += sent_bytes(collective.exchange);
    return;
  }
  const bool twice = collective.kind == CollectiveKind::kAllReduce;
  work.link += Bytes(static_cast<double>(collective.bytes) * (twice ? 2 : 1));
}

}  // namespace foretell
