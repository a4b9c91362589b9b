#include "calib/validate/table_kind.hpp"

#include <algorithm>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

// Some published tables count the tokens of prompt and answer, or say so while their own code
// counts the answer alone: their rows are compared with both.
const std::vector<MeasuredColumn> kModelColumns = {
    {"call_ms", "pred_call_ms", "call_ms", ""},
    {"ttft_ms", "pred_ttft_ms", "ttft_ms", ""},
    {"tpot_ms", "pred_tpot_ms", "tpot_ms", ""},
    {"throughput", "pred_throughput", "throughput", ""},
    {"throughput", kThroughputAllTokens, kThroughputAllTokens, "input+output"}};

const std::vector<std::string> kModelAdded = {"pred_call_ms",
                                              "pred_ttft_ms",
                                              "pred_tpot_ms",
                                              "pred_throughput",
                                              "pred_lo_ms",
                                              "pred_hi_ms",
                                              "pred_call_lo_ms",
                                              "pred_call_hi_ms",
                                              "pred_ttft_lo_ms",
                                              "pred_ttft_hi_ms",
                                              "pred_tpot_lo_ms",
                                              "pred_tpot_hi_ms",
                                              "pred_throughput_lo",
                                              "pred_throughput_hi",
                                              "pred_usd_per_million",
                                              "pred_memory_bytes",
                                              "pred_bottleneck",
                                              "status",
                                              "message"};

TableLayout kernel_layout(TableKind kind, const char* name, std::vector<std::string> required) {
  return {kind,
          name,
          std::move(required),
          {{"latency_us", "pred_us", "latency_us", ""}},
          "pred_lo_us",
          "pred_hi_us",
          {"pred_us", "pred_lo_us", "pred_hi_us", "status", "message"}};
}

bool fits(const TableLayout& layout, const CsvRow& header) {
  return std::all_of(layout.required.begin(), layout.required.end(), [&](const auto& column) {
    return std::find(header.begin(), header.end(), column) != header.end();
  });
}

bool has_name(const CsvRow& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// "instance to system, model to workload" where a table of models names both columns so; otherwise
// "".
std::string words_to_rename(const CsvRow& header) {
  const std::pair<const char*, std::vector<const char*>> known[] = {
      {"system", {"instance", "hardware", "machine", "device", "gpu"}},
      {"workload", {"model", "network"}}};
  std::vector<std::string> renamed;
  for (const auto& [column, others] : known) {
    if (has_name(header, column)) continue;
    const auto other = std::find_if(others.begin(), others.end(),
                                    [&header](const char* name) { return has_name(header, name); });
    if (other == others.end()) return "";
    renamed.push_back(std::string(*other) + " to " + column);
  }
  return join(renamed, ", ");
}

// The kind of which least is missing, of several the one of which most is there, and what that is,
// "; nearest is models, without system"; "" where the header has less than half of the columns of
// each.
std::string nearest_kind(const CsvRow& header) {
  const std::string other_words = words_to_rename(header);
  if (!other_words.empty()) return "; nearest is models: rename " + other_words;
  const TableLayout* nearest = nullptr;
  std::vector<std::string> missing;
  for (const TableLayout& layout : table_layouts()) {
    std::vector<std::string> absent;
    for (const std::string& column : layout.required) {
      if (!has_name(header, column)) absent.push_back(column);
    }
    const bool is_near = 2 * absent.size() <= layout.required.size();
    if (!is_near) continue;
    if (nearest != nullptr && std::make_pair(absent.size(), nearest->required.size()) >=
                                  std::make_pair(missing.size(), layout.required.size())) {
      continue;
    }
    nearest = &layout;
    missing = std::move(absent);
  }
  if (nearest == nullptr) return "";
  return "; nearest is " + nearest->name + ", without " + join(missing, ", ");
}

}  // namespace

const std::vector<TableLayout>& table_layouts() {
  static const std::vector<TableLayout> kLayouts = {
      {TableKind::kModels,
       "models",
       {"system", "workload"},
       kModelColumns,
       "pred_lo_ms",
       "pred_hi_ms",
       kModelAdded},
      {TableKind::kModels,
       "models by chip",
       {"chip", "model", "instance_or_system", "phase_or_scenario"},
       {{"latency_ms", "pred_call_ms", "call_ms", ""},
        {"ttft_ms", "pred_ttft_ms", "ttft_ms", ""},
        {"tpot_ms", "pred_tpot_ms", "tpot_ms", ""},
        {"throughput", "pred_throughput", "throughput", ""}},
       "pred_lo_ms",
       "pred_hi_ms",
       kModelAdded,
       true},
      {TableKind::kServing,
       "served runs",
       {"gpu", "model", "framework", "load_kind", "measured_kind", "value"},
       {{"value", "pred_value", "value", ""}},
       "pred_value_lo",
       "pred_value_hi",
       {"pred_value", "pred_value_lo", "pred_value_hi", "status", "message"}},
      {TableKind::kServing,
       "serving",
       {"gpu", "model", "framework", "concurrency", "isl", "osl"},
       {{"ttft_ms", "pred_ttft_ms", "ttft_ms", ""}, {"tpot_ms", "pred_tpot_ms", "tpot_ms", ""}},
       "pred_tpot_ms_lo",
       "pred_tpot_ms_hi",
       {"pred_ttft_ms", "pred_ttft_ms_lo", "pred_ttft_ms_hi", "pred_tpot_ms", "pred_tpot_ms_lo",
        "pred_tpot_ms_hi", "pred_output_tokens_per_s", "pred_output_tokens_per_s_lo",
        "pred_output_tokens_per_s_hi", "status", "message"}},
      kernel_layout(TableKind::kLayerKernels, "experts",
                    {"gpu", "dtype", "tokens", "hidden", "intermediate", "top_k", "experts"}),
      kernel_layout(TableKind::kLayerKernels, "expert_exchange",
                    {"gpu", "step", "gpus", "hidden", "tokens", "top_k", "experts"}),
      kernel_layout(TableKind::kLayerKernels, "state_space",
                    {"gpu", "kernel", "k_heads_or_groups", "v_heads", "v_head_dim"}),
      kernel_layout(TableKind::kLayerKernels, "mla_products",
                    {"gpu", "op", "dtype", "tokens", "heads"}),
      kernel_layout(TableKind::kAttentionBlocks, "attention_block",
                    {"gpu", "kind", "phase", "model", "product_dtype", "batch", "heads"}),
      {TableKind::kPower,
       "power",
       {"gpu", "table", "shape", "latency_us", "power_limit_w"},
       {{"power_w", "pred_w", "power_w", ""}},
       "pred_lo_w",
       "pred_hi_w",
       {"pred_w", "pred_lo_w", "pred_hi_w", "status", "message"}},
      {TableKind::kEnergyRuns,
       "energy_runs",
       {"what", "device", "n_devices", "model", "batch_or_concurrency", "watts_per_device"},
       {{"watts_per_device", "pred_watts_per_device", "watts_per_device", ""},
        {"j_per_token", "pred_j_per_token", "j_per_token", ""},
        {"watts", "pred_wall_watts", "watts", ""},
        {"latency_ms", "pred_latency_ms", "latency_ms", ""}},
       "pred_lo_w",
       "pred_hi_w",
       {"pred_watts_per_device", "pred_lo_w", "pred_hi_w", "pred_j_per_token", "pred_latency_ms",
        "pred_wall_watts", "status", "message"}},
      kernel_layout(TableKind::kAttention, "attention", {"gpu", "phase", "heads", "head_dim"}),
      kernel_layout(TableKind::kLayerKernels, "mla",
                    {"gpu", "phase", "dtype", "batch", "query_len", "kv_len", "heads"}),
      kernel_layout(TableKind::kCollective, "collective", {"op", "bytes", "dtype"}),
      kernel_layout(TableKind::kOperator, "operator", {"op", "dtype"}),
      kernel_layout(TableKind::kGemm, "gemm", {"gpu", "dtype", "m", "n", "k"}),
  };
  return kLayouts;
}

const std::vector<MeasuredColumn>& energy_quantities() {
  static const std::vector<MeasuredColumn> kQuantities = [] {
    std::vector<MeasuredColumn> quantities;
    for (const char* name : {"watts", "wall_watts", "joules_per_token", "joules_per_request"})
      quantities.push_back({name, std::string("pred_") + name, name, ""});
    return quantities;
  }();
  return kQuantities;
}

const TableLayout& recognise_table(const CsvRow& header, const std::string& path) {
  std::string kinds;
  for (const TableLayout& layout : table_layouts()) {
    if (fits(layout, header)) return layout;
    kinds += "\n  " + layout.name + ": " + join(layout.required, ", ");
  }
  throw UserError(path + ":1: the header fits no kind of table" + nearest_kind(header) +
                  "; a kind is recognised by its columns:" + kinds);
}

}  // namespace foretell
