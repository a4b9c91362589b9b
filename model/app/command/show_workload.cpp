#include "model/app/command/show_workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/base/text.hpp"
#include "reports/render/si_format.hpp"
#include "workloads/import/control_flow.hpp"
#include "workloads/import/hf/config/network_facts.hpp"
#include "workloads/import/hf/config/stored_formats.hpp"
#include "workloads/ir/work.hpp"

namespace foretell {
namespace {

using Json = nlohmann::ordered_json;

// The work of one operator, of all of them, or of one network of a pipeline.
struct Work {
  double macs = 0;
  double flops = 0;
  double bytes = 0;
  double parameters = 0;

  double intensity() const { return bytes > 0 ? flops / bytes : 0; }
};

Work work_of(const Graph& graph, OpId id) {
  return {macs_of(graph, id), graph.flops(id).value(), bytes_moved(graph, id).value(),
          static_cast<double>(parameters_of(graph, id))};
}

// Weights that several operators read count once.
Work work_of(const Graph& graph) {
  Work sum;
  for (OpId id = 0; id < static_cast<OpId>(graph.ops().size()); ++id) {
    const Work one = work_of(graph, id);
    sum.macs += one.macs;
    sum.flops += one.flops;
    sum.bytes += one.bytes;
  }
  sum.parameters = static_cast<double>(graph.parameter_count());
  return sum;
}

std::string shapes_text(const Graph& graph, const std::vector<TensorId>& ids) {
  std::vector<std::string> texts;
  for (const TensorId id : ids) texts.push_back(to_string(graph.tensor(id).shape));
  return join(texts, " ");
}

// People read groups of three digits, programs do not.
class Numbers {
 public:
  explicit Numbers(Format format) : for_people_(format == Format::kTable) {}

  std::string count(double value) const {
    return for_people_ ? count_format(value) : fmt::format("{:.0f}", value);
  }
  void append(const Work& work, std::vector<std::string>& row) const {
    for (const double value : {work.macs, work.flops, work.bytes}) row.push_back(count(value));
    row.push_back(plain_format(work.intensity()));
    row.push_back(count(work.parameters));
  }

 private:
  bool for_people_;
};

const std::vector<TableColumn> kWorkColumns = {{"MACs", Align::kRight},
                                               {"flops", Align::kRight},
                                               {"bytes", Align::kRight},
                                               {"flops/byte", Align::kRight},
                                               {"parameters", Align::kRight}};

Table operators_table(const Graph& graph, Format format) {
  Table table;
  table.columns = {{"operator"}, {"kind"}, {"inputs"}, {"output"}};
  table.columns.insert(table.columns.end(), kWorkColumns.begin(), kWorkColumns.end());
  const Numbers numbers(format);
  for (OpId id = 0; id < static_cast<OpId>(graph.ops().size()); ++id) {
    const Op& op = graph.op(id);
    table.rows.push_back(
        {op.name, op.kind, shapes_text(graph, op.inputs), shapes_text(graph, op.outputs)});
    numbers.append(work_of(graph, id), table.rows.back());
  }
  table.rows.push_back({"total", "", "", ""});
  numbers.append(work_of(graph), table.rows.back());
  return table;
}

struct MemoryRow {
  const char* name;
  TensorKind kind;
};
constexpr MemoryRow kMemoryRows[] = {{"weights", TensorKind::kWeight},
                                     {"states", TensorKind::kState},
                                     {"inputs", TensorKind::kInput},
                                     {"outputs", TensorKind::kOutput}};

// "weights 97.5 MiB fp32"
std::string memory_text(const Graph& graph) {
  std::vector<std::string> parts;
  for (const MemoryRow& row : kMemoryRows) {
    for (const auto& [dtype, bytes] : bytes_by_dtype(graph, row.kind)) {
      parts.push_back(
          fmt::format("{} {} {}", row.name, memory_format(bytes.value()), to_string(dtype)));
    }
  }
  return join(parts, ", ");
}

// "image 1024", "image 720 x 1280, 129 frames".
std::string image_text(const Request& request) {
  std::string text = fmt::format("image {}", request.image_size);
  if (request.image_width > 0) text += fmt::format(" x {}", request.image_width);
  if (request.frames > 0) text += fmt::format(", {} frames", request.frames);
  return text;
}

std::string lengths_text(const ResolvedWorkload& resolved) {
  const Request& request = resolved.request;
  if (request.image_size > 0) return image_text(request);
  return request.seq_len > 0 ? fmt::format("sequence {}", request.seq_len) : "sizes of the file";
}

// What publishers state of a language model, in two lines.
std::string facts_text(const ResolvedWorkload& resolved) {
  if (resolved.model.family != Family::kDecoder) return "";
  const NetworkFacts facts = facts_of(resolved.model, resolved.precision);
  std::string text = fmt::format("parameters {}, of which {} are at work for a token",
                                 count_format(facts.parameters), count_format(facts.active));
  if (facts.tower > 0) {
    text += fmt::format("; {} in the {}", count_format(facts.tower),
                        resolved.model.parts_of_decoder.tower.name);
  }
  if (facts.draft > 0)
    text += fmt::format("; beside them {} in heads for further tokens", count_format(facts.draft));
  text += fmt::format("\nKV cache {} bytes per token", count_format(facts.kv_bytes_per_token));
  if (facts.window_bytes > 0) {
    text +=
        fmt::format(", {} until the windows are full, which hold {} bytes",
                    count_format(facts.kv_bytes_per_first_token), count_format(facts.window_bytes));
  }
  if (facts.state_bytes > 0)
    text += fmt::format(", {} bytes of states", count_format(facts.state_bytes));
  text += fmt::format("; {} per token without context\n", si_format(facts.flops_per_token, "FLOP"));
  const std::string stored = stored_text(resolved.model.checkpoint);
  if (!stored.empty()) text += "stored as " + stored + "\n";
  for (const std::string& note : resolved.model.notes) text += "note: " + note + "\n";
  return text;
}

std::string heading(const ResolvedWorkload& resolved, const Graph& graph) {
  const Work sum = work_of(graph);
  return fmt::format(
      "{} ({}), batch {}, {}, {}\n{} operators, {} parameters, {} in products and convolutions, "
      "{}, "
      "{:.3g} flops/byte\n{}\n{}\n",
      resolved.model.name, resolved.model.model_type, resolved.request.batch,
      lengths_text(resolved), resolved.precision.name, graph.ops().size(),
      count_format(sum.parameters), si_format(sum.macs, "MAC"), si_format(sum.flops, "FLOP"),
      sum.intensity(), memory_text(graph), facts_text(resolved));
}

Json facts_json(const ResolvedWorkload& resolved) {
  const NetworkFacts facts = facts_of(resolved.model, resolved.precision);
  return {{"parameters", facts.parameters},
          {"active_parameters", facts.active},
          {"tower_parameters", facts.tower},
          {"draft_parameters", facts.draft},
          {"kv_bytes_per_token", facts.kv_bytes_per_token},
          {"kv_bytes_per_first_token", facts.kv_bytes_per_first_token},
          {"window_bytes", facts.window_bytes},
          {"state_bytes", facts.state_bytes},
          {"flops_per_token", facts.flops_per_token},
          {"stored_as", stored_text(resolved.model.checkpoint)},
          {"notes", resolved.model.notes}};
}

Json work_json(const Work& work) {
  return {{"macs", work.macs},
          {"flops", work.flops},
          {"bytes", work.bytes},
          {"flops_per_byte", work.intensity()},
          {"parameters", work.parameters}};
}

Json scenario_json(const ResolvedWorkload& resolved) {
  const Request& request = resolved.request;
  Json json = {{"workload", resolved.model.name},
               {"model_type", resolved.model.model_type},
               {"dtype", resolved.precision.name},
               {"batch", request.batch}};
  if (request.seq_len > 0) json["seq_len"] = request.seq_len;
  if (request.image_size > 0) json["image_size"] = request.image_size;
  if (request.image_width > 0) json["image_width"] = request.image_width;
  if (request.frames > 0) json["frames"] = request.frames;
  return json;
}

Json graph_json(const Graph& graph) {
  Json json = work_json(work_of(graph));
  for (const MemoryRow& row : kMemoryRows) {
    for (const auto& [dtype, bytes] : bytes_by_dtype(graph, row.kind))
      json["memory_bytes"][row.name][std::string(to_string(dtype))] = bytes.value();
  }
  json["operators"] = Json::array();
  for (OpId id = 0; id < static_cast<OpId>(graph.ops().size()); ++id) {
    const Op& op = graph.op(id);
    Json one = {{"name", op.name}, {"op", op.kind}};
    for (const TensorId input : op.inputs) one["inputs"].push_back(graph.tensor(input).shape);
    for (const TensorId output : op.outputs) one["outputs"].push_back(graph.tensor(output).shape);
    one.update(work_json(work_of(graph, id)));
    json["operators"].push_back(std::move(one));
  }
  return json;
}

using Steps = std::vector<ControlStep>;

// Where and how often parts run, one line each.
void append_lines(const Steps& steps, const std::string& indent, std::string& text) {
  for (const ControlStep& step : steps) {
    text += indent + step.name;
    if (step.kind == ControlStep::Kind::kRun) {
      text += step.like == step.name ? "\n" : ": as " + step.like + "\n";
      continue;
    }
    const bool is_loop = step.kind == ControlStep::Kind::kLoop;
    if (step.stated) {
      text += is_loop ? fmt::format(": runs {} times\n", plain_format(*step.stated))
                      : fmt::format(": taken with probability {}\n", plain_format(*step.stated));
    } else {
      text += is_loop ? fmt::format(": runs as often as --trips {}=N says\n", step.name)
                      : fmt::format(": taken as often as --branch {}=P says\n", step.name);
    }
    append_lines(step.body, indent + "  ", text);
    if (step.instead.empty()) continue;
    text += indent + "otherwise\n";
    append_lines(step.instead, indent + "  ", text);
  }
}

Json steps_json(const Steps& steps) {
  Json list = Json::array();
  for (const ControlStep& step : steps) {
    Json one = {{"name", step.name}};
    if (step.kind == ControlStep::Kind::kRun) {
      one["part"] = step.like;
    } else {
      const bool is_loop = step.kind == ControlStep::Kind::kLoop;
      one["kind"] = is_loop ? "loop" : "branch";
      if (step.stated) one[is_loop ? "trips" : "probability"] = *step.stated;
      one["body"] = steps_json(step.body);
      if (!step.instead.empty()) one["otherwise"] = steps_json(step.instead);
    }
    list.push_back(std::move(one));
  }
  return list;
}

// The different parts below, each once.
void collect_parts(const Steps& steps, std::vector<std::string>& parts) {
  for (const ControlStep& step : steps) {
    const bool is_part = step.kind == ControlStep::Kind::kRun;
    if (is_part && std::find(parts.begin(), parts.end(), step.like) == parts.end())
      parts.push_back(step.like);
    collect_parts(step.body, parts);
    collect_parts(step.instead, parts);
  }
}

struct ShownPart {
  std::string name;
  Graph graph;
};

// One table of the operators of all parts, with a sum each; `json` gets them, `heading` goes ahead.
std::string parts_text(const std::vector<ShownPart>& parts, const std::string& heading, Json json,
                       Format format, int max_width) {
  json["parts"] = Json::array();
  Table all;
  for (const ShownPart& part : parts) {
    Json part_json = {{"name", part.name}};
    part_json.update(graph_json(part.graph));
    json["parts"].push_back(std::move(part_json));
    Table table = operators_table(part.graph, format);
    all.columns = table.columns;
    for (std::vector<std::string>& row : table.rows) {
      row.insert(row.begin(), part.name);
      all.rows.push_back(std::move(row));
    }
  }
  if (format == Format::kJson) return json.dump() + "\n";
  all.columns.insert(all.columns.begin(), {"part"});
  const std::string text = table_text(all, format, max_width);
  return format == Format::kTable ? heading + text : text;
}

// A network with branches and loops.
std::string control_text(const ResolvedWorkload& resolved, const Steps& steps, Format format,
                         int max_width) {
  std::vector<std::string> names;
  collect_parts(steps, names);
  std::vector<ShownPart> parts;
  for (const std::string& name : names) {
    ResolvedWorkload one = resolved;
    one.request.part = name;
    parts.push_back({name, build_resolved_graph(one)});
  }
  Json json = scenario_json(resolved);
  json["control"] = steps_json(steps);
  std::string lines;
  append_lines(steps, "  ", lines);
  const std::string heading = fmt::format(
      "{} ({}), batch {}, {}, {}: {} parts\n{}\n", resolved.model.name, resolved.model.model_type,
      resolved.request.batch, lengths_text(resolved), resolved.precision.name, parts.size(), lines);
  return parts_text(parts, heading, std::move(json), format, max_width);
}

// The encoder over an input, and the decoder that writes a token after as many.
std::string encoder_decoder_text(const ResolvedWorkload& resolved, Format format, int max_width) {
  const ModelConfig& model = resolved.model;
  EncodedParts both = encoded_parts(model, binding_of(resolved), resolved.request.seq_len);
  const double parameters = parameters_of(both);
  const std::int64_t read = encoded_positions(model, resolved.request.seq_len);
  const std::int64_t written = std::min(read, model.max_seq_len);
  std::vector<ShownPart> parts;
  parts.push_back({"encoder", std::move(both.encoder)});
  parts.push_back({"decoder", std::move(both.decoder)});
  for (ShownPart& part : parts) apply_precision(resolved.precision, &part.graph);
  std::string heading =
      fmt::format("{} ({}), batch {}, {}: {} parameters\n", model.name, model.model_type,
                  resolved.request.batch, resolved.precision.name, count_format(parameters));
  const bool hears = model.encoder.mel_bins > 0;
  heading +=
      fmt::format("encoder: {} {}; decoder: one token after {}, which every token repeats\n", read,
                  hears ? fmt::format("positions, {:.3g} s of sound",
                                      static_cast<double>(read) / kSoundPositionsPerSecond)
                        : "tokens",
                  written);
  for (const ShownPart& part : parts) {
    const Work sum = work_of(part.graph);
    heading += fmt::format("{}: {} parameters, {}, {}, {:.3g} flops/byte; {}\n", part.name,
                           count_format(sum.parameters), si_format(sum.macs, "MAC"),
                           si_format(sum.flops, "FLOP"), sum.intensity(), memory_text(part.graph));
  }
  for (const std::string& note : model.notes) heading += "note: " + note + "\n";
  Json json = scenario_json(resolved);
  json["network"] = {{"parameters", parameters}, {"notes", model.notes}};
  return parts_text(parts, heading + "\n", std::move(json), format, max_width);
}

// One network of a pipeline, bound as the pipeline runs it.
Work work_of_part(const ResolvedWorkload& pipeline, const PipelinePart& part) {
  ResolvedWorkload resolved = pipeline;
  resolved.model = WorkloadLibrary().load(part.workload);
  const bool shows = resolved.model.vision.image_size > 0;
  if (!shows) resolved.request.image_size = resolved.request.image_width = 0;
  if (resolved.model.diffusion.frame_scale == 1) resolved.request.frames = 0;
  if (part.seq_len > 0) resolved.request.seq_len = part.seq_len;
  if (part.guided) resolved.request.batch *= 2;
  return work_of(build_resolved_graph(resolved));
}

std::string pipeline_text(const ResolvedWorkload& resolved, Format format, int max_width) {
  Table table;
  table.columns = {{"part"}, {"network"}, {"calls", Align::kRight}};
  table.columns.insert(table.columns.end(), kWorkColumns.begin(), kWorkColumns.end());
  const Numbers numbers(format);
  Json json = scenario_json(resolved);
  Work sum;
  for (const PipelinePart& part : resolved.model.parts) {
    const Work work = work_of_part(resolved, part);
    table.rows.push_back({part.name, part.workload, std::to_string(part.calls)});
    numbers.append(work, table.rows.back());
    Json one = {{"name", part.name}, {"workload", part.workload}, {"calls", part.calls}};
    one.update(work_json(work));
    json["parts"].push_back(std::move(one));
    const auto calls = static_cast<double>(part.calls);
    sum.macs += calls * work.macs;
    sum.flops += calls * work.flops;
    sum.bytes += calls * work.bytes;
    sum.parameters += work.parameters;
  }
  table.rows.push_back({"all calls", "", ""});
  numbers.append(sum, table.rows.back());
  json.update(work_json(sum));
  if (format == Format::kJson) return json.dump() + "\n";
  const std::string text = table_text(table, format, max_width);
  if (format != Format::kTable) return text;
  return fmt::format("{} (pipeline), batch {}, {}, {}\n\n{}", resolved.model.name,
                     resolved.request.batch, image_text(resolved.request), resolved.precision.name,
                     text);
}

}  // namespace

std::string workload_text(const ResolvedWorkload& resolved, Format format, int max_width) {
  if (resolved.model.family == Family::kPipeline) return pipeline_text(resolved, format, max_width);
  if (resolved.model.family == Family::kEncoderDecoder)
    return encoder_decoder_text(resolved, format, max_width);
  const Steps steps = control_flow(resolved.model, binding_of(resolved));
  if (!steps.empty()) return control_text(resolved, steps, format, max_width);
  const Graph graph = build_resolved_graph(resolved);
  if (format == Format::kJson) {
    Json json = scenario_json(resolved);
    if (resolved.model.family == Family::kDecoder) json["network"] = facts_json(resolved);
    json.update(graph_json(graph));
    return json.dump() + "\n";
  }
  const std::string table = table_text(operators_table(graph, format), format, max_width);
  return format == Format::kTable ? heading(resolved, graph) + table : table;
}

}  // namespace foretell
