#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "model/app/command/commands.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/request/resolve/resolved_workload.hpp"
#include "model/app/terminal/options.hpp"
#include "model/app/terminal/output.hpp"
#include "model/app/terminal/request_options.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"
#include "reports/record/csv.hpp"
#include "reports/record/json_text.hpp"
#include "reports/render/si_format.hpp"
#include "workloads/import/hf/config/architecture_files.hpp"
#include "workloads/import/hf/config/network_facts.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct ImportOptions {
  std::string file;
  std::string batch = "1";
  std::string seq;
  std::string format = "table";
  std::string workload;
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
      "{} ({})\n{} operators, {} parameters, weights {} in FP32{}, {} per call\n"
      "inputs:\n{}outputs:\n{}operators:\n{}",
      model.name, model.model_type, graph.ops().size(), graph.parameter_count(),
      memory_format(graph.weight_bytes().value()),
      model.checkpoint.dtype.empty() ? "" : " (" + model.checkpoint.name + " in the file)",
      si_format(graph.total_flops().value(), "FLOP"), tensors_text(graph, graph.inputs()),
      tensors_text(graph, graph.outputs()), kinds_text(graph));
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
std::vector<CsvRow> summary_rows(const Graph& graph) {
  std::vector<CsvRow> rows = {{"kind", "count", "flops"}};
  for (const auto& [kind, sums] : kinds_of(graph))
    rows.push_back({kind, std::to_string(sums.first), to_text(sums.second)});
  return rows;
}

// Both graphs of an encoder-decoder, and what they have together.
std::string parts_summary(Format format, const ModelConfig& model, const EncodedParts& parts) {
  const std::string parameters = fmt::format("{:.0f}", parameters_of(parts));
  if (format == Format::kTable) {
    return fmt::format("{} ({}): {} parameters\n\nencoder: {}\ndecoder: {}", model.name,
                       model.model_type, parameters, summary_text(model, parts.encoder),
                       summary_text(model, parts.decoder));
  }
  if (format == Format::kJson) {
    return fmt::format(R"({{"name":{},"model_type":{},"parameters":{},"encoder":{},"decoder":{}}})",
                       json_text(model.name), json_text(model.model_type), parameters,
                       trim(summary_json(model, parts.encoder)),
                       trim(summary_json(model, parts.decoder))) +
           "\n";
  }
  std::vector<CsvRow> rows;
  for (const auto& [name, graph] :
       {std::pair<const char*, const Graph*>{"encoder", &parts.encoder},
        std::pair<const char*, const Graph*>{"decoder", &parts.decoder}}) {
    for (CsvRow& row : summary_rows(*graph)) {
      const bool heads = row.front() == "kind";
      if (heads && !rows.empty()) continue;
      row.insert(row.begin(), heads ? "part" : name);
      rows.push_back(std::move(row));
    }
  }
  return rows_text(rows, format);
}

std::string summary(Format format, const ModelConfig& model, const Graph& graph) {
  if (format == Format::kTable) return summary_text(model, graph);
  if (format == Format::kJson) return summary_json(model, graph);
  return rows_text(summary_rows(graph), format);
}

std::string extension_of(const std::string& path) { return fs::path(path).extension().string(); }

// The path of an ONNX file as the workload beside it names it.
std::string path_from(const std::string& output, const std::string& file) {
  return fs::proximate(fs::absolute(file), fs::absolute(output).parent_path()).generic_string();
}

Json onnx_workload(const ResolvedWorkload& resolved, const std::string& output) {
  Json json = {{"model_type", "onnx"}, {"file", path_from(output, resolved.model.onnx_file)}};
  std::map<std::string, std::int64_t> dimensions = resolved.model.dimensions;
  for (const auto& [name, size] : resolved.request.dimensions) dimensions[name] = size;
  if (!dimensions.empty()) json["dimensions"] = dimensions;
  return json;
}

Json config_workload(const std::string& file, const std::string& output) {
  if (extension_of(file) != ".json") {
    throw UserError(output + ": " + file + " is a workload already: --workload takes it as it is");
  }
  std::ifstream stream(file, std::ios::binary);
  return Json::parse(stream);
}

// JSON values are YAML, too.
std::string yaml_text(const Json& json) {
  std::string text;
  for (const auto& entry : json.items()) text += entry.key() + ": " + entry.value().dump() + "\n";
  return text;
}

// A description of the user's beside the config.json goes beside what is written; the note says so.
std::string keep_architecture(const std::string& config, const std::string& output) {
  const auto beside = [](const std::string& file) {
    return fs::absolute(file).parent_path() / kArchitectureFile;
  };
  if (!fs::exists(beside(config))) return "";
  const std::string text = read_text_file(beside(config));
  const std::string kept = beside(output).string();
  if (fs::exists(kept) && read_text_file(kept) != text) {
    throw UserError(output + ": " + config + " is described by the " +
                    std::string(kArchitectureFile) + " beside it, and " + kept +
                    " is another one; write to another folder");
  }
  write_text(kept, text);
  return kept + " describes its architecture: keep it beside " + output;
}

// A file that --workload takes, and what else belongs to it, "": nothing.
std::string write_workload(const ResolvedWorkload& resolved, const std::string& output) {
  const std::string extension = extension_of(output);
  const bool is_yaml = extension == ".yaml" || extension == ".yml";
  if (!is_yaml && extension != ".json") {
    throw UserError("-o: '" + output +
                    "' is not allowed; a workload is a .yaml or .json file, for example " +
                    resolved.model.name + ".yaml");
  }
  const bool is_onnx = resolved.model.family == Family::kOnnx;
  const Json json =
      is_onnx ? onnx_workload(resolved, output) : config_workload(resolved.model.file, output);
  const std::string note = is_onnx ? "" : keep_architecture(resolved.model.file, output);
  write_text(output, is_yaml ? yaml_text(json) : json.dump(2) + "\n");
  return note;
}

int import_model(const ImportOptions& options, const Session& session) {
  const Format format = parse_format(options.format);
  ResolvedWorkload resolved;
  resolved.model = WorkloadLibrary().load(options.file);
  const RequestField& batch = request_field("batch");
  const RequestField& seq = request_field("seq");
  resolved.request.batch = parse_count("--batch", options.batch, batch.low, batch.high);
  resolved.request.seq_len = options.seq.empty()
                                 ? default_sequence(resolved.model)
                                 : parse_count("--seq", options.seq, seq.low, seq.high);
  resolved.request.dimensions = parse_dimensions(options.dimensions);
  resolved.precision = find_precision("fp32");
  std::string text;
  if (resolved.model.family == Family::kEncoderDecoder) {
    text = parts_summary(
        format, resolved.model,
        encoded_parts(resolved.model, binding_of(resolved), resolved.request.seq_len));
  } else {
    text = summary(format, resolved.model, build_resolved_graph(resolved));
  }
  std::string note;
  if (!options.workload.empty()) note = write_workload(resolved, options.workload);
  write_text("-", text);
  if (!note.empty()) session.say("foretell: " + note);
  return kSuccess;
}

}  // namespace

void add_import_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ImportOptions>();
  CLI::App* command =
      app.add_subcommand("import", "Check and summarise an ONNX file or config.json");
  command->footer(
      "Example:\n"
      "  foretell import model.onnx --dim sequence=128 -o model.yaml\n"
      "Afterwards --workload model.yaml runs it on any system, as --workload model.onnx with the "
      "same --dim does.");
  command->add_option("file", options->file, "an ONNX file, a config.json or a workload")
      ->required();
  add_option(*command, "--batch", options->batch, "N", "samples per call (default: 1)");
  add_option(*command, "--seq", options->seq, "N", "tokens per sample");
  add_dimension_option(*command, options->dimensions);
  add_option(*command, "--format", options->format, "FORM", "table (default), json or csv");
  add_option(*command, "-o,--output", options->workload, "FILE",
             "also write a workload to this .yaml or .json file, for --workload");
  set_action(*command, session, [options, &session] { return import_model(*options, session); });
}

}  // namespace foretell
