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
#include "reports/render/si_format.hpp"

namespace foretell {
namespace {

struct ImportOptions {
  std::string file;
  std::string batch = "1";
  std::string seq;
  std::string output = "-";
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
std::string kinds_text(const Graph& graph) {
  std::map<std::string, std::pair<int, double>> kinds;
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    auto& [count, flops] = kinds[graph.ops()[i].kind];
    ++count;
    flops += graph.flops(static_cast<OpId>(i)).value();
  }
  std::string text;
  for (const auto& [kind, sums] : kinds) {
    text += fmt::format("  {:5} {}, {}\n", sums.first, kind, si_format(sums.second, "FLOP"));
  }
  return text;
}

int import_model(const ImportOptions& options) {
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
  write_text(options.output,
             fmt::format("{} ({})\n{} operators, {} parameters, weights {} in FP32, {} per call\n"
                         "inputs:\n{}outputs:\n{}operators:\n{}",
                         resolved.model.name, resolved.model.model_type, graph.ops().size(),
                         graph.parameter_count(), memory_format(graph.weight_bytes().value()),
                         si_format(graph.total_flops().value(), "FLOP"),
                         tensors_text(graph, graph.inputs()), tensors_text(graph, graph.outputs()),
                         kinds_text(graph)));
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
  command
      ->add_option("-o,--output", options->output,
                   "write the summary to this file (default: standard output)")
      ->type_name("FILE");
  command->callback(
      [options, &session] { session.action = [options] { return import_model(*options); }; });
}

}  // namespace foretell
