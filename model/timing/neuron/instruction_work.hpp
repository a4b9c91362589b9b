// What an instruction, a transfer or a collective of a NeuronCore does, counted for its energy.
#pragma once

#include "model/base/energy_work.hpp"
#include "model/program/collective.hpp"
#include "model/program/instruction.hpp"
#include "model/program/transfer.hpp"

namespace foretell {

// Adds: of a product 2 · moving columns · stationary columns · contraction rows FLOP on the array,
// its moving operand out of SBUF and its FP32 result into PSUM; of lanes one operation per element
// (a special function where the opcode is one), read and written once. A semaphore adds nothing.
void count_instruction(Engine engine, const Instruction& instruction, EnergyWork& work);
// Adds the bytes of a transfer, in or out of SBUF, and of HBM unless both ends are on the chip.
void count_transfer(const Transfer& transfer, EnergyWork& work);
// Adds what a rank sends: of an exchange in rounds its bytes, otherwise what a ring of many ranks
// sends, the payload once, twice in an all-reduce.
void count_collective(const Collective& collective, EnergyWork& work);

}  // namespace foretell
