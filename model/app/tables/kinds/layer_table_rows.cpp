#include "model/app/tables/kinds/layer_table_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hw/spec/gpu/kernel_library.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/base/errors.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kMaxSize = std::int64_t{1} << 24;

class Cells {
 public:
  explicit Cells(const LayerCells& cells) : cells_(cells) {}
  std::string text(const char* column) const { return cells_(column); }
  std::string required(const char* column) const {
    std::string value = cells_(column);
    if (value.empty()) throw UserError(std::string(column) + ": is empty");
    return value;
  }
  // Whose kernels they are: not stated, those of networks.
  std::string library() const {
    const std::string stated = text("framework");
    return stated.empty() ? kernel_libraries().choice().networks : stated;
  }
  std::int64_t count(const char* column) const {
    return parse_count(column, cells_(column), 1, kMaxSize);
  }
  std::int64_t count_or(const char* column, std::int64_t otherwise) const {
    return cells_(column).empty() ? otherwise : count(column);
  }

 private:
  const LayerCells& cells_;
};

// "up to 64" by powers of eight.
std::string size_class_of(std::int64_t size, const char* unit) {
  std::int64_t bound = 8;
  while (size > bound) bound *= 8;
  return fmt::format("up to {} {}", bound, unit);
}

void read_experts(const Cells& cells, LayerRow& row) {
  LayerRow::Experts experts;
  ExpertsShape& shape = experts.shape;
  shape.tokens = cells.count("tokens");
  shape.hidden = cells.count("hidden");
  shape.intermediate = cells.count("intermediate");
  shape.top_k = cells.count("top_k");
  shape.experts = cells.count("experts");
  shape.tp = cells.count_or("tp", 1);
  shape.ep = cells.count_or("ep", 1);
  if (!cells.text("distribution").empty()) shape.distribution = cells.text("distribution");
  row.dtype = cells.required("dtype");
  row.tables = {fmt::format("{} {} {}", cells.library(), cells.text("kernel"), row.dtype)};
  row.family =
      fmt::format("{} {} {} {}", shape.hidden, shape.intermediate, shape.top_k, shape.experts);
  const LayerKernelLibrary& library = kept<LayerKernelLibrary>();
  shape.gated = library.has_gate(row.tables.front(), row.family);
  experts.loads = expert_loads(shape, library.routing(row.tables.front(), row.version, row.family));
  row.op_class = size_class_of(shape.tokens, "tokens");
  row.shape = std::move(experts);
}

void read_latent(const Cells& cells, LayerRow& row) {
  LatentShape shape;
  const std::string phase = cells.required("phase");
  if (phase != "context" && phase != "generation") {
    throw unknown_name("phase", phase, {"context", "generation"});
  }
  shape.prompt = phase == "context";
  shape.batch = cells.count_or("batch", 1);
  shape.queries = shape.prompt ? cells.count("query_len") : cells.count_or("query_len", 1);
  shape.keys = shape.prompt ? cells.count_or("kv_len", shape.queries) : cells.count("kv_len");
  if (shape.keys < shape.queries) {
    throw UserError(fmt::format("kv_len: {} is less than the {} of query_len, which it includes",
                                shape.keys, shape.queries));
  }
  shape.heads = cells.count("heads");
  row.dtype = cells.required("dtype");
  const std::string cache = cells.text("kv_dtype").empty() ? row.dtype : cells.text("kv_dtype");
  shape.cache_bytes = cache == "fp8" ? 1 : 2;
  row.tables = {fmt::format("{} {} {} {} {}", cells.library(), phase,
                            cells.text("kernel").empty() ? "default" : cells.text("kernel"),
                            row.dtype, cache)};
  row.family = std::to_string(shape.heads);
  row.op_class = size_class_of(shape.batch * shape.keys, "keys");
  row.shape = shape;
}

void read_latent_product(const Cells& cells, LayerRow& row) {
  LatentProductShape shape;
  const std::string op = cells.required("op");
  if (op != "mla_gen_pre" && op != "mla_gen_post") {
    throw unknown_name("op", op, {"mla_gen_pre", "mla_gen_post"});
  }
  shape.to_latent = op == "mla_gen_pre";
  shape.tokens = cells.count("tokens");
  shape.heads = cells.count("heads");
  row.dtype = cells.required("dtype");
  row.tables = {fmt::format("{} {} {}", cells.library(), op, row.dtype)};
  row.family = std::to_string(shape.heads);
  row.op_class = size_class_of(shape.tokens, "tokens");
  row.shape = shape;
}

StateSpacePart part_of_kernel(const std::string& kernel) {
  if (kernel.find("conv1d_update") != std::string::npos) {
    return StateSpacePart::kConvolutionUpdate;
  }
  if (kernel.find("conv1d") != std::string::npos) return StateSpacePart::kConvolution;
  if (kernel.find("chunk") != std::string::npos) return StateSpacePart::kScan;
  if (kernel.find("recurrent") != std::string::npos || kernel.find("update") != std::string::npos) {
    return StateSpacePart::kStateUpdate;
  }
  throw UserError("kernel: '" + kernel +
                  "' names no part of a state-space layer; a name holds conv1d, conv1d_update, "
                  "chunk, recurrent or update");
}

void read_state_space(const Cells& cells, LayerRow& row) {
  StateSpaceShape shape;
  const std::string kernel = cells.required("kernel");
  shape.part = part_of_kernel(kernel);
  shape.batch = cells.count_or("batch", 1);
  shape.seq_len = cells.count_or("seq_len", 1);
  const std::int64_t groups = cells.count("k_heads_or_groups");
  shape.heads = cells.count("v_heads");
  shape.head_dim = cells.count("v_head_dim");
  shape.width = cells.count_or("d_conv", shape.width);
  shape.state_dim =
      cells.text("d_state").empty() ? cells.count("k_head_dim") : cells.count("d_state");
  shape.chunk = cells.count_or("chunk", shape.chunk);
  shape.values = shape.heads * shape.head_dim;
  shape.channels = 2 * groups * shape.state_dim + shape.values;
  row.dtype = "bf16";
  row.tables = {fmt::format("{} {} {}", cells.library(), cells.text("kind"), kernel)};
  row.family = cells.text("model").empty() ? fmt::format("{} {} {} {}", groups, shape.heads,
                                                         shape.head_dim, shape.state_dim)
                                           : cells.text("model");
  row.op_class = size_class_of(shape.batch * shape.seq_len, "tokens");
  row.shape = shape;
}

void read_exchange(const Cells& cells, LayerRow& row) {
  ExchangeShape shape;
  shape.gpus = cells.count("gpus");
  shape.hidden = cells.count("hidden");
  shape.tokens = cells.count("tokens");
  shape.top_k = cells.count("top_k");
  shape.experts = cells.count("experts");
  shape.sms = cells.count_or("sms", 0);
  if (shape.top_k > shape.experts) {
    throw UserError(
        fmt::format("top_k: {} is more than the {} experts there are", shape.top_k, shape.experts));
  }
  const std::string step = cells.required("step");
  shape.moves_tokens = step.find("prepare") == std::string::npos;
  row.dtype = "bf16";
  row.tables = {fmt::format("{} {} {}", cells.library(), cells.required("kind"), step)};
  row.family = fmt::format("{} {} {}", shape.hidden, shape.top_k, shape.experts);
  row.op_class = size_class_of(shape.tokens, "tokens");
  row.shape = shape;
}

}  // namespace

LayerRow read_layer_row(LayerKind kind, const LayerCells& source) {
  const Cells cells(source);
  LayerRow row;
  row.kind = kind;
  row.gpu = cells.text("gpu");
  if (row.gpu.empty()) throw UserError("gpu: is empty; see `foretell list devices`");
  row.version = cells.text("version");
  switch (kind) {
    case LayerKind::kExperts:
      read_experts(cells, row);
      break;
    case LayerKind::kLatent:
      read_latent(cells, row);
      break;
    case LayerKind::kLatentProducts:
      read_latent_product(cells, row);
      break;
    case LayerKind::kStateSpace:
      read_state_space(cells, row);
      break;
    case LayerKind::kExchange:
      read_exchange(cells, row);
      break;
  }
  return row;
}

LayerRow read_layer_row(LayerKind kind, const NamedCells& cells, const CsvRow& row) {
  return read_layer_row(kind, [&](const std::string& column) { return cells.text(row, column); });
}

std::string layer_family(LayerKind kind, const NamedCells& cells, const CsvRow& row) {
  const auto key = [&](std::initializer_list<const char*> columns) {
    std::vector<std::string> values;
    for (const char* column : columns) values.push_back(cells.text(row, column));
    return join(values, " ");
  };
  switch (kind) {
    case LayerKind::kExperts:
      return key({"hidden", "intermediate", "top_k", "experts"});
    case LayerKind::kLatent:
    case LayerKind::kLatentProducts:
      return key({"heads"});
    case LayerKind::kExchange:
      return key({"hidden", "top_k", "experts"});
    case LayerKind::kStateSpace:
      return cells.text(row, "model").empty()
                 ? key({"k_heads_or_groups", "v_heads", "v_head_dim", "d_state"})
                 : key({"model"});
  }
  throw InternalError(__FILE__, __LINE__, "a kind without families");
}

LayerKind layer_kind_of(const TableLayout& layout) {
  for (const LayerKind kind : {LayerKind::kExperts, LayerKind::kLatent, LayerKind::kLatentProducts,
                               LayerKind::kStateSpace, LayerKind::kExchange}) {
    if (layout.name == layer_kind_name(kind)) return kind;
  }
  throw InternalError(__FILE__, __LINE__, "a table of another kind");
}

}  // namespace foretell
