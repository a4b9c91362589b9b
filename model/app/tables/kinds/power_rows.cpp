#include "model/app/tables/kinds/power_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "calib/fitted/gpu/gpu_factor_tables.hpp"
#include "calib/import/translated_columns.hpp"
#include "calib/validate/left_out_rows.hpp"
#include "calib/validate/part.hpp"
#include "hw/spec/gpu/layer_kernel_facts.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/tables/kinds/power_conditions.hpp"
#include "model/base/errors.hpp"
#include "model/base/hash.hpp"
#include "model/base/looked_up.hpp"
#include "model/base/text.hpp"
#include "model/timing/gpu/energy_work.hpp"
#include "model/timing/gpu/experts_kernels.hpp"

namespace foretell {
namespace {

constexpr double kMicro = 1e-6;
constexpr std::int64_t kLargest = std::int64_t{1} << 40;

// "m=1;n=2": sizes of a shape by name.
class ShapeSizes {
 public:
  explicit ShapeSizes(const std::string& text) {
    for (const std::string& part : split(text, ';')) {
      const std::size_t equals = part.find('=');
      if (equals == std::string::npos) {
        throw UserError("shape: '" + part + "' is not NAME=VALUE; write m=…;n=…;k=…");
      }
      sizes_[part.substr(0, equals)] = part.substr(equals + 1);
    }
  }
  std::string text(const std::string& name) const {
    const auto found = sizes_.find(name);
    if (found == sizes_.end()) throw UserError("shape: has no '" + name + "'");
    return found->second;
  }
  std::int64_t count(const std::string& name, std::int64_t low = 1) const {
    return parse_count("shape: " + name, text(name), low, kLargest);
  }
  std::int64_t count_or(const std::string& name, std::int64_t otherwise) const {
    return sizes_.count(name) > 0 ? count(name, 0) : otherwise;
  }
  std::string text_or(const std::string& name, const std::string& otherwise) const {
    return sizes_.count(name) > 0 ? text(name) : otherwise;
  }

 private:
  std::map<std::string, std::string> sizes_;
};

OperandType matrix_type(const std::string& name) {
  constexpr double kBlockScaled4 = 0.5625;  // 16 values share a scale of one byte
  static const std::map<std::string, OperandType> kTypes = {
      {"bfloat16", {16, 2}},      {"float16", {16, 2}}, {"bf16", {16, 2}},
      {"fp16", {16, 2}},          {"fp8", {8, 1}},      {"fp8_block", {8, 1}},
      {"int8", {8, 1}},           {"fp8_e4m3", {8, 1}}, {"nvfp4", {4, kBlockScaled4}},
      {"fp4", {4, kBlockScaled4}}};
  return looked_up(kTypes, "type in column shape", name);
}

void read_gemm(const ShapeSizes& shape, PowerRow& row) {
  const std::string type = shape.text("gemm_dtype");
  const EnergyGemm sizes{shape.count("m"), shape.count("n"), shape.count("k")};
  row.work = gemm_energy_work(sizes, matrix_type(type));
  row.kernel_class = "gemm " + type;
  row.family = fmt::format("gemm n={},k={}", sizes.n, sizes.k);
  row.rows = static_cast<double>(sizes.m);
}

void read_attention(const std::string& kind, const ShapeSizes& shape, PowerRow& row) {
  const std::string type = shape.text("attn_dtype");
  const std::string cache = shape.text_or("kv_cache_dtype", type);
  const auto heads = static_cast<double>(shape.count("num_heads"));
  const std::int64_t key_heads = shape.count_or("num_key_value_heads", shape.count("num_heads"));
  EnergyAttention sizes;
  sizes.batch = static_cast<double>(shape.count("batch_size"));
  sizes.heads = heads;
  sizes.key_heads = static_cast<double>(key_heads);
  sizes.head_dim = static_cast<double>(shape.count("head_dim"));
  const auto length = static_cast<double>(shape.count("isl"));
  const auto before = static_cast<double>(shape.count_or("step", 0));
  const auto window = static_cast<double>(shape.count_or("window_size", 0));
  sizes.queries = length;
  sizes.keys = length + before;
  if (kind == "generation") sizes.keys = window > 0 ? std::min(window, sizes.keys) : sizes.keys;
  sizes.pairs = kind == "encoder"   ? length * length
                : kind == "context" ? executed_pairs(length, before, window)
                                    : scored_pairs(length, before, window);
  row.queries = length;
  row.work = attention_energy_work(sizes, matrix_type(type), matrix_type(cache).bytes);
  row.kernel_class = kind + " attention " + type;
  row.family =
      fmt::format("attention {} {} {}", shape.text("num_heads"), key_heads, shape.text("head_dim"));
}

// The device that a table means; its own text where none is known.
std::string device_of(const std::string& gpu) {
  static const GpuCatalog kCatalog;
  if (!kCatalog.has_system(gpu)) return gpu;
  LoadedGpuSystem system = kCatalog.load(gpu);
  take_for_measured("", system);
  return system.spec.device.id;
}

const PowerConditions& power_conditions() {
  static const PowerConditions kConditions;
  return kConditions;
}

// `kernel`: "<framework> <kernel>", as facts about kernels name it.
void read_experts(const std::string& kernel, const ShapeSizes& shape, PowerRow& row) {
  static const LayerKernelLibrary kKernels;
  const std::string type = shape.text("moe_dtype");
  ExpertsShape layer;
  layer.tokens = shape.count("num_tokens");
  layer.hidden = shape.count("hidden_size");
  layer.intermediate = shape.count("inter_size");
  layer.top_k = shape.count("topk");
  layer.experts = shape.count("num_experts");
  layer.tp = shape.count("moe_tp_size");
  layer.ep = shape.count("moe_ep_size");
  layer.distribution = shape.text_or("distribution", layer.distribution);
  check_experts_shape(layer);
  layer.gated = kernel.find("nongated") == std::string::npos;
  const LayerType& stored = kKernels.type(translated_dtype(type));
  const OperandType operands{bits_of_rate(stored.rate), stored.weight_bytes,
                             stored.activation_bytes};
  row.work = experts_work(kKernels.facts(kernel + ' ' + type), device_of(row.gpu), layer,
                          expert_loads(layer), operands);
  row.experts = static_cast<double>(layer.experts);
  row.kernel_class = "experts " + type;
  row.family = fmt::format("experts {} {} {} {}", shape.text("hidden_size"),
                           shape.text("inter_size"), shape.text("topk"), shape.text("num_experts"));
}

}  // namespace

PowerRow read_power_row(const NamedCells& cells, const CsvRow& cells_of_row) {
  PowerRow row;
  row.gpu = cells.text(cells_of_row, "gpu");
  if (row.gpu.empty()) throw UserError("gpu: is empty; see `foretell list devices`");
  const std::string latency = cells.text(cells_of_row, "latency_us");
  const std::optional<double> us = read_measurement("latency_us", latency);
  if (!us) throw UserError("latency_us: is empty; the power of a kernel needs its time");
  row.latency = Seconds(*us * kMicro);
  const std::optional<double> limit =
      read_measurement("power_limit_w", cells.text(cells_of_row, "power_limit_w"));
  row.limit = Watts(limit.value_or(0));
  const std::string table = cells.text(cells_of_row, "table");
  const std::string kind = table.substr(table.find('/') + 1);
  const ShapeSizes shape(cells.text(cells_of_row, "shape"));
  if (kind == "gemm") {
    read_gemm(shape, row);
  } else if (kind == "context_attention" || kind == "generation_attention" ||
             kind == "encoder_attention") {
    read_attention(kind.substr(0, kind.find('_')), shape, row);
  } else if (kind == "moe") {
    const std::string kernel = cells.text(cells_of_row, "kernel");
    read_experts(cells.text(cells_of_row, "framework") + ' ' + kernel.substr(kernel.find(':') + 1),
                 shape, row);
  } else {
    throw UserError("table: the work of '" + table +
                    "' is not counted; these are: gemm/gemm, attention/context_attention, "
                    "attention/generation_attention, encoder_attention/encoder_attention, moe/moe");
  }
  row.work.busy = row.latency;
  row.shown = power_conditions().shown_share(row, cells.text(cells_of_row, "framework"));
  return row;
}

bool judges_power(const std::string& family) { return part_of(family) == Part::kJudge; }

bool makes_power_interval(const std::string& family) {
  return content_hash("interval " + family).back() % 2 == 0;
}

Watts power_of_row(const PowerRow& row, const GpuDeviceSpec& device, const DeviceEnergy& energy) {
  const Watts limit = row.limit > Watts(0) ? row.limit : device.power;
  const Watts most = limit * energy.facts.limit_share;
  // The latency is given: a clock that the limit lowered is in it already.
  EnergyWork work = row.work;  // more bytes than the memory can move were not moved
  work.dram = std::min(work.dram, device.hbm.bandwidth * row.latency);
  const Watts drawn = std::min(power_at(work, row.latency, 0, 1, energy), most);
  const Watts idle = idle_power(1, energy.facts);
  return idle + (drawn - idle) * row.shown;
}

PowerPredictor::PowerPredictor(const CsvRow& header, std::vector<std::string> set,
                               std::string factors)
    : cells_(header), set_(std::move(set)), factors_(std::move(factors)) {}

RowPrediction PowerPredictor::predict(const CsvRow& cells) {
  RowPrediction prediction;
  try {
    const PowerRow row = read_power_row(cells_, cells);
    auto known = devices_.find(row.gpu);
    if (known == devices_.end()) {
      const bool is_system = catalog_.has_system(row.gpu);
      LoadedGpuSystem system =
          catalog_.load(is_system ? row.gpu : catalog_.find_device(row.gpu), set_);
      const std::string likeness = take_for_measured(factors_, system);
      const GpuDeviceSpec& spec = system.spec.device;
      known =
          devices_.emplace(row.gpu, Device{spec, load_gpu_energy(spec, factors_), likeness}).first;
    }
    const auto& [spec, energy, likeness] = known->second;
    const double watts = power_of_row(row, spec, energy).value();
    const double most = (row.limit > Watts(0) ? row.limit : spec.power).value();
    const std::string library = cells_.text(cells, "framework");
    const PowerCondition condition =
        power_conditions().of(row, library, cells_.text(cells, "kernel"));
    const auto kind = energy.intervals.find(power_interval_key(row.kernel_class, condition));
    const auto [low_ratio, high_ratio] =
        kind != energy.intervals.end() && !library.empty()
            ? kind->second
            : std::make_pair(energy.interval_low, energy.interval_high);
    const double low = watts * low_ratio;
    const double high = std::min(watts * high_ratio, std::max(most, watts));
    prediction.values = {{"pred_w", watts}, {"pred_lo_w", low}, {"pred_hi_w", high}};
    prediction.intervals = {{"power_w", {low, high}}};
    if (!energy.is_calibrated) {
      prediction.note = "energies per operation are those of " + energy.fitted_on +
                        "; not calibrated on this device";
    }
    if (!likeness.empty())
      prediction.note = likeness + (prediction.note.empty() ? "" : "; ") + prediction.note;
    if (row.shown < 1) {
      prediction.note += std::string(prediction.note.empty() ? "" : "; ") +
                         "what a meter that averages shows of a test that begins on an idle board";
    }
    if (row.latency.value() < kShortestPowerUs * kMicro) {
      prediction.note += std::string(prediction.note.empty() ? "" : "; ") +
                         "shorter than meters resolve; the power of kernels repeated without gaps";
    }
  } catch (const UserError& error) {
    prediction.error = error.what();
  }
  return prediction;
}

void PowerBatch::add(CsvRow row, const std::string& problem) {
  RowPrediction prediction;
  if (problem.empty()) {
    prediction = predictor_.predict(row);
  } else {
    prediction.error = problem;
  }
  sink_(row, prediction);
}

}  // namespace foretell
