#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "model/base/errors.hpp"
#include "model/cli/commands.hpp"
#include "model/cli/output.hpp"
#include "model/cli/request_fields.hpp"
#include "model/cli/request_options.hpp"
#include "model/cli/resolved_workload.hpp"
#include "reports/record/csv.hpp"
#include "reports/record/json_text.hpp"
#include "reports/render/si_format.hpp"

namespace foretell {
namespace {

struct ImportOptions {
  std::string file;
  std::string batch = "1";
  std::string seq;
  OutputOptions output;
  std::vector<std::string> dimensions;
};

std::string tensors_text(const Graph& graph, const std::vector<TensorId>& ids) {
  std::string text;
  for (const TensorId id : ids) {
    const Tensor& tensor = graph.tensor(id);
    text +=
        fmt::format("  {} {} {}\n", tensor.name, to_string(tensor.shape), to_string(tensor.dtype));
  }
  return text;
}

// How many operators of each kind there are, and their flops.
std::map<std::string, std::pair<int, double>> kinds_of(const Graph& graph) {
  std::map<std::string, std::pair<int, double>> kinds;
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    auto& [count, flops] = kinds[graph.ops()[i].kind];
    ++count;
    flops += graph.flops(static_cast<OpId>(i)).value();
  }
  return kinds;
}

std::string kinds_text(const Graph& graph) {
  std::string text;
  for (const auto& [kind, sums] : kinds_of(graph)) {
    text += fmt::format("  {:5} {}, {}\n", sums.first, kind, si_format(sums.second, "FLOP"));
  }
  return text;
}

std::string summary_text(const ModelConfig& model, const Graph& graph) {
  return fmt::format(
      "{} ({})\n{} operators, {} parameters, weights {} in FP32, {} per call\n"
      "inputs:\n{}outputs:\n{}operators:\n{}",
      model.name, model.model_type, graph.ops().size(), graph.parameter_count(),
      memory_format(graph.weight_bytes().value()), si_format(graph.total_flops().value(), "FLOP"),
      tensors_text(graph, graph.inputs()), tensors_text(graph, graph.outputs()), kinds_text(graph));
}

// One object; shapes as text.
std::string summary_json(const ModelConfig& model, const Graph& graph) {
  const auto tensors = [&graph](const std::vector<TensorId>& ids) {
    std::string list;
    for (const TensorId id : ids) {
      const Tensor& tensor = graph.tensor(id);
      list += fmt::format(R"({}{{"name":{},"shape":{},"dtype":{}}})", list.empty() ? "" : ",",
                          json_text(tensor.name), json_text(to_string(tensor.shape)),
                          json_text(to_string(tensor.dtype)));
    }
    return "[" + list + "]";
  };
  std::string kinds;
  for (const auto& [kind, sums] : kinds_of(graph)) {
    kinds += fmt::format(R"({}{{"kind":{},"count":{},"flops":{}}})", kinds.empty() ? "" : ",",
                         json_text(kind), sums.first, to_text(sums.second));
  }
  return fmt::format(
      R"({{"name":{},"model_type":{},"operators":{},"parameters":{},"weight_bytes":{},"flops":{},)"
      R"("inputs":{},"outputs":{},"kinds":[{}]}})"
      "\n",
      json_text(model.name), json_text(model.model_type), graph.ops().size(),
      graph.parameter_count(), to_text(graph.weight_bytes().value()),
      to_text(graph.total_flops().value()), tensors(graph.inputs()), tensors(graph.outputs()),
      kinds);
}

// A row per kind of operator.
std::string summary_csv(const Graph& graph) {
  std::string text = to_csv({"kind", "count", "flops"});
  for (const auto& [kind, sums] : kinds_of(graph))
    text += to_csv({kind, std::to_string(sums.first), to_text(sums.second)});
  return text;
}

std::string summary(Format format, const ModelConfig& model, const Graph& graph) {
  switch (format) {
    case Format::kTable:
      return summary_text(model, graph);
    case Format::kJson:
      return summary_json(model, graph);
    case Format::kCsv:
      return summary_csv(graph);
  }
  throw InternalError(__FILE__, __LINE__, "a format without a writer");
}

int import_model(const ImportOptions& options) {
  const Format format = parse_format(options.output.format);
  ResolvedWorkload resolved;
  resolved.model = WorkloadLibrary().load(options.file);
  const CountField& batch = find_count_field("batch");
  const CountField& seq = find_count_field("seq");
  resolved.request.batch = parse_count("--batch", options.batch, batch.low, batch.high);
  resolved.request.seq_len = options.seq.empty()
                                 ? default_sequence(resolved.model)
                                 : parse_count("--seq", options.seq, seq.low, seq.high);
  resolved.request.dimensions = parse_dimensions(options.dimensions);
  resolved.precision = find_precision("fp32");
  if (resolved.model.family == Family::kEncoderDecoder ||
      resolved.model.family == Family::kDecoder) {
    resolved.request.seq_len = std::max<std::int64_t>(1, resolved.request.seq_len);
  }
  const Graph graph = build_resolved_graph(resolved);
  write_text(options.output.output, summary(format, resolved.model, graph));
  return kSuccess;
}

}  // namespace

void add_import_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ImportOptions>();
  CLI::App* command =
      app.add_subcommand("import", "Check and summarise an ONNX file or config.json");
  command->footer(
      "Example:\n"
      "  foretell import model.onnx --dim sequence=128\n"
      "Afterwards --workload model.onnx with the same --dim runs it on any system.");
  command->add_option("file", options->file, "an ONNX file, a config.json or a workload")
      ->required();
  command->add_option("--batch", options->batch, "samples per call (default: 1)")->type_name("N");
  command->add_option("--seq", options->seq, "tokens per sample")->type_name("N");
  add_dimension_option(*command, options->dimensions);
  add_format_option(*command, options->output);
  command->callback(
      [options, &session] { session.action = [options] { return import_model(*options); }; });
}

}  // namespace foretell
