#include "model/mapping/gpu/network_kernels.hpp"

#include <algorithm>
#include <numeric>

#include "calib/fitted/gpu/attention_block_additions.hpp"
#include "hw/spec/shared/kernel_shapes.hpp"
#include "model/base/kept_inputs.hpp"
#include "workloads/ir/attributes.hpp"
#include "workloads/ir/operators/networks.hpp"
#include "workloads/ir/routing.hpp"

namespace foretell {
namespace {

// Every expert that gets rows is a product of its own.
Product grouped_product(const ExpertLayer& layer, std::int64_t n, std::int64_t k, double share) {
  const ExpertShape& shape = layer.shape;
  Product product;
  product.rows = shape.rows;
  product.batch = static_cast<std::int64_t>(shape.rows.size());
  product.n = n;
  product.k = k;
  const std::int64_t routed =
      std::accumulate(shape.rows.begin(), shape.rows.end(), std::int64_t{0});
  product.m = (routed + product.batch - 1) / product.batch;
  product.type = layer.type;
  product.copies = layer.copies;
  const double active = static_cast<double>(product.batch) / static_cast<double>(shape.held);
  product.dram = layer.weights * (share * active * layer.missing);
  return product;
}

// Rows that are read and written once each; they stay in L2.
PassWork rows_pass(const char* name, std::int64_t rows, std::int64_t columns, double bytes,
                   double accesses) {
  PassWork work;
  work.name = name;
  work.operation = "Add";
  work.rows = rows;
  work.columns = columns;
  work.element_bytes = bytes;
  work.moved = Bytes(accesses * bytes * static_cast<double>(rows * columns));
  return work;
}

constexpr double kScoreBytes = 4;  // FP32

void add_score_products(ProductKernels& products, const Shape& q, std::int64_t block,
                        std::int64_t seen, const IndexerKernels& kernels, Bytes dram,
                        MappedOp& op) {
  Product product;
  product.batch = q[0];
  // The heads of many queries are summed up before scores are written, those of few lie side by
  // side in a tile. Heads that choose blocks of keys choose each for a group of its own, and of the
  // scores of a block the largest is written.
  const bool few = static_cast<double>(q[1]) <= kernel_shapes().attention.few_queries;
  const bool apart = few || block > 1;
  product.m = apart ? q[1] * q[2] : q[1];
  product.n = seen;
  product.k = apart ? q[3] : q[2] * q[3];
  product.type = kernels.type;
  product.dram = dram;
  if (block > 1) product.output_bytes = kScoreBytes / static_cast<double>(block);
  products.add(product, op);
}

}  // namespace

ExpertShape expert_shape(const Graph& graph, const Op& op) {
  const Shape& first = graph.tensor(op.inputs[3]).shape;
  const Shape& choice = graph.tensor(op.inputs[2]).shape;
  ExpertShape shape;
  shape.top_k = choice.back();
  shape.tokens = element_count(choice) / shape.top_k;
  shape.hidden = first[1];
  shape.intermediate = graph.tensor(op.inputs[4]).shape[1];
  shape.experts = integer_of(op, "experts");
  shape.held = first[0];
  shape.gated = integer_of(op, "gated") != 0;
  const OpId before = graph.tensor(op.inputs[0]).producer;
  shape.exchanged = before != kNoId && graph.op(before).kind == "ExpertExchange";
  shape.routing = text_of(op, "routing", shape.routing);
  shape.redundant = integer_of(op, "redundant", shape.redundant);
  const RoutingShapes& law = kernel_shapes().routing;
  shape.rows =
      rows_per_expert(parse_routing(shape.routing),
                      {shape.tokens, shape.top_k, shape.experts, shape.held, shape.redundant},
                      {law.draws, law.largest_share});
  return shape;
}

void lower_experts(ProductKernels& products, PassKernels& passes, const ExpertLayer& layer,
                   MappedOp& op) {
  const ExpertShape& shape = layer.shape;
  const std::int64_t wide = shape.intermediate * (shape.gated ? 2 : 1);
  const double of_first =
      static_cast<double>(wide) / static_cast<double>(wide + shape.intermediate);
  const std::int64_t routed =
      std::accumulate(shape.rows.begin(), shape.rows.end(), std::int64_t{0});
  const double bytes = layer.activation_bytes;
  passes.add(rows_pass("sort rows", routed, shape.hidden, bytes, 2), op);
  products.add(grouped_product(layer, wide, shape.hidden, of_first), op);
  passes.add(rows_pass("activation", routed, shape.intermediate, bytes, shape.gated ? 3 : 2), op);
  products.add(grouped_product(layer, shape.hidden, shape.intermediate, 1 - of_first), op);
  passes.add(rows_pass("weighted sum", routed, shape.hidden, bytes,
                       1 + 1 / static_cast<double>(shape.top_k)),
             op);
  op.engine = "tensor";
}

StateSpace state_space_shape(const Graph& graph, const Op& op) {
  const Shape& query = graph.tensor(op.inputs[0]).shape;
  const Shape& value = graph.tensor(op.inputs[2]).shape;
  StateSpace work;
  work.function = text_of(op, "function");
  work.batch = value[0];
  work.tokens = value[1];
  work.key_heads = query[2];
  work.heads = value[2];
  work.key_dim = query[3];
  work.value_dim = value[3];
  work.chunk = std::min(integer_of(op, "chunk"), work.tokens);
  return work;
}

void lower_state_space(ProductKernels& products, PassKernels& passes, const StateSpace& work,
                       MappedOp& op) {
  if (work.chunk <= 1) {
    op.engine = "memory";
    PassWork pass;
    pass.name = work.function + " step";
    pass.operation = "Add";
    pass.rows = work.batch * work.heads * work.key_dim;
    pass.columns = work.value_dim;
    pass.element_bytes = 4;
    pass.moved = work.moved;
    pass.dram = work.dram;
    return passes.add(pass, op);
  }
  const double macs = scan_macs_per_token(work.function, work.key_dim, work.value_dim, work.chunk);
  Product product;
  product.batch = work.batch * work.heads * ((work.tokens + work.chunk - 1) / work.chunk);
  product.m = work.chunk;
  product.n = work.value_dim;
  product.k = std::max<std::int64_t>(1, std::llround(macs / static_cast<double>(product.n)));
  product.type = work.type;
  product.dram = work.dram;
  products.add(product, op);
}

void lower_latent_attention(AttentionKernels& kernels, AttentionDimensions attention,
                            const AttentionType& type, Bytes dram, MappedOp& op) {
  if (attention.value_dim > 0 && attention.value_dim != attention.head_dim) {
    const auto multiple = static_cast<std::int64_t>(kernel_shapes().attention.smallest_tile);
    const std::int64_t mean = (attention.head_dim + attention.value_dim) / 2;
    attention.head_dim = (mean + multiple - 1) / multiple * multiple;
  }
  kernels.add(attention, type, dram, op);
}

void lower_indexer(ProductKernels& products, PassKernels& passes, const Graph& graph,
                   const Op& indexer, const IndexerKernels& kernels, Bytes dram, MappedOp& op) {
  const Shape& q = graph.tensor(indexer.inputs[0]).shape;
  const Shape& k = graph.tensor(indexer.inputs[1]).shape;
  const std::int64_t block = integer_of(indexer, "block");
  const std::int64_t seen =
      std::max<std::int64_t>(1, k[1] - (q[1] - 1) / 2);  // the last of them ask
  if (kernels.walk.key > Cycles(0)) {
    const std::int64_t tiles = (q[1] + kernels.walk.queries - 1) / kernels.walk.queries;
    Grid scores;
    scores.name = "scores of an indexer";
    scores.ctas_per_sm = kernels.walk.blocks_per_sm;
    scores.launch = products.timing(kernels.type).factors().launch;
    scores.dram_bytes = dram;
    scores.dram_rate = kernels.dram_rate;
    add_ctas(scores, q[0] * q[2] * tiles,
             Seconds(static_cast<double>(seen) * kernels.walk.key.value() / kernels.clock.value()));
    note_busy(kernels.sms, scores);
    note_largest(kernels.sms, scores, op);
    op.engine = "tensor";
    op.intervals80.emplace_back(1, 1);  // one for each kernel; nothing is known of these
    op.program.kernels.push_back(std::move(scores));
  } else {
    add_score_products(products, q, block, seen, kernels, dram, op);
  }

  PassWork choice;
  choice.name = "top-k";
  choice.operation = "TopK";
  choice.rows = q[0] * q[1] * (block > 1 ? q[2] : 1);
  choice.columns = (k[1] + block - 1) / block;
  choice.moved = Bytes(kScoreBytes * static_cast<double>(choice.rows * choice.columns));
  passes.add(choice, op);
  for (Grid& kernel : op.program.kernels) kernel.stretch *= kernels.in_layer;
}

IndexerKernels indexer_kernels(const GpuFactors& factors, const GpuDeviceSpec& device,
                               const Graph& graph, const Op& indexer, std::string type) {
  const bool tokens = graph.tensor(indexer.inputs[0]).shape[1] == 1;
  const AttentionBlockFacts::Call call{factors.library().id,
                                       integer_of(indexer, "block") > 1 ? "msa" : "dsa",
                                       tokens ? "generation" : "context", device.architecture};
  const auto& facts = kept<AttentionBlockFacts>();
  IndexerKernels kernels;
  kernels.type = std::move(type);
  kernels.walk = facts.walk_of_indexer(call);
  kernels.clock = device.clock.boost;
  kernels.sms = device.sms;
  kernels.dram_rate = device.hbm.bandwidth;
  const auto layer = attention_block_additions(factors, facts, call, call.phase);
  if (layer && layer->factors.indexer > 0) kernels.in_layer = layer->factors.indexer;
  return kernels;
}

LayerKernels::Exchanged exchange_of(const Graph& graph, const Op& exchange) {
  LayerKernels::Exchanged sent;
  sent.direction = text_of(exchange, "direction");
  const bool out = sent.direction == "dispatch";
  const Shape& own = graph.tensor(out ? exchange.inputs.front() : exchange.outputs.front()).shape;
  sent.ranks = integer_of(exchange, "ranks");
  sent.stride = integer_of(exchange, "stride", 1);
  sent.top_k = integer_of(exchange, "top_k");
  sent.experts = integer_of(exchange, "experts");
  sent.hidden = own.back();
  sent.tokens = element_count(own) / own.back();
  return sent;
}

Bytes exchanged_bytes(const Op& exchange, Bytes tokens) {
  return tokens * ranks_reached(integer_of(exchange, "ranks"), integer_of(exchange, "top_k"));
}

}  // namespace foretell
