#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "hw/spec/cpu/cpu_catalog.hpp"
#include "hw/spec/cpu/cpu_factors.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "hw/spec/shared/data_folder.hpp"
#include "model/app/command/commands.hpp"
#include "model/app/command/show_workload.hpp"
#include "model/app/request/request_fields.hpp"
#include "model/app/request/resolved_request.hpp"
#include "model/app/terminal/output.hpp"
#include "model/app/terminal/request_options.hpp"
#include "model/app/terminal/table_output.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

struct ShowOptions {
  std::string name;
  OutputOptions output;
  RequestOptions model;
  std::vector<std::string> dimensions;
  std::string batch;
  std::string seq;
  std::string image_size;
  std::string dtype;
};

bool contains_ignoring_case(const std::vector<std::string>& names, const std::string& name) {
  return std::any_of(names.begin(), names.end(), [&name](const std::string& candidate) {
    return to_lower(candidate) == to_lower(name);
  });
}

std::string remark(const Parameter& parameter) {
  std::string text = parameter.why;
  for (const Alternative& other : parameter.alternatives) {
    if (other.name == parameter.use) continue;
    text += fmt::format("{}otherwise published: {} ({})", text.empty() ? "" : "; ",
                        other.value.value, other.value.source);
  }
  if (!parameter.interval80.empty()) {
    text += fmt::format("{}80 % interval {}", text.empty() ? "" : "; ", parameter.interval80);
  }
  return text;
}

Table parameter_table(const std::vector<Parameter>& parameters) {
  Table table;
  table.columns = {{"path"},  {"value", Align::kRight}, {"kind"}, {"source"}, {"meaning"},
                   {"remark"}};
  for (const Parameter& parameter : parameters) {
    table.rows.push_back({parameter.path, parameter.value, std::string(to_string(parameter.kind)),
                          parameter.source, parameter.meaning, remark(parameter)});
  }
  return table;
}

void show_system(const ShowOptions& options, const Session& session) {
  LoadOptions load;
  load.set = options.model.set;
  load.factors = options.model.factors;
  const LoadedSystem system = Catalog().load(options.name, load);
  const Format format = parse_format(options.output.format);
  const std::string table =
      table_text(parameter_table(system.parameters), format, session.result_width);
  if (format != Format::kTable) return write_text(options.output.output, table);
  const std::string heading = fmt::format(
      "{}: {} x {}, factors {} ({}), assumed values: {}\n\n", system.spec_id, system.spec.devices,
      system.spec.device.name, system.factors_id, system.factors_status, system.assumed_values);
  write_text(options.output.output, heading + table);
}

void show_gpu(const ShowOptions& options, const Session& session) {
  const LoadedGpuSystem system = GpuCatalog().load(options.name, options.model.set);
  const Format format = parse_format(options.output.format);
  const std::string table =
      table_text(parameter_table(system.parameters), format, session.result_width);
  if (format != Format::kTable) return write_text(options.output.output, table);
  const std::string heading =
      fmt::format("{}: {} x {}, assumed values: {}\n\n", system.spec_id, system.spec.devices,
                  system.spec.device.name, system.assumed_values);
  write_text(options.output.output, heading + table);
}

void show_cpu(const ShowOptions& options, const Session& session) {
  std::vector<std::string> system_set;
  std::vector<std::string> factors_set;
  for (const std::string& assignment : options.model.set) {
    (starts_with(trim(assignment), "factors.") ? factors_set : system_set).push_back(assignment);
  }
  const LoadedCpuSystem system = CpuCatalog().load(options.name, system_set);
  const ChosenCpuFactors factors =
      choose_cpu_factors(system.spec.device, options.model.factors, factors_set);
  std::vector<Parameter> parameters = system.parameters;
  parameters.insert(parameters.end(), factors.parameters.begin(), factors.parameters.end());
  const Format format = parse_format(options.output.format);
  const std::string table = table_text(parameter_table(parameters), format, session.result_width);
  if (format != Format::kTable) return write_text(options.output.output, table);
  const std::string heading =
      fmt::format("{}: {} cores of {}, factors {}, assumed values: {}\n\n", system.spec_id,
                  system.spec.cores, system.spec.device.name, factors.id, system.assumed_values);
  write_text(options.output.output, heading + table);
}

void show_workload(const ShowOptions& options, const Session& session) {
  ResolvedRequest resolved;
  resolved.model = WorkloadLibrary().load(options.name);
  resolved.precision = find_precision(options.dtype.empty() ? "fp32" : options.dtype);
  const RequestField& batch = request_field("batch");
  const RequestField& seq = request_field("seq");
  const RequestField& image = request_field("image-size");
  resolved.request.batch =
      options.batch.empty() ? 1 : parse_count("--batch", options.batch, batch.low, batch.high);
  resolved.request.seq_len = options.seq.empty()
                                 ? default_sequence(resolved.model)
                                 : parse_count("--seq", options.seq, seq.low, seq.high);
  resolved.request.dimensions = parse_dimensions(options.dimensions);
  resolved.request.image_size =
      options.image_size.empty()
          ? resolved.model.vision.image_size
          : parse_count("--image-size", options.image_size, image.low, image.high);
  write_text(options.output.output,
             workload_text(resolved, parse_format(options.output.format), session.result_width));
}

using Show = void (*)(const ShowOptions&, const Session&);

Show show_of_system(const std::string& name, const std::vector<std::string>& neuron_systems) {
  if (contains_ignoring_case(neuron_systems, name) || is_system_file(name, SystemFileKind::kNeuron))
    return show_system;
  if (GpuCatalog().has_system(name)) return show_gpu;
  if (CpuCatalog().has_system(name)) return show_cpu;
  return nullptr;
}

void refuse_given(const ShowOptions& options, bool is_system) {
  const std::string what = is_system ? "a system" : "a workload";
  const auto refuse = [&](bool given, const char* option) {
    if (!given) return;
    throw UserError(
        fmt::format("{}: {} says nothing of {}; leave it out", options.name, option, what));
  };
  if (is_system) {
    refuse(!options.batch.empty(), "--batch");
    refuse(!options.seq.empty(), "--seq");
    refuse(!options.image_size.empty(), "--image-size");
    refuse(!options.dimensions.empty(), "--dim");
    refuse(!options.dtype.empty(), "--dtype");
  } else {
    refuse(!options.model.set.empty(), "--set");
    refuse(!options.model.factors.empty(), "--factors");
  }
}

// Devices are shown with a system around them.
void refuse_device(const std::string& name) {
  const Catalog catalog;
  if (!contains_ignoring_case(catalog.devices(), name)) return;
  std::vector<std::string> with;
  for (const std::string& id : catalog.systems()) {
    if (to_lower(catalog.load(id).spec.device.id) == to_lower(name)) with.push_back(id);
  }
  throw UserError(
      fmt::format("'{}' is a device; show a system that has it: {}", name, join(with, ", ")));
}

int show(const ShowOptions& options, const Session& session) {
  const std::vector<std::string> systems = Catalog().systems();
  const Show of_system = show_of_system(options.name, systems);
  refuse_given(options, of_system != nullptr);
  if (of_system != nullptr) {
    of_system(options, session);
    return kSuccess;
  }
  refuse_device(options.name);
  const std::vector<std::string> workloads = WorkloadLibrary().names();
  std::error_code ignored;
  // A name that is close to a system and to no workload is a misspelt system.
  const bool is_file = std::filesystem::exists(options.name, ignored);
  if (!is_file && nearest_name(options.name, workloads).empty() &&
      !nearest_name(options.name, systems).empty()) {
    throw unknown_name("system", options.name, systems);
  }
  const bool is_name = options.name.find_first_of("./") == std::string::npos;
  if (!is_file && is_name && nearest_name(options.name, workloads).empty()) {
    throw UserError(
        fmt::format("'{}' is no system and no workload; see `foretell list systems` "
                    "and `foretell list workloads`",
                    options.name));
  }
  show_workload(options, session);
  return kSuccess;
}

}  // namespace

void add_show_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ShowOptions>();
  CLI::App* command =
      app.add_subcommand("show", "Show the values of a system or what a workload does and needs");
  command->footer(
      "Examples:\n"
      "  foretell show inf2.xlarge --set 'device.hbm.bandwidth=1.6 TB/s'\n"
      "  foretell show bert-large-uncased --batch 8 --seq 128 --dtype bf16");
  command->add_option("name", options->name, "a system, a workload, a config.json or an ONNX file")
      ->required();
  add_format_option(*command, options->output);
  add_model_options(*command, options->model);
  command->add_option("--batch", options->batch, "samples per call of a workload (default: 1)")
      ->type_name("N");
  command->add_option("--seq", options->seq, "tokens per sample of a workload")->type_name("N");
  command
      ->add_option("--image-size", options->image_size,
                   "side of the images of a workload in pixels")
      ->type_name("N");
  add_dimension_option(*command, options->dimensions);
  command->add_option("--dtype", options->dtype, "data type of a workload (default: fp32)")
      ->type_name("TYPE");
  command->callback([options, &session] {
    session.action = [options, &session] { return show(*options, session); };
  });
}

}  // namespace foretell
