#include <algorithm>
#include <set>
#include <string>

#include "workloads/ir/operators/families.hpp"
#include "workloads/ir/operators/networks.hpp"

namespace foretell {
namespace {

constexpr double kSoftmaxFlops = 5;  // per score: largest, difference, exponential, sum, quotient
constexpr double kActivationFlops = 4;  // per element, with the product of a gate

double as_number(std::int64_t value) { return static_cast<double>(value); }

// Sum of min(n, most) over n = 1 … count.
double capped_sum(std::int64_t count, std::int64_t most) {
  const double n = as_number(count);
  if (most == 0 || count <= most) return n * (n + 1) / 2;
  const double m = as_number(most);
  return m * (m + 1) / 2 + (n - m) * m;
}

// The same where counting starts anew every `chunk`.
double chunked_sum(std::int64_t count, std::int64_t chunk, std::int64_t most) {
  if (chunk == 0) return capped_sum(count, most);
  return as_number(count / chunk) * capped_sum(chunk, most) + capped_sum(count % chunk, most);
}

std::int64_t smaller_limit(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return std::max(a, b);
  return std::min(a, b);
}

bool is_delta_rule(std::string_view function) {
  return function == "gated_delta" || function == "kimi_delta" || function == "rwkv7";
}

VisibleKeys visible_of(const OpView& op) {
  const auto value = [&](const char* name) { return op.has(name) ? op.integer(name) : 0; };
  return {op.input(0)[2],
          op.input(1)[2],
          value("causal") != 0,
          value("window"),
          value("chunk"),
          value("selected"),
          0,
          value("stride")};
}

std::vector<Shape> attention_shapes(const OpView& op) {
  const Shape& q = op.input(0);
  const Shape& k = op.input(1);
  const Shape& v = op.input(2);
  const bool ranks = q.size() == 4 && k.size() == 4 && v.size() == 4;
  const bool fits = ranks && q[0] == k[0] && q[0] == v[0] && q[3] == k[3] && k[1] == v[1] &&
                    k[2] == v[2] && k[1] > 0 && q[1] % k[1] == 0;
  if (!fits) {
    op.fail("queries " + to_string(q) + ", keys " + to_string(k) + " and values " + to_string(v) +
            " do not fit: [B, heads, S, Dk], [B, kv_heads, T, Dk] and [B, kv_heads, T, Dv] would");
  }
  return {{q[0], q[2], q[1] * v[3]}};
}

double attention_flops(const OpView& op) {
  const Shape& q = op.input(0);
  const double pairs = visible_pairs(visible_of(op)) * as_number(q[0] * q[1]);
  return pairs * (2 * as_number(q[3] + op.input(2)[3]) + kSoftmaxFlops);
}

std::vector<Shape> indexer_shapes(const OpView& op) {
  const Shape& q = op.input(0);
  const Shape& k = op.input(1);
  const std::int64_t block = op.integer("block");
  if (q.size() != 4 || k.size() != 3 || q[0] != k[0] || q[3] != k[2] || block < 1 ||
      op.integer("top_k") < 1) {
    op.fail("queries " + to_string(q) + " and keys " + to_string(k) +
            " do not fit: [B, S, heads, D] and [B, T, D] would, and blocks of at least one key");
  }
  return {{q[0], q[1], std::min(op.integer("top_k"), (k[1] + block - 1) / block)}};
}

// Every head scores every key that is not hidden; the sum of the heads, and choosing, one each.
double indexer_flops(const OpView& op) {
  const Shape& q = op.input(0);
  VisibleKeys visible{q[1], op.input(1)[1], true};
  const double pairs = visible_pairs(visible) * as_number(q[0]);
  return pairs * (as_number(q[2]) * (2 * as_number(q[3]) + 2) + 1);
}

std::vector<Shape> route_shapes(const OpView& op) {
  static const std::set<std::string> kFunctions = {"softmax", "sigmoid", "sqrtsoftplus"};
  const Shape& logits = op.input(0);
  const std::int64_t k = op.integer("k");
  if (logits.empty() || k < 1 || k > logits.back())
    op.fail("cannot choose " + std::to_string(k) + " experts of " + to_string(logits));
  if (kFunctions.count(op.text("function")) == 0)
    op.fail("function '" + op.text("function") + "' is none of softmax, sigmoid, sqrtsoftplus");
  const std::int64_t groups = op.has("groups") ? op.integer("groups") : 1;
  const std::int64_t taken = op.has("top_groups") ? op.integer("top_groups") : groups;
  if (groups < 1 || taken < 1 || taken > groups || logits.back() % groups != 0) {
    op.fail("cannot take " + std::to_string(taken) + " of " + std::to_string(groups) +
            " groups of " + std::to_string(logits.back()) + " experts");
  }
  Shape result = logits;
  result.back() = k;
  return {result, result};
}

double route_flops(const OpView& op) {
  const double scores = as_number(element_count(op.input(0)));
  return scores * (kActivationFlops + as_number(op.integer("k")));
}

// All of the layer, further copies included.
std::int64_t placed_experts(const OpView& op) {
  return op.integer("experts") + (op.has("redundant") ? op.integer("redundant") : 0);
}

std::vector<Shape> experts_shapes(const OpView& op) {
  const Shape& x = op.input(0);
  const Shape& first = op.input(3);
  const Shape& second = op.input(4);
  const bool gated = op.integer("gated") != 0;
  const bool fits = x.size() >= 2 && first.size() == 3 && second.size() == 3 &&
                    x.back() == first[1] && first[0] == second[0] &&
                    first[2] == second[1] * (gated ? 2 : 1) && op.input(1) == op.input(2) &&
                    placed_experts(op) >= first[0];
  if (!fits) {
    op.fail("x " + to_string(x) + ", choice " + to_string(op.input(2)) + ", matrices " +
            to_string(first) + " and " + to_string(second) +
            " do not fit: [.., H], [.., k], [held, H, W] and [held, I, H] would");
  }
  Shape result = x;
  result.back() = second[2];
  return {result};
}

// FLOPs of the experts held here, with equal shares; and the weighted sum of their results.
double experts_flops(const OpView& op) {
  const Shape& first = op.input(3);
  const Shape& second = op.input(4);
  const double share = as_number(first[0]) / as_number(placed_experts(op));
  const double rows = as_number(element_count(op.input(2))) * share;
  return rows * (2 * as_number(first[1] * first[2] + second[1] * second[2]) +
                 kActivationFlops * as_number(second[1]) + 2 * as_number(second[2]));
}

std::vector<Shape> exchange_shapes(const OpView& op) {
  const std::int64_t ranks = op.integer("ranks");
  const bool combines = op.text("direction") == "combine";
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < op.input_count(); ++i) {
    Shape shape = op.input(i);
    if (shape.empty() || ranks < 1 || (combines && shape[0] % ranks != 0))
      op.fail("cannot exchange " + to_string(shape) + " among " + std::to_string(ranks) + " ranks");
    shape[0] = combines ? shape[0] / ranks : shape[0] * ranks;
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

std::vector<Shape> short_conv_shapes(const OpView& op) {
  const Shape& x = op.input(0);
  const Shape& weight = op.input(1);
  const Shape& state = op.input(2);
  if (x.size() != 3 || weight.size() != 2 || x[2] != weight[0] ||
      state != Shape{x[0], x[2], weight[1] - 1}) {
    op.fail("x " + to_string(x) + ", weight " + to_string(weight) + " and state " +
            to_string(state) + " do not fit: [B, S, C], [C, K] and [B, C, K - 1] would");
  }
  return {x};
}

double short_conv_flops(const OpView& op) {
  return as_number(element_count(op.input(0))) * (2 * as_number(op.input(1)[1]) + kActivationFlops);
}

std::vector<Shape> scan_shapes(const OpView& op) {
  static const std::set<std::string> kFunctions = {
      "mamba2", "mamba1", "lightning", "gated_delta", "kimi_delta", "rwkv7", "rg_lru"};
  const Shape& query = op.input(0);
  const Shape& value = op.input(2);
  const Shape& state = op.input(op.input_count() - 1);
  if (kFunctions.count(op.text("function")) == 0) {
    op.fail("function '" + op.text("function") +
            "' is none of mamba2, mamba1, lightning, gated_delta, kimi_delta, rwkv7, rg_lru");
  }
  const bool fits = query.size() == 4 && value.size() == 4 && query == op.input(1) &&
                    query[0] == value[0] && query[1] == value[1] && value[2] % query[2] == 0 &&
                    state == Shape{value[0], value[2], query[3], value[3]};
  if (!fits) {
    op.fail("queries " + to_string(query) + ", values " + to_string(value) + " and state " +
            to_string(state) + " do not fit: [B, S, Hk, Dk], [B, S, Hv, Dv] and " +
            "[B, Hv, Dk, Dv] would");
  }
  return {{value[0], value[1], value[2] * value[3]}};
}

double scan_flops(const OpView& op) {
  const Shape& query = op.input(0);
  const Shape& value = op.input(2);
  const std::int64_t chunk = std::min(op.integer("chunk"), query[1]);
  const double tokens = as_number(value[0] * value[1] * value[2]);
  return 2 * tokens * scan_macs_per_token(op.text("function"), query[3], value[3], chunk);
}

std::vector<Shape> compress_shapes(const OpView& op) {
  const Shape& x = op.input(0);
  const std::int64_t ratio = op.integer("ratio");
  if (x.size() != 3 || x != op.input(1) || ratio < 1 || op.integer("dim") < 1)
    op.fail("values " + to_string(x) + " and scores " + to_string(op.input(1)) + " do not fit");
  return {{x[0], std::max<std::int64_t>(1, x[1] / ratio), op.integer("dim")}};
}

double compress_flops(const OpView& op) {
  return as_number(element_count(op.input(0))) * (kSoftmaxFlops + 2);
}

}  // namespace

namespace {

// Of `tokens` queries, each `ratio` tokens before one are one key, of which at most `most` are
// read.
double compressed_pairs(std::int64_t tokens, std::int64_t ratio, std::int64_t most) {
  const std::int64_t full = tokens / ratio;
  const std::int64_t capped = most == 0 ? full : std::min(full, most);
  const double rising = as_number(ratio) * as_number(capped) * as_number(capped - 1) / 2;
  return rising + as_number(capped) * as_number(tokens - capped * ratio + 1);
}

}  // namespace

double visible_pairs(const VisibleKeys& visible) {
  if (visible.stride > 0) {
    VisibleKeys near = visible;
    near.stride = 0;
    VisibleKeys all = near;
    all.window = 0;
    const double pairs = visible_pairs(near);
    return pairs + (visible_pairs(all) - pairs) / as_number(visible.stride);
  }
  if (visible.ratio > 0) {
    const std::int64_t tokens = visible.queries;
    return capped_sum(tokens, visible.window) +
           compressed_pairs(tokens, visible.ratio, visible.selected);
  }
  const std::int64_t most = smaller_limit(visible.window, visible.selected);
  if (!visible.causal) {
    const std::int64_t seen = most == 0 ? visible.keys : std::min(visible.keys, most);
    return as_number(visible.queries) * as_number(seen);
  }
  return chunked_sum(visible.keys, visible.chunk, most) -
         chunked_sum(std::max<std::int64_t>(0, visible.keys - visible.queries), visible.chunk,
                     most);
}

std::int64_t window_of_as_many(VisibleKeys visible) {
  const double pairs = visible_pairs(visible);
  visible.stride = 0;
  std::int64_t most = visible.keys;
  while (visible.window < most) {
    const std::int64_t middle = (visible.window + most + 1) / 2;
    VisibleKeys tried = visible;
    tried.window = middle;
    (visible_pairs(tried) <= pairs ? visible.window : most) =
        visible_pairs(tried) <= pairs ? middle : middle - 1;
  }
  return visible.window;
}

double scan_macs_per_token(std::string_view function, std::int64_t key_dim, std::int64_t value_dim,
                           std::int64_t chunk) {
  const double keys = as_number(key_dim);
  const double values = as_number(value_dim);
  const bool delta = is_delta_rule(function);
  if (chunk <= 1) return (delta ? 3.5 : 2.5) * keys * values;
  const double inside = as_number(chunk) / 2;
  const double scan = inside * (keys + values) + 2 * keys * values;
  return delta ? scan + inside * (2 * keys + values) + keys * values : scan;
}

namespace operators {

std::vector<OperatorInfo> network_rows() {
  return {
      {"Attention",
       3,
       5,
       {"causal", "window", "chunk", "selected", "stride", "ratio", "sinks", "latent"},
       attention_shapes,
       attention_flops,
       "attention of queries over keys and values, with what it hides"},
      {"Indexer",
       2,
       3,
       {"top_k", "block", "narrow"},
       indexer_shapes,
       indexer_flops,
       "scores every key with a few narrow heads and chooses the keys that attention reads",
       0},
      {"Route",
       1,
       2,
       {"k", "function", "groups", "top_groups"},
       route_shapes,
       route_flops,
       "weights and numbers of the k experts that a token goes to",
       1},
      {"Experts",
       5,
       7,
       {"experts", "gated", "activation", "routing", "redundant"},
       experts_shapes,
       experts_flops,
       "a layer of experts: two grouped products, what is between them, and the weighted sum"},
      {"ExpertExchange",
       1,
       3,
       {"ranks", "direction", "top_k", "experts", "stride"},
       exchange_shapes,
       no_flops,
       "sends what belongs to a token to the ranks, `stride` apart, that hold its experts, or "
       "their results back"},
      {"ShortConv",
       3,
       4,
       {"activation"},
       short_conv_shapes,
       short_conv_flops,
       "every channel convolved over its last few tokens"},
      {"Scan",
       5,
       6,
       {"function", "chunk"},
       scan_shapes,
       scan_flops,
       "linear recurrence over the tokens with a matrix of state per head"},
      {"Compress",
       2,
       3,
       {"ratio", "dim"},
       compress_shapes,
       compress_flops,
       "weighted mean of every few tokens, for a shorter cache"},
  };
}

}  // namespace operators
}  // namespace foretell
