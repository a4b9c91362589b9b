#include "model/predict/rows/attention_rows.hpp"

#include <algorithm>

#include "hw/spec/gpu/kernel_library.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

void check_shape(const AttentionShape& shape) {
  if (shape.heads % shape.key_heads != 0) {
    throw UserError("kv_heads: heads have to be a multiple of it");
  }
  if (shape.phase != AttentionPhase::kGeneration && shape.queries > shape.keys)
    throw UserError("kv_len: is less than isl");
}

void check_framework(const std::string& name) {
  std::vector<std::string> known = kernel_libraries().choice().attention;
  std::sort(known.begin(), known.end());
  if (!name.empty() && std::count(known.begin(), known.end(), name) == 0) {
    throw unknown_name("framework", name, known);
  }
}

// UserError with the nearest type that works when the chip has no pipe for the products.
void check_type(const GpuDeviceSpec& device, const AttentionType& type) {
  try {
    dense_rate(device, type.rate);
  } catch (const UserError& error) {
    std::string advice;
    for (const char* other : {"fp16", "bf16"}) {
      const bool works = device.matrix_rate.count(other) + device.vector_rate.count(other) > 0;
      if (works) advice = std::string("; nearest that works is '") + other + "'";
    }
    throw UserError(error.what() + advice);
  }
}

}  // namespace

AttentionPhase attention_phase(const std::string& name) {
  if (name == "context") return AttentionPhase::kContext;
  if (name == "encoder") return AttentionPhase::kEncoder;
  if (name == "generation") return AttentionPhase::kGeneration;
  throw UserError("phase: '" + name + "' is not known; write context, generation or encoder");
}

AttentionType attention_type(const std::string& dtype, const std::string& cache_dtype) {
  const auto bytes = [](const std::string& column, const std::string& type) {
    if (type == "bf16" || type == "fp16") return 2.0;
    if (type == "fp8") return 1.0;
    throw UserError(column + ": '" + type + "' is not known; write bf16, fp16 or fp8");
  };
  AttentionType type;
  type.rate = dtype;
  type.query_bytes = bytes("dtype", dtype);
  type.key_bytes = cache_dtype.empty() ? type.query_bytes : bytes("kv_dtype", cache_dtype);
  return type;
}

std::string attention_table(const AttentionRow& row, const std::string& architecture) {
  return attention_tables(architecture, row.framework, attention_type(row.dtype, row.cache_dtype),
                          row.shape)
      .front();
}

struct AttentionRowPredictor::Kernels {
  const GpuDeviceSpec& device;
  AttentionLibrary library;
  AttentionType type;
  AttentionFactors factors;
  double low;
  double high;
  std::string note;
};

AttentionRowPredictor::AttentionRowPredictor(AttentionRowOptions options)
    : options_(std::move(options)),
      devices_(options_.set),
      factors_(devices_.factors("attention", options_.factors)) {}

AttentionRowPredictor::~AttentionRowPredictor() = default;

const AttentionRowPredictor::Kernels& AttentionRowPredictor::kernels_of(const AttentionRow& row) {
  const GpuDeviceSpec& gpu = devices_.find(row.gpu);
  const std::string table = attention_table(row, gpu.architecture);
  const std::string key = row.gpu + '\n' + row.dtype + '\n' + table;
  if (const auto found = kernels_.find(key); found != kernels_.end()) return *found->second;
  const AttentionType type = attention_type(row.dtype, row.cache_dtype);
  check_type(gpu, type);
  if (!factors_.knows(table)) check_framework(row.framework);
  ChosenAttentionFactors chosen = choose_attention(
      factors_, gpu, attention_tables(gpu.architecture, row.framework, type, row.shape));
  const AttentionLibrary library = library_of_call(gpu.architecture, table, chosen.table);
  const std::string write = table_of_cache_write(library, type, row.shape.phase);
  const bool is_own = chosen.device == gpu.id;
  if (!is_own && !write.empty() && chosen.factors.prepare_block == Cycles(0)) {
    chosen.factors.prepare_block = choose_attention(factors_, gpu, {write}).factors.prepare_block;
  }
  const bool borrowed = chosen.device != gpu.id || chosen.table != table;
  const Kernels kernels{gpu,
                        library,
                        type,
                        chosen.factors,
                        chosen.interval_low,
                        chosen.interval_high,
                        borrowed ? "factors of " + chosen.table + " on " + chosen.device : ""};
  return *kernels_.emplace(key, std::make_unique<Kernels>(kernels)).first->second;
}

std::vector<RowTime> AttentionRowPredictor::predict(const std::vector<AttentionRow>& rows) {
  RowPrograms programs;
  std::vector<RowTime> times(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    try {
      check_shape(rows[i].shape);
      const Kernels& kernels = kernels_of(rows[i]);
      programs.add(i, kernels.device,
                   attention_program(kernels.device, kernels.library, kernels.type, kernels.factors,
                                     rows[i].shape),
                   kernels.low, kernels.high, devices_.with_note(rows[i].gpu, kernels.note));
    } catch (const UserError& error) {
      times[i].error = error.what();
    }
  }
  programs.simulate(times);
  return times;
}

}  // namespace foretell
