#include "model/program/instruction.hpp"

#include <array>

namespace foretell {
namespace {

constexpr std::array<std::string_view, kEngineCount> kEngineNames = {"tensor", "vector", "scalar",
                                                                     "gpsimd", "sync"};
constexpr std::array<std::string_view, kElementTypeCount> kTypeNames = {
    "fp32", "tf32", "bf16", "fp16", "fp8", "int8", "int32"};
constexpr std::array<int, kElementTypeCount> kTypeBytes = {4, 4, 2, 2, 1, 1, 4};
constexpr std::array<std::string_view, kOpcodeCount> kOpcodeNames = {"load_stationary",
                                                                     "multiply_moving",
                                                                     "transpose",
                                                                     "activate",
                                                                     "activate_reduce",
                                                                     "tensor_tensor",
                                                                     "scalar_tensor_tensor",
                                                                     "tensor_scalar",
                                                                     "tensor_scalar_reduce",
                                                                     "tensor_reduce",
                                                                     "tensor_tensor_scan",
                                                                     "tensor_copy",
                                                                     "tensor_copy_dynamic",
                                                                     "tensor_copy_predicated",
                                                                     "bn_stats",
                                                                     "bn_aggr",
                                                                     "reciprocal",
                                                                     "rsqrt",
                                                                     "range_select",
                                                                     "stream_shuffle",
                                                                     "dropout",
                                                                     "memset",
                                                                     "max8",
                                                                     "find_index8",
                                                                     "match_replace8",
                                                                     "affine_select",
                                                                     "iota",
                                                                     "local_gather",
                                                                     "topk",
                                                                     "semaphore_only"};

constexpr unsigned bit(Engine engine) { return 1U << static_cast<unsigned>(engine); }

unsigned engine_mask(Opcode opcode) {
  constexpr unsigned kV = bit(Engine::kVector);
  constexpr unsigned kS = bit(Engine::kScalar);
  constexpr unsigned kG = bit(Engine::kGpSimd);
  switch (opcode) {
    case Opcode::kLoadStationary:
    case Opcode::kMultiplyMoving:
      return bit(Engine::kTensor);
    case Opcode::kTranspose:
      return bit(Engine::kTensor) | kV;
    case Opcode::kActivate:
    case Opcode::kActivateReduce:
      return kS;
    case Opcode::kTensorTensor:
    case Opcode::kMemset:
      return kV | kG;
    case Opcode::kReciprocal:
      return kV | kS;
    case Opcode::kTensorScalar:
    case Opcode::kTensorCopy:
    case Opcode::kTensorCopyDynamic:
    case Opcode::kRsqrt:
      return kV | kS | kG;
    case Opcode::kScalarTensorTensor:
    case Opcode::kTensorScalarReduce:
    case Opcode::kTensorReduce:
    case Opcode::kTensorTensorScan:
    case Opcode::kTensorCopyPredicated:
    case Opcode::kBnStats:
    case Opcode::kBnAggr:
    case Opcode::kRangeSelect:
    case Opcode::kStreamShuffle:
    case Opcode::kDropout:
    case Opcode::kMax8:
    case Opcode::kFindIndex8:
    case Opcode::kMatchReplace8:
      return kV;
    case Opcode::kAffineSelect:
    case Opcode::kIota:
    case Opcode::kLocalGather:
    case Opcode::kTopK:
      return kG;
    case Opcode::kSemaphoreOnly:
      break;
  }
  return (1U << static_cast<unsigned>(kEngineCount)) - 1U;
}

}  // namespace

std::string_view to_string(Engine engine) {
  return kEngineNames.at(static_cast<std::size_t>(engine));
}
std::string_view to_string(ElementType type) {
  return kTypeNames.at(static_cast<std::size_t>(type));
}
int element_bytes(ElementType type) { return kTypeBytes.at(static_cast<std::size_t>(type)); }
std::string_view to_string(Opcode opcode) {
  return kOpcodeNames.at(static_cast<std::size_t>(opcode));
}

bool runs_on(Opcode opcode, Engine engine) { return (engine_mask(opcode) & bit(engine)) != 0; }

std::string engines_of(Opcode opcode) {
  std::string names;
  for (int e = 0; e < kEngineCount; ++e) {
    const auto engine = static_cast<Engine>(e);
    if (!runs_on(opcode, engine)) continue;
    names += (names.empty() ? "" : " or ") + std::string(to_string(engine));
  }
  return names;
}

}  // namespace foretell
