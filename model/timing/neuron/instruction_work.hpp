// What an instruction of a NeuronCore does, counted for its energy.
#pragma once

#include "model/base/energy_work.hpp"
#include "model/program/instruction.hpp"

namespace foretell {

// Adds: of a product 2 · moving columns · stationary columns · contraction rows FLOP on the array,
// its moving operand out of SBUF and its FP32 result into PSUM; of lanes one operation per element
// (a special function where the opcode is one), read and written once. A semaphore adds nothing.
void count_instruction(Engine engine, const Instruction& instruction, EnergyWork& work);

}  // namespace foretell
