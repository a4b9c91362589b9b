// What one instruction or one DMA descriptor costs on a NeuronCore-v2. Pure formulas.
//
// Sources: the vendor's published cost table (nki.isa, keys ISA:line in hw/sources.yaml), its
// architecture guide (A2:line) and DMA guide (DBW, DOV). Costs are engine cycles; N is the number
// of elements per partition, and the number of partitions does not matter [A2:380-381].
#pragma once

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "hw/spec/neuron/neuron_spec.hpp"
#include "model/base/units.hpp"
#include "model/program/program.hpp"

namespace foretell {

// Tensor engine. MultiplyMoving: max(min(64, N_stationary), N_moving) cycles for BF16, FP16, FP8
// and TF32, 4 times that for FP32, half of the 4 again when the stationary operand holds only ones
// and zeros [ISA:898-911, 938-940]. LoadStationary runs in the background at 4 columns per cycle
// [A2:282-299, PG:677-679]. Transpose: max(P, min(64, F)) [ISA:1055].
// `cycles_per_column` is TensorEngineSpec::cycles_per_column of the instruction's type.
Cycles tensor_cycles(const TensorEngineSpec& spec, const Instruction& instruction,
                     double cycles_per_column);

// Vector, Scalar and GpSimd engines: the cost table alone, without access overhead. Throws
// UserError for an opcode that the engine does not run. The table is of an engine with a lane for
// each of the `partitions` of SBUF. With fewer lanes the partitions of the instruction take turns,
// with more of them each partition has several elements per cycle; of a tile with more rows than
// SBUF has partitions, each holds several rows. What does not depend on N stays.
Cycles lane_cycles(Engine engine, const LaneEngineSpec& spec, int partitions,
                   const Instruction& instruction);

// Fixed cycles that come on top of lane_cycles: the static tensor access (~60, A2:773-776), or ~100
// when the instruction needs the result of the one before it (A2:402-404, PG:417).
Cycles access_overhead(const LaneEngineSpec& spec, const Instruction& instruction);

// Does this instruction read or write the memory through the engine's port?
bool uses_psum(const Instruction& instruction);
bool uses_sbuf(const Instruction& instruction);

// Time one DMA engine needs for one descriptor of `size`: max(floor, overhead + size / rate).
// Digitised from the vendor's bandwidth-against-size plot [DOV:34-40]. `rate_fraction` scales the
// sustained rate (NeuronFactors::dma_rate_fraction).
Seconds descriptor_time(const DmaSpec& spec, Bytes size, double rate_fraction);

// Bytes of a descriptor as they pass an engine: casting goes through FP32 [DOV:19], which doubles
// 16-bit data; a transposing transfer passes DmaSpec::transpose_passes times.
Bytes engine_bytes(const DmaSpec& spec, const Transfer& transfer);

}  // namespace foretell
