#include "model/program/program.hpp"

#include <string>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

std::string place(Engine engine, std::size_t index, const Instruction& instruction) {
  return std::string(to_string(engine)) + "[" + std::to_string(index) + "] " +
         std::string(to_string(instruction.opcode));
}

void require_at_most(std::uint64_t value, std::uint64_t limit, const std::string& where,
                     const std::string& what) {
  if (value > limit) {
    throw UserError(where + ": " + what + " is " + std::to_string(value) + ", the limit is " +
                    std::to_string(limit));
  }
}

bool is_tensor_opcode(Opcode opcode) {
  return opcode == Opcode::kLoadStationary || opcode == Opcode::kMultiplyMoving;
}

void validate_tensor(const Instruction& i, const ProgramLimits& limits, const std::string& where) {
  if (i.opcode == Opcode::kLoadStationary) {
    require_at_most(i.n, limits.stationary_columns, where, "columns of the stationary operand");
    return;
  }
  require_at_most(i.n, limits.moving_columns, where, "columns of the moving operand");
  require_at_most(i.aux, limits.stationary_columns, where, "columns of the stationary operand");
  if (i.psum_bank != kNoBank) {
    require_at_most(std::uint64_t{i.psum_bank} + 1, limits.psum_banks, where, "PSUM bank number + 1");
    require_at_most(i.n, limits.psum_bank_columns, where,
                    "FP32 columns written to one PSUM bank (overflow)");
  }
}

void validate_lane(const Instruction& i, const ProgramLimits& limits, const std::string& where) {
  const bool psum = (i.flags & (kReadsPsum | kWritesPsum)) != 0;
  require_at_most(i.n, psum ? limits.psum_free_elements : limits.sbuf_free_elements, where,
                  psum ? "elements per partition in PSUM" : "elements per partition in SBUF");
  if (i.opcode == Opcode::kBnStats) {
    require_at_most(i.n, limits.bn_stats_elements, where, "elements per partition of bn_stats");
  }
}

}  // namespace

std::size_t Program::instruction_count() const {
  std::size_t count = 0;
  for (const auto& queue : engines) count += queue.size();
  return count;
}

std::size_t Program::transfer_count() const {
  std::size_t count = 0;
  for (const auto& ring : rings) count += ring.transfers.size();
  return count;
}

void validate(const Program& program, const ProgramLimits& limits) {
  for (int e = 0; e < kEngineCount; ++e) {
    const auto engine = static_cast<Engine>(e);
    const auto& queue = program.engines[static_cast<std::size_t>(e)];
    for (std::size_t index = 0; index < queue.size(); ++index) {
      const Instruction& i = queue[index];
      const std::string where = place(engine, index, i);
      if (i.opcode == Opcode::kSemaphoreOnly) continue;
      if (is_tensor_opcode(i.opcode) && engine != Engine::kTensor) {
        throw UserError(where + ": only the tensor engine multiplies; put it in the tensor queue");
      }
      if (engine == Engine::kTensor && !is_tensor_opcode(i.opcode) && i.opcode != Opcode::kTranspose) {
        throw UserError(where + ": the tensor engine runs load_stationary, multiply_moving and "
                                "transpose; put it in the vector, scalar or gpsimd queue");
      }
      if (i.n == 0) throw UserError(where + ": size n is 0; state at least 1 element");
      if (i.partitions == 0) throw UserError(where + ": 0 partitions; state 1 to 128");
      require_at_most(i.partitions, limits.partitions, where, "partitions");
      if (engine == Engine::kTensor) {
        validate_tensor(i, limits, where);
      } else {
        validate_lane(i, limits, where);
      }
    }
  }
  for (const DmaRing& ring : program.rings) {
    for (std::size_t index = 0; index < ring.transfers.size(); ++index) {
      const Transfer& t = ring.transfers[index];
      const std::string where = "dma " + ring.name + "[" + std::to_string(index) + "]";
      if (t.bytes() == 0) throw UserError(where + ": moves 0 bytes; state descriptors and their size");
      if (limits.hbm_bytes > 0 && t.direction != TransferDirection::kOnChip) {
        require_at_most(t.hbm_address + t.bytes(), limits.hbm_bytes, where, "end address in HBM");
      }
    }
  }
}

}  // namespace foretell
