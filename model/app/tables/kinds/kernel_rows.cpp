#include "model/app/tables/kinds/kernel_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "calib/import/translated_columns.hpp"
#include "hw/spec/gpu/kernel_library.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/base/errors.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/base/text.hpp"
#include "workloads/import/workload.hpp"

namespace foretell {
namespace {

// How calls were launched; "" where it is not stated, and of tools that launch many in a row.
std::string launch_mode(const std::string& mode) {
  const std::vector<std::string> known{"eager", "graph",
                                       kernel_libraries().choice().collectives + "-tests"};
  if (mode.empty() || std::find(known.begin(), known.end(), mode) != known.end()) return mode;
  throw unknown_name("mode", mode, known);
}

// What tables of kernels inside layers leave out, of networks that they name.
struct PublishedLayer {
  std::int64_t heads = 1;      // of queries
  std::int64_t key_heads = 1;  // of keys and values
  bool gated = false;          // the feed-forward layer
  bool side_by_side = false;   // attention and feed-forward layer
};

std::optional<PublishedLayer> read_layer(const std::string& network) {
  if (network.empty()) return std::nullopt;
  try {
    const ModelConfig config = WorkloadLibrary().load(network);
    if (config.family != Family::kDecoder && config.family != Family::kEncoder) return std::nullopt;
    return PublishedLayer{config.heads, config.kv_heads, config.gated_ffn,
                          config.block_form != BlockForm::kSequential};
  } catch (const UserError&) {
    return std::nullopt;  // the columns have to do
  }
}

struct PublishedLayers {
  std::map<std::string, std::optional<PublishedLayer>> by_network;
};

// For a network of `foretell list workloads`, by any name that it is known under; null for others.
// Each is read once in a run.
const PublishedLayer* published_layer(const std::string& network) {
  auto& known = kept<PublishedLayers>().by_network;
  const auto found = known.find(network);
  const std::optional<PublishedLayer>& layer =
      found != known.end() ? found->second
                           : known.emplace(network, read_layer(network)).first->second;
  return layer ? &*layer : nullptr;
}

constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;

}  // namespace

NamedCells::NamedCells(const CsvRow& header) {
  for (std::size_t i = 0; i < header.size(); ++i) columns_[header[i]] = i;
}

std::string NamedCells::text(const CsvRow& row, const std::string& column) const {
  const auto found = columns_.find(column);
  return found == columns_.end() ? "" : std::string(trim(row[found->second]));
}

std::int64_t NamedCells::count(const CsvRow& row, const std::string& column, std::int64_t low,
                               std::int64_t high) const {
  return parse_count(column, text(row, column), low, high);
}

GemmRow read_gemm_row(const NamedCells& cells, const CsvRow& row) {
  GemmRow product;
  product.gpu = cells.text(row, "gpu");
  product.framework = cells.text(row, "framework");
  product.version = cells.text(row, "version");
  product.dtype = translated_dtype(cells.text(row, "dtype"));
  if (product.gpu.empty()) throw UserError("gpu: is empty; see `foretell list devices`");
  if (product.dtype.empty()) throw UserError("dtype: is empty; write bf16, fp8, int8 …");
  product.shape.m = cells.count(row, "m", 1, kMaxGemmSide);
  product.shape.n = cells.count(row, "n", 1, kMaxGemmSide);
  product.shape.k = cells.count(row, "k", 1, kMaxGemmSide);
  return product;
}

AttentionRow read_attention_row(const NamedCells& cells, const CsvRow& row) {
  constexpr std::int64_t kMaxRowTokens = std::int64_t{1} << 24;
  AttentionRow call;
  call.gpu = cells.text(row, "gpu");
  call.framework = cells.text(row, "framework");
  call.dtype = translated_dtype(cells.text(row, "dtype"));
  call.cache_dtype = translated_dtype(cells.text(row, "kv_dtype"));
  if (call.gpu.empty()) throw UserError("gpu: is empty; see `foretell list devices`");
  if (call.dtype.empty()) throw UserError("dtype: is empty; write bf16, fp16 or fp8");
  AttentionShape& shape = call.shape;
  shape.phase = attention_phase(cells.text(row, "phase"));
  const auto count = [&](const char* column, std::int64_t low, std::int64_t high,
                         std::int64_t otherwise) {
    return cells.text(row, column).empty() ? otherwise : cells.count(row, column, low, high);
  };
  shape.batch = count("batch", 1, kMaxRowTokens, 1);
  shape.heads = cells.count(row, "heads", 1, kMaxHeads);
  shape.key_heads = count("kv_heads", 1, kMaxHeads, shape.heads);
  shape.head_dim = cells.count(row, "head_dim", 1, kMaxHeads);
  shape.window = count("window", 0, kMaxRowTokens, 0);
  if (shape.phase == AttentionPhase::kGeneration) {
    if (count("isl", 1, kMaxRowTokens, 1) > 1) {
      throw UserError(
          "isl: a sequence asks for one token in generation; leave it out, or say phase=context");
    }
    shape.keys = cells.count(row, "kv_len", 1, kMaxRowTokens);
  } else {
    shape.queries = cells.count(row, "isl", 1, kMaxRowTokens);
    shape.keys = count("kv_len", 1, kMaxRowTokens, shape.queries);
  }
  return call;
}

CollectiveRow read_collective_row(const NamedCells& cells, const CsvRow& row) {
  constexpr std::int64_t kMaxRanks = 4096;
  constexpr std::int64_t kMaxBytes = std::int64_t{1} << 42;
  CollectiveRow call;
  call.gpu = cells.text(row, "gpu");
  if (call.gpu.empty()) call.gpu = cells.text(row, "system");
  if (call.gpu.empty()) throw UserError("gpu: is empty; see `foretell list devices`");
  call.library = to_lower(cells.text(row, "backend"));
  call.version = cells.text(row, "version");
  call.mode = launch_mode(to_lower(cells.text(row, "mode")));
  call.shape.op = gpu_collective(cells.text(row, "op"));
  const char* ranks = cells.text(row, "n_gpus").empty() ? "n_ranks" : "n_gpus";
  call.shape.ranks = static_cast<int>(cells.count(row, ranks, 2, kMaxRanks));
  call.shape.bytes = Bytes(static_cast<double>(cells.count(row, "bytes", 1, kMaxBytes)));
  return call;
}

namespace {

// Heads of queries and of keys: as the row states them, else of the network that it names, else as
// many of one as of the other.
std::pair<std::int64_t, std::int64_t> attention_heads(const NamedCells& cells, const CsvRow& row) {
  const auto has = [&](const char* column) { return !cells.text(row, column).empty(); };
  if (has("heads") && has("kv_heads")) {
    return {cells.count(row, "heads", 1, kMaxHeads), cells.count(row, "kv_heads", 1, kMaxHeads)};
  }
  const PublishedLayer* known = published_layer(cells.text(row, "model"));
  if (known != nullptr) return {known->heads, known->key_heads};
  return {1, 1};
}

// The first of these columns with a value, else the first that the table has.
std::string column_in_use(const NamedCells& cells, const CsvRow& row,
                          const std::vector<std::string>& columns) {
  for (const std::string& column : columns)
    if (!cells.text(row, column).empty()) return column;
  for (const std::string& column : columns)
    if (cells.has(column)) return column;
  return columns.front();
}

// The columns of an operator without matrices: of its own, or those of the layer that it is in.
std::int64_t pass_columns(const NamedCells& cells, const CsvRow& row, const TableOperator& op) {
  const auto has = [&](const char* column) { return !cells.text(row, column).empty(); };
  for (const char* column : {"cols", "k"}) {
    if (has(column)) return cells.count(row, column, 1, kMaxElements);
  }
  const std::int64_t parts = has("tp") ? cells.count(row, "tp", 1, kMaxHeads) : 1;
  if (op.family == "activation" && has("n_ffn")) {
    return std::max<std::int64_t>(1, cells.count(row, "n_ffn", 1, kMaxGemmSide) / parts);
  }
  if (!has("n_embd")) {
    throw UserError(column_in_use(cells, row, {"cols", "k", "n_embd"}) +
                    ": is empty; state rows and cols, m and k, or m and the width of the model");
  }
  const std::int64_t width = cells.count(row, "n_embd", 1, kMaxGemmSide);
  if (op.family != "rope") return width;
  const auto [heads, key_heads] = attention_heads(cells, row);
  return std::max<std::int64_t>(1, width * (heads + key_heads) / heads / parts);
}

// A feed-forward layer without a gate is four times as wide as the model, by the custom of such
// networks; with one it is less, for it has a third matrix. Published networks say it themselves.
bool has_gate(const NamedCells& cells, const CsvRow& row) {
  constexpr std::int64_t kUngated = 4;
  const PublishedLayer* known = published_layer(cells.text(row, "model"));
  if (known != nullptr) return known->gated;
  if (cells.text(row, "n_ffn").empty() || cells.text(row, "n_embd").empty()) return true;
  return cells.count(row, "n_ffn", 1, kMaxGemmSide) !=
         kUngated * cells.count(row, "n_embd", 1, kMaxGemmSide);
}

// Networks with rotary embedding and without a gate have attention and feed-forward layer side by
// side (GPT-J, GPT-NeoX, Falcon, Phi). Other tables than those of layers have no such columns.
bool is_side_by_side(const NamedCells& cells, const CsvRow& row) {
  const PublishedLayer* known = published_layer(cells.text(row, "model"));
  if (known != nullptr) return known->side_by_side;
  return !has_gate(cells, row);
}

}  // namespace

OperatorRow read_operator_row(const NamedCells& cells, const CsvRow& row) {
  OperatorRow call;
  call.gpu = cells.text(row, "gpu");
  if (call.gpu.empty()) call.gpu = cells.text(row, "system");
  if (call.gpu.empty()) throw UserError("gpu: is empty; see `foretell list devices`");
  call.framework = cells.text(row, "framework");
  if (call.framework.empty()) call.framework = cells.text(row, "source");
  call.dtype = translated_dtype(cells.text(row, "dtype"));
  if (call.dtype.empty()) throw UserError("dtype: is empty; write fp32, fp16, fp8 …");
  const std::string op = cells.text(row, "op");
  if (op.empty()) throw UserError("op: is empty; write linear, bmm, add, softmax …");
  call.op = &table_operator(op, call.framework);
  const auto has = [&](const char* column) { return !cells.text(row, column).empty(); };
  const std::int64_t batch = has("b") ? cells.count(row, "b", 1, kMaxGemmSide) : 1;
  switch (call.op->kind) {
    case OperatorKind::kConvolution:
      if (!has("conv"))
        throw UserError("conv: is empty; write for example 'ci3 co64 k7 s224 st2 p3'");
      call.convolution = parse_convolution(cells.text(row, "conv"), batch);
      call.product = implicit_product(call.convolution);
      break;
    case OperatorKind::kLinear:
    case OperatorKind::kBatched:
      call.product.m = cells.count(row, "m", 1, kMaxGemmSide);
      call.product.n = cells.count(row, "n", 1, kMaxGemmSide);
      call.product.k = cells.count(row, "k", 1, kMaxGemmSide);
      if (call.op->kind == OperatorKind::kBatched) {
        call.product.batch = batch;
      } else {
        call.product.m *= batch;  // with the same weights
      }
      break;
    case OperatorKind::kPass:
      call.rows = cells.count(row, column_in_use(cells, row, {"rows", "m"}), 1, kMaxElements);
      call.columns = pass_columns(cells, row, *call.op);
      if (op == "mlp_act" && !has_gate(cells, row)) call.op = &table_operator("plain_act");
      if (op == "add" && is_side_by_side(cells, row)) call.op = &table_operator("add_three");
      break;
  }
  return call;
}

}  // namespace foretell
