#include "model/program/instruction.hpp"

#include <array>

namespace foretell {
namespace {

constexpr std::array<std::string_view, kEngineCount> kEngineNames = {"tensor", "vector", "scalar",
                                                                     "gpsimd", "sync"};
constexpr std::array<std::string_view, kElementTypeCount> kTypeNames = {
    "fp32", "tf32", "bf16", "fp16", "fp8", "int8", "int32"};
constexpr std::array<int, kElementTypeCount> kTypeBytes = {4, 4, 2, 2, 1, 1, 4};
constexpr std::array<std::string_view, kOpcodeCount> kOpcodeNames = {
    "load_stationary",   "multiply_moving", "transpose",
    "activate",          "activate_reduce", "tensor_tensor",
    "scalar_tensor_tensor", "tensor_scalar", "tensor_scalar_reduce",
    "tensor_reduce",     "tensor_tensor_scan", "tensor_copy",
    "tensor_copy_dynamic", "tensor_copy_predicated", "bn_stats",
    "bn_aggr",           "reciprocal",      "rsqrt",
    "range_select",      "stream_shuffle",  "dropout",
    "memset",            "max8",            "find_index8",
    "match_replace8",    "affine_select",   "iota",
    "local_gather",      "topk",            "semaphore_only"};

}  // namespace

std::string_view to_string(Engine engine) { return kEngineNames.at(static_cast<std::size_t>(engine)); }
std::string_view to_string(ElementType type) { return kTypeNames.at(static_cast<std::size_t>(type)); }
int element_bytes(ElementType type) { return kTypeBytes.at(static_cast<std::size_t>(type)); }
std::string_view to_string(Opcode opcode) { return kOpcodeNames.at(static_cast<std::size_t>(opcode)); }

}  // namespace foretell
