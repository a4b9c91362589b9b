// config.json of decoders that are described as data.
#include <algorithm>
#include <utility>

#include "model/base/errors.hpp"
#include "workloads/import/hf/config/architecture.hpp"

namespace foretell {
namespace {

using Names = std::vector<std::string>;

// The first of the fields that config.json has; nullptr: none of them.
const std::string* stated(JsonFields& fields, const Names& names) {
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const std::string& name) { return fields.has(name); });
  return found == names.end() ? nullptr : &*found;
}

bool stated_flag(JsonFields& fields, const Names& names, bool otherwise) {
  const std::string* key = stated(fields, names);
  return key == nullptr ? otherwise : fields.flag_or(*key, otherwise);
}

std::int64_t stated_count(JsonFields& fields, const Names& names, std::int64_t most,
                          std::int64_t otherwise) {
  const std::string* key = stated(fields, names);
  return key == nullptr ? otherwise : fields.count_or(*key, most, otherwise);
}

std::vector<std::string_view> views(const Names& names) { return {names.begin(), names.end()}; }

// "LLLG" is a pattern of four; a number is its length.
std::int64_t read_pattern(JsonFields& fields, const WindowRule& rule) {
  const std::string* key = stated(fields, rule.full_every_fields);
  if (key == nullptr) return rule.full_every;
  if (!fields.is_text(*key)) return fields.size(*key, kMaxLayers);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(fields.text(*key).size()));
}

bool has_windows(PartsReader& reader, WindowRule::When when) {
  constexpr std::string_view kWidth = "sliding_window";
  constexpr std::string_view kSwitch = "use_sliding_window";
  JsonFields& fields = reader.fields();
  switch (when) {
    case WindowRule::When::kAlways:
      return true;
    case WindowRule::When::kStated:
      return fields.has(kWidth) && fields.flag_or(kSwitch, true);
    case WindowRule::When::kSwitchedOn:
      return fields.flag_or(kSwitch, false);
    case WindowRule::When::kBelowContext:
      return fields.has(kWidth) &&
             fields.count_or(kWidth, kMaxPositions, 0) < reader.config().max_seq_len;
  }
  throw InternalError(__FILE__, __LINE__, "windows without a rule");
}

void read_windows(PartsReader& reader, const WindowRule& rule) {
  if (!rule.exists) return;
  if (!has_windows(reader, rule.when)) {
    reader.layer_types();
    return;
  }
  const std::int64_t pattern = read_pattern(reader.fields(), rule);
  reader.read_windows(pattern == 0 ? every_layer : all_but_last, pattern, rule.width);
}

void read_router(PartsReader& reader, const ExpertRule& rule, RouterPart* router) {
  JsonFields& fields = reader.fields();
  const std::string* key = stated(fields, rule.fields.router);
  router->function = key == nullptr ? rule.router : fields.text(*key);
  router->bias = stated_flag(fields, rule.fields.router_bias, rule.router_bias);
  if (rule.groups) return reader.read_groups(router);
  const Names& known = router_functions();
  if (std::find(known.begin(), known.end(), router->function) == known.end())
    fields.problem(*key, unknown_name("kind of router", router->function, known).what());
}

std::int64_t shared_columns(JsonFields& fields, const ExpertRule& rule, std::int64_t expert) {
  const auto width = [&](std::int64_t otherwise) {
    return stated_count(fields, rule.fields.shared_intermediate, kMaxWidth, otherwise);
  };
  if (rule.shared == 0 && rule.fields.shared.empty()) return width(rule.shared_intermediate);
  const std::int64_t shared = stated_count(fields, rule.fields.shared, kMaxLayers, rule.shared);
  return shared * width(rule.shared_intermediate > 0 ? rule.shared_intermediate : expert);
}

// 1 for each layer with experts.
std::vector<std::int64_t> sparse_layers(PartsReader& reader, const ExpertRule& rule) {
  JsonFields& fields = reader.fields();
  const std::int64_t first =
      stated_count(fields, rule.fields.first_dense, kMaxLayers, rule.first_dense);
  const std::string* step = stated(fields, rule.fields.every);
  const std::int64_t every = step == nullptr ? rule.every : fields.size(*step, kMaxLayers);
  std::vector<std::int64_t> sparse =
      rule.first_of_every ? reader.sparse_from(first, every) : reader.every_nth(every, first);
  for (const std::string& key : rule.fields.dense_layers) reader.set_listed(key, 0, &sparse);
  for (const std::string& key : rule.fields.kinds) sparse = reader.sparse_by_words(key, sparse);
  for (const std::string& key : rule.fields.flags) {
    if (fields.is_list(key)) sparse = reader.per_layer(key);
  }
  return sparse;
}

void read_experts(PartsReader& reader, const ExpertRule& rule) {
  if (!rule.exists) return;
  FeedForwardPart part = reader.experts({views(rule.fields.count), views(rule.fields.per_token),
                                         views(rule.fields.intermediate), rule.count,
                                         rule.per_token, rule.intermediate});
  read_router(reader, rule, &part.router);
  part.shared_intermediate = shared_columns(reader.fields(), rule, part.expert_intermediate);
  part.shared_gate = rule.shared_gate && part.shared_intermediate > 0;
  reader.spread_experts(part, sparse_layers(reader, rule));
}

void read_layers(PartsReader& reader, const Architecture& of) {
  JsonFields& fields = reader.fields();
  const ModelConfig& config = reader.config();
  const std::string activation = reader.activation(views(of.fields.activation), of.activation);
  const HeadNorm norm = of.head_norm == HeadNorm::kNone ? HeadNorm::kPerHead : of.head_norm;
  const bool norms = stated_flag(fields, of.fields.head_norm, of.head_norm != HeadNorm::kNone);
  const bool parallel = stated_flag(fields, of.fields.parallel, false);
  const bool post_norm = stated_flag(fields, of.fields.post_norm, false);
  const bool qkv_bias = stated_flag(fields, of.fields.qkv_bias, of.qkv_bias);
  const bool output_bias = stated_flag(fields, of.fields.output_bias, of.output_bias);
  const bool ffn_bias = stated_flag(fields, of.fields.feed_forward_bias, of.feed_forward_bias);
  for (LayerPart& part : reader.layers()) {
    part.form = parallel ? LayerForm::kParallel : post_norm ? LayerForm::kPostNorm : of.form;
    part.mixer.head_norm = norms ? norm : HeadNorm::kNone;
    part.mixer.qkv_bias = qkv_bias;
    part.mixer.output_bias = output_bias;
    part.mixer.sinks = of.sinks;
    if (of.attention_gate == Architecture::Gate::kPerHead) part.mixer.gate_columns = 1;
    if (of.attention_gate == Architecture::Gate::kPerColumn)
      part.mixer.gate_columns = part.mixer.value_dim;
    part.feed_forward.gated = of.gated;
    part.feed_forward.bias = ffn_bias;
    part.feed_forward.activation = activation;
    if (config.intermediate == 0 && of.sizes.expansion > 0)
      part.feed_forward.intermediate = of.sizes.expansion * config.hidden;
  }
  const std::string* share = stated(fields, of.fields.rotated);
  reader.read_rotation(share == nullptr ? of.rotated : fields.number_or(*share, of.rotated));
}

void read_described(const Architecture& of, JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config, of.sizes);
  if (of.norm != Architecture::NormKind::kRms) reader.use_layer_norm();
  config->parts_of_decoder.norm_weights = of.norm != Architecture::NormKind::kLayerWithoutWeights;
  config->head_bias = stated_flag(fields, of.fields.head_bias, of.head_bias);
  read_layers(reader, of);
  read_windows(reader, of.windows);
  read_experts(reader, of.experts);
  const bool dense = std::any_of(
      reader.layers().begin(), reader.layers().end(),
      [](const LayerPart& part) { return part.feed_forward.kind == FeedForwardKind::kDense; });
  if (dense && config->intermediate == 0 && of.sizes.expansion == 0)
    fields.size("intermediate_size", kMaxWidth);
  reader.draft_layers(views(of.fields.draft_layers));
  config->max_seq_len = reader.size(views(of.fields.positions), kMaxPositions, config->max_seq_len);
}

}  // namespace

ModelType type_of(Architecture architecture) {
  ModelType type{
      architecture.model_type, architecture.class_prefix, {}, {}, architecture.tied_embeddings};
  type.read = [of = std::move(architecture)](JsonFields& fields, ModelConfig* config) {
    read_described(of, fields, config);
  };
  return type;
}

}  // namespace foretell
