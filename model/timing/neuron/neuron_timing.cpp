#include "model/timing/neuron/neuron_timing.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr double kGpSimdStart = 150;           // ISA:291, 567, 630
constexpr double kDynamicAddressCycles = 600;  // ISA:1434, 1467
constexpr double kGpSimdRsqrtFactor = 4;       // nki.api.shared: GpSimd 4x slower than the others
constexpr double kReciprocalFactor = 8;        // ISA:1189, Vector only

bool has(const Instruction& i, InstructionFlag flag) { return (i.flags & flag) != 0; }
bool is_bf16(const Instruction& i) {
  return i.type == ElementType::kBf16 && i.out_type == ElementType::kBf16;
}
bool is_16_bit(ElementType type) {
  return type == ElementType::kBf16 || type == ElementType::kFp16;
}
bool is_16_bit_zero(const Instruction& i) { return has(i, kZeroFill) && is_16_bit(i.out_type); }

// ISA:1803-1812: N when one operand comes from PSUM, or all is BF16 in SBUF with a plain ALU
// operator on contiguous data; 2N otherwise, because SBUF delivers one FP32 operand per cycle.
double tensor_tensor_passes(const Instruction& i) {
  if (has(i, kReadsPsum) && has(i, kReadsSbuf)) return 1;
  const bool fast = is_bf16(i) && has(i, kAddMulSub) && !has(i, kWideStride);
  return fast ? 1 : 2;
}

// A3:224-239, elements of 16 bits in SBUF. What comes from PSUM is FP32 there and takes no part.
double narrow_speedup(const LaneEngineSpec& spec, const Instruction& i) {
  if (!is_16_bit(i.type) || !is_16_bit(i.out_type)) return 1;
  if (has(i, kReadsPsum) || has(i, kWritesPsum)) return 1;
  const int of_copies = has(i, kWideStride) ? spec.strided_copy_speedup : spec.copy_speedup;
  return std::max(1, i.opcode == Opcode::kTensorTensor ? spec.pair_speedup : of_copies);
}

// Cycles per element of a partition.
double cycles_per_element(const LaneEngineSpec& spec, int partitions, const Instruction& i) {
  const double lanes = spec.lanes;
  if (spec.lanes >= partitions) return std::max<double>(partitions, i.partitions) / lanes;
  return std::max(1.0, i.partitions / lanes);
}

// ISA:630-634, as printed: C = ((28 + 4e) / (4e)) / min(4 / bytes, e), e elements per index.
double local_gather(const Instruction& i, double n) {
  const double e = std::max<double>(1, i.aux);
  const double c = ((28 + 4 * e) / (4 * e)) / std::min(4.0 / element_bytes(i.type), e);
  return kGpSimdStart + (n * e) / c;
}

UserError wrong_engine(Engine engine, Opcode opcode) {
  return UserError(std::string(to_string(opcode)) + " does not run on the " +
                   std::string(to_string(engine)) + " engine; put it in the " + engines_of(opcode) +
                   " queue");
}

}  // namespace

Cycles tensor_cycles(const TensorEngineSpec& spec, const Instruction& i, double cycles_per_column) {
  const double n = i.n;
  const double floor = spec.min_interval.value();
  switch (i.opcode) {
    case Opcode::kLoadStationary:
      return Cycles(n / spec.load_stationary_speedup * std::max(1.0, cycles_per_column));
    case Opcode::kMultiplyMoving: {
      const double stationary =
          i.aux == 0 ? static_cast<double>(spec.columns) : static_cast<double>(i.aux);
      const double onezero = has(i, kOneZeroStationary) && cycles_per_column > 1 ? 0.5 : 1;
      return Cycles(std::max(std::min(floor, stationary), n) * cycles_per_column * onezero);
    }
    case Opcode::kTranspose:
      return Cycles(std::max<double>(i.partitions, std::min(floor, n)));
    case Opcode::kSemaphoreOnly:
      return Cycles(0);
    default:
      throw wrong_engine(Engine::kTensor, i.opcode);
  }
}

Cycles lane_cycles(Engine engine, const LaneEngineSpec& spec, int partitions,
                   const Instruction& i) {
  if (!runs_on(i.opcode, engine)) throw wrong_engine(engine, i.opcode);
  const double n = i.n * cycles_per_element(spec, partitions, i);
  const double minimum = spec.min_interval.value();
  const double rate = has(i, kWideStride) ? 2 : 1;  // A2:757-762
  const auto at_least = [&](double cycles) { return Cycles(std::max(minimum, cycles * rate)); };
  switch (i.opcode) {
    case Opcode::kActivate:  // ISA:168
      return at_least(n);
    case Opcode::kActivateReduce:  // ISA:237: then reads the accumulator, A2:492
      return at_least(n) + Cycles(minimum);
    case Opcode::kTensorTensor:
      return at_least(tensor_tensor_passes(i) * n / narrow_speedup(spec, i));
    case Opcode::kScalarTensorTensor: {  // ISA:1223-1225, the type of the result does not matter
      const bool fast = i.type == ElementType::kBf16 && has(i, kAddMulSub) && i.n % 2 == 0;
      return Cycles((fast ? 1 : 2) * n * rate);
    }
    case Opcode::kTensorScalar:  // ISA:1678
    case Opcode::kTensorCopy:    // ISA:1398
      return at_least(n / narrow_speedup(spec, i));
    case Opcode::kRangeSelect:    // ISA:1135
    case Opcode::kStreamShuffle:  // ISA:993
    case Opcode::kDropout:        // ISA:529
    case Opcode::kBnStats:        // ISA:386
    case Opcode::kTranspose:      // ISA:1052, 32x32 blocks
      return at_least(n);
    case Opcode::kTensorScalarReduce:  // ISA:1738
      return at_least(n) + Cycles(minimum);
    case Opcode::kTensorReduce:  // ISA:1605-1607
      return Cycles((is_bf16(i) && has(i, kAddOrMax) ? n / 2 : n) * rate);
    case Opcode::kTensorTensorScan:  // ISA:1888
      return at_least(2 * n);
    case Opcode::kTensorCopyDynamic:  // ISA:1434, 1467
      return Cycles(std::max(kDynamicAddressCycles, n * rate));
    case Opcode::kTensorCopyPredicated:  // ISA:1521-1525
      return at_least((has(i, kReadsPsum) ? 1 : 2) * n);
    case Opcode::kBnAggr:  // ISA:337
      return at_least(13 * n / 3);
    case Opcode::kReciprocal:  // ISA:1189; one pass on Scalar
      return at_least(engine == Engine::kVector ? kReciprocalFactor * n : n);
    case Opcode::kRsqrt:
      return at_least(engine == Engine::kGpSimd ? kGpSimdRsqrtFactor * n : n);
    case Opcode::kMemset:  // ISA:714-715
      return at_least(is_16_bit_zero(i) ? n / 2 : n);
    case Opcode::kMax8:        // ISA:673
    case Opcode::kFindIndex8:  // ISA:748
      return Cycles(n * rate);
    case Opcode::kMatchReplace8:  // ISA:795 prints min, which can only mean max
      return at_least(n);
    case Opcode::kAffineSelect:  // ISA:291
    case Opcode::kIota:          // ISA:567
      return Cycles(kGpSimdStart + n * rate);
    case Opcode::kLocalGather:
      return Cycles(local_gather(i, n));
    case Opcode::kTopK:  // 4n + K per partition
      return Cycles(4 * n + i.aux);
    case Opcode::kSemaphoreOnly:
      return Cycles(0);
    case Opcode::kLoadStationary:
    case Opcode::kMultiplyMoving:
      break;
  }
  throw wrong_engine(engine, i.opcode);
}

Cycles access_overhead(const LaneEngineSpec& spec, const Instruction& i) {
  if (i.opcode == Opcode::kSemaphoreOnly) return Cycles(0);
  return has(i, kDependsOnPrevious) ? spec.dependent_overhead : spec.access_overhead;
}

bool uses_psum(const Instruction& i) { return (i.flags & (kReadsPsum | kWritesPsum)) != 0; }
bool uses_sbuf(const Instruction& i) { return (i.flags & (kReadsSbuf | kWritesSbuf)) != 0; }

Seconds descriptor_time(const DmaSpec& spec, Bytes size, double rate_fraction) {
  return std::max(spec.descriptor_floor,
                  spec.descriptor_overhead + size / (spec.engine_rate * rate_fraction));
}

Bytes engine_bytes(const DmaSpec& spec, const Transfer& transfer) {
  double bytes = transfer.descriptor_bytes;
  if ((transfer.flags & kCasts) != 0) bytes *= 2;
  if ((transfer.flags & kTransposes) != 0) bytes *= spec.transpose_passes;
  return Bytes(bytes);
}

}  // namespace foretell
