// The instructions of a NeuronCore-v2, as its engines queue them.
//
// Names are those of the vendor's instruction set (nki.isa). An instruction says what is done and
// how large it is; model/timing says how long that takes on a given core.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace foretell {

enum class Engine : std::uint8_t { kTensor, kVector, kScalar, kGpSimd, kSync };
inline constexpr int kEngineCount = 5;
std::string_view to_string(Engine engine);  // "tensor", "vector", "scalar", "gpsimd", "sync"

enum class ElementType : std::uint8_t { kFp32, kTf32, kBf16, kFp16, kFp8, kInt8, kInt32 };
inline constexpr int kElementTypeCount = 7;
std::string_view to_string(ElementType type);  // "fp32", …
int element_bytes(ElementType type);           // 4, 4, 2, 2, 1, 1, 4

enum class Opcode : std::uint8_t {
  // Tensor engine
  kLoadStationary,  // n = columns of the stationary operand, partitions = contraction rows
  kMultiplyMoving,  // n = columns of the moving operand, aux = columns of the stationary one
  kTranspose,       // by identity matmul (tensor) or 32x32 blocks (vector); n = free size
  // Lane engines (Vector, Scalar, GpSimd); n = elements per partition of the largest operand
  kActivate,
  kActivateReduce,
  kTensorTensor,
  kScalarTensorTensor,
  kTensorScalar,
  kTensorScalarReduce,
  kTensorReduce,
  kTensorTensorScan,
  kTensorCopy,
  kTensorCopyDynamic,
  kTensorCopyPredicated,
  kBnStats,
  kBnAggr,
  kReciprocal,
  kRsqrt,
  kRangeSelect,
  kStreamShuffle,
  kDropout,
  kMemset,
  kMax8,
  kFindIndex8,
  kMatchReplace8,
  kAffineSelect,  // GpSimd
  kIota,          // GpSimd
  kLocalGather,   // GpSimd; n = indices, aux = elements per index
  kTopK,          // GpSimd; n = elements, aux = K
  // Any queue
  kSemaphoreOnly,  // waits and signals, does nothing else
};
inline constexpr int kOpcodeCount = static_cast<int>(Opcode::kSemaphoreOnly) + 1;
std::string_view to_string(Opcode opcode);  // "multiply_moving", …

// Does this engine run the instruction? As the vendor's instruction set says (nki.isa, parameter
// `engine`); every queue runs kSemaphoreOnly.
bool runs_on(Opcode opcode, Engine engine);
std::string engines_of(Opcode opcode);  // "vector or gpsimd", for messages

// Properties that select a row of the cost table or cause a conflict.
enum InstructionFlag : std::uint16_t {
  kReadsPsum = 1U << 0U,  // at least one input operand is in PSUM
  kWritesPsum = 1U << 1U,
  kReadsSbuf = 1U << 2U,
  kWritesSbuf = 1U << 3U,
  kDependsOnPrevious = 1U << 4U,  // needs the result of the instruction before it in its queue
  kWideStride = 1U << 5U,         // innermost stride of 16 bytes or more: half rate
  kAddMulSub = 1U << 6U,          // ALU operator is add, multiply or subtract
  kAddOrMax = 1U << 7U,           // reduction operator is add or max
  kZeroFill = 1U << 8U,           // memset to zero
  kOneZeroStationary = 1U << 9U,  // FP32 stationary operand holds only ones and zeros
  kStartsGroup = 1U << 10U,       // first matmul of a PSUM accumulation group
  kEndsGroup = 1U << 11U,         // last one: the bank may be read after it
};

inline constexpr std::uint16_t kNoSemaphore = 0xFFFF;
inline constexpr std::uint8_t kNoBank = 0xFF;

struct Instruction {
  Opcode opcode = Opcode::kSemaphoreOnly;
  ElementType type = ElementType::kFp32;  // of the inputs (the widest of them)
  ElementType out_type = ElementType::kFp32;
  std::uint8_t psum_bank = kNoBank;  // bank that a PE instruction writes
  std::uint16_t flags = 0;
  std::uint16_t partitions = 128;
  std::uint16_t tile = 0;               // mask of 4x4 PE quadrants (32x32 each); 0 = all
  std::uint16_t signal = kNoSemaphore;  // semaphore raised by 1 at the end
  std::uint32_t n = 0;
  std::uint32_t aux = 0;
  std::int32_t op = -1;          // operator it belongs to, for attribution
  std::uint32_t first_wait = 0;  // into Program::waits
  std::uint16_t wait_count = 0;
};

}  // namespace foretell
