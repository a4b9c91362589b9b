#include "workloads/ir/precision.hpp"

#include <algorithm>
#include <map>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

bool is_narrow(DType type) { return size_of(type) < Bytes(2) && type != DType::kBool; }

enum class Readers { kMatMulsOnly, kMatMulsAndOthers, kOthersOnly };

Readers readers_of(const Graph& graph, TensorId place) {
  const Tensor& tensor = graph.tensor(place);
  const auto is_matmul = [&](OpId id) {
    const Op& op = graph.op(id);
    if (op.kind == "MatMul" || op.kind == "ExpertMatMul") return true;
    if (op.kind == "Experts") return op.inputs[3] == place || op.inputs[4] == place;
    // A convolution is one, too; its bias is added to the result.
    if (op.kind != "Conv" && op.kind != "ConvTranspose") return false;
    return op.inputs.size() < 3 || &graph.tensor(op.inputs[2]) != &tensor;
  };
  // A matrix that no call reads is stored as others of its network are.
  if (tensor.consumers.empty() && tensor.shape.size() == 2) return Readers::kMatMulsOnly;
  const auto matmuls = std::count_if(tensor.consumers.begin(), tensor.consumers.end(), is_matmul);
  if (matmuls == 0) return Readers::kOthersOnly;
  const bool all = static_cast<std::size_t>(matmuls) == tensor.consumers.size();
  return all ? Readers::kMatMulsOnly : Readers::kMatMulsAndOthers;
}

// A network that comes with weights in INT8 says by it which products are quantised.
bool chooses_its_products(const PrecisionPolicy& policy, const Graph& graph) {
  if (policy.weight_storage != DType::kInt8) return false;
  return std::any_of(graph.tensors().begin(), graph.tensors().end(), [](const Tensor& tensor) {
    return tensor.kind == TensorKind::kWeight && !tensor.is_kept && tensor.dtype == DType::kInt8;
  });
}

DType type_for(const PrecisionPolicy& policy, const Graph& graph, TensorId place, bool is_chosen) {
  const Tensor& tensor = graph.tensor(place);
  switch (tensor.kind) {
    case TensorKind::kInput:
    case TensorKind::kOutput:
      return policy.io;
    case TensorKind::kActivation:
      return tensor.is_kept ? tensor.dtype : policy.vector;
    case TensorKind::kState:
      return tensor.is_kept ? tensor.dtype : policy.kv_cache;
    case TensorKind::kWeight:
      if (tensor.is_kept) {
        const bool stays = is_narrow(tensor.dtype) && is_narrow(policy.weight_storage);
        return stays ? tensor.dtype : policy.vector;
      }
      break;
  }
  switch (readers_of(graph, place)) {
    case Readers::kMatMulsOnly:
      return is_chosen ? policy.weight_storage : policy.vector;
    case Readers::kMatMulsAndOthers:
      return policy.matmul_compute;
    case Readers::kOthersOnly:
      break;
  }
  return policy.vector;
}

// What frameworks and checkpoints call a type, by its name here.
const std::map<std::string, std::string>& other_names() {
  static const std::map<std::string, std::string> kNames = {
      {"bfloat16", "bf16"},    {"float16", "fp16"},       {"half", "fp16"},
      {"float32", "fp32"},     {"float", "fp32"},         {"tensorfloat32", "tf32"},
      {"e4m3", "fp8"},         {"float8", "fp8"},         {"fp8_e4m3", "fp8"},
      {"w8a8", "int8"},        {"w8a16", "int8-weights"}, {"w4a16", "int4-weights"},
      {"awq", "int4-weights"}, {"gptq", "int4-weights"},  {"int4", "int4-weights"}};
  return kNames;
}

bool is_index(DType type) {
  return type == DType::kInt32 || type == DType::kInt64 || type == DType::kBool;
}

}  // namespace

const std::vector<PrecisionPolicy>& precision_policies() {
  constexpr DType kInt8 = DType::kInt8, kFp8 = DType::kFp8, kFp16 = DType::kFp16;
  constexpr DType kBf16 = DType::kBf16, kTf32 = DType::kTf32, kFp32 = DType::kFp32;
  constexpr DType kNvfp4 = DType::kNvfp4;
  // name, description; matmul operands, matmul weights in memory, everything else, host boundary,
  // KV cache
  static const std::vector<PrecisionPolicy> kPolicies{
      {"int8",
       "weights stored in INT8, converted and multiplied in BF16, as the vendor's compiler does on "
       "NeuronCore-v2, for which it has no INT8 matmul; everything else BF16",
       kBf16, kInt8, kBf16, kBf16, kBf16},
      {"int8-datasheet",
       "matmuls in INT8 at the rate of the datasheet, which today's compiler does not reach on "
       "NeuronCore-v2; everything else BF16",
       kInt8, kInt8, kBf16, kBf16, kBf16},
      {"int8-weights", "weights stored in INT8, computed in BF16; activations BF16", kBf16, kInt8,
       kBf16, kBf16, kBf16},
      {"fp8-weights", "weights stored in FP8, computed in BF16; activations BF16", kBf16, kFp8,
       kBf16, kBf16, kBf16},
      {"int4-weights", "weights stored in INT4, computed in BF16; activations BF16", kBf16,
       DType::kInt4, kBf16, kBf16, kBf16},
      {"nvfp4-weights",
       "weights stored in FP4 with a scale for 16 elements each, computed in BF16; activations "
       "BF16",
       kBf16, kNvfp4, kBf16, kBf16, kBf16},
      {"mxfp4-weights",
       "weights stored in FP4 with a scale for 32 elements each, computed in BF16; activations "
       "BF16",
       kBf16, DType::kMxfp4, kBf16, kBf16, kBf16},
      {"fp8",
       "matmul operands and weights in FP8 (cFP8 on NeuronCore-v2: E4M3 or E5M2); everything else "
       "BF16",
       kFp8, kFp8, kBf16, kBf16, kBf16},
      {kBlockScales,
       "matmul operands in FP8 with a scale for 128 activations, weights in FP8 with a scale for "
       "128 x 128, by kernels that quantise what they read, on GPUs; everything else BF16",
       kFp8, DType::kFp8Block, kBf16, kBf16, kBf16},
      {"nvfp4",
       "matmul operands and weights in FP4 with a scale for 16 elements each, on GPUs that have "
       "such a pipe; everything else BF16",
       kNvfp4, kNvfp4, kBf16, kBf16, kBf16},
      {"fp16", "everything in FP16", kFp16, kFp16, kFp16, kFp16, kFp16},
      {"bf16", "everything in BF16", kBf16, kBf16, kBf16, kBf16, kBf16},
      {"tf32", "matmuls in TF32, stored in 4 bytes; everything else FP32", kTf32, kTf32, kFp32,
       kFp32, kFp32},
      {"fp32", "everything in FP32", kFp32, kFp32, kFp32, kFp32, kFp32},
      {"bf16-matmul",
       "matmul operands and weights in BF16, everything else FP32: the compiler's auto-cast of "
       "matmuls, with which most published Inferentia2 rows were compiled",
       kBf16, kBf16, kFp32, kFp32, kBf16},
  };
  return kPolicies;
}

const PrecisionPolicy& find_precision(std::string_view given) {
  const std::string name = to_lower(given);
  std::vector<std::string> names;
  for (const PrecisionPolicy& policy : precision_policies()) {
    if (policy.name == name) return policy;
    names.push_back(policy.name);
  }
  if (name == "cfp8") {
    throw UserError(
        "unknown data type 'cfp8': type 'fp8', which on NeuronCore-v2 is the configurable FP8 "
        "(cFP8)");
  }
  if (name == "fp4" || name == "mxfp4") {
    throw UserError("unknown data type '" + name +
                    "': type 'nvfp4', FP4 with a scale for 16 elements each, or 'mxfp4-weights', "
                    "weights in FP4 with a scale for 32 elements each");
  }
  const auto meant = other_names().find(name);
  if (meant != other_names().end()) {
    throw UserError("unknown data type '" + name + "': type '" + meant->second + "', " +
                    find_precision(meant->second).description);
  }
  throw unknown_name("data type or precision policy", name, names);
}

void apply_precision(const PrecisionPolicy& policy, Graph* graph) {
  const bool chooses = chooses_its_products(policy, *graph);
  for (std::size_t i = 0; i < graph->tensors().size(); ++i) {
    const auto id = static_cast<TensorId>(i);
    const Tensor& tensor = graph->tensor(id);
    const bool is_chosen = !chooses || tensor.dtype == DType::kInt8;
    if (!is_index(tensor.dtype)) graph->set_dtype(id, type_for(policy, *graph, id, is_chosen));
  }
}

std::optional<DType> own_operands(const PrecisionPolicy& policy, const Tensor& weight) {
  const bool is_own =
      weight.kind == TensorKind::kWeight && weight.is_kept && is_narrow(weight.dtype);
  if (!is_own) return {};
  const std::vector<DType>& narrow = policy.multiplied;
  if (std::find(narrow.begin(), narrow.end(), weight.dtype) == narrow.end()) {
    return is_narrow(policy.matmul_compute) ? policy.vector : policy.matmul_compute;
  }
  return weight.dtype == DType::kFp8Block ? DType::kFp8 : weight.dtype;
}

}  // namespace foretell
