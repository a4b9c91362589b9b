#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "calib/fitted/shared/die_area.hpp"
#include "model/app/command/commands.hpp"
#include "model/app/command/show_workload.hpp"
#include "model/app/request/family/device_family.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/terminal/options.hpp"
#include "model/app/terminal/output.hpp"
#include "model/app/terminal/request_options.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "workloads/import/hf/config/stored_formats.hpp"

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
  std::string node;
  std::string hbm;
  bool area = false;
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

Table area_table(const DieArea& area) {
  Table table;
  table.columns = {{"part"}, {"mm2", Align::kRight}, {"share", Align::kRight}};
  constexpr double kPercent = 100;
  for (const AreaPart& part : area.parts) {
    table.rows.push_back({part.name, fmt::format("{:.1f}", part.mm2),
                          fmt::format("{:.1f} %", kPercent * part.mm2 / area.area_mm2)});
  }
  table.rows.push_back({"all dies", fmt::format("{:.1f}", area.area_mm2), "100.0 %"});
  return table;
}

std::string area_heading(const SystemSheet& sheet, const DieArea& area) {
  std::string text = fmt::format(
      "{}: {}, {}, {}; {:.0f} USD to make: dies {:.0f} ({:.0f} % are sold), memory {:.0f}, package "
      "{:.0f}; areas of parts are fitted to published dies, prices assumed\n{}",
      sheet.name, area.chip, area.node, area.memory, area.cost_usd(), area.die_usd,
      area.yield * 100, area.memory_usd, area.package_usd,
      area.is_published
          ? ""
          : "Not calibrated: " + unpublished_area(area) +
                (area.is_of_another ? ""
                                    : "; the process is assumed. The dies are larger, and what a "
                                      "part adds is what a study compares") +
                ".\n");
  if (area.dies > 1) {
    text += fmt::format("{:.0f} mm2 exceed the reticle of {:.0f} mm2: {} dies\n", area.area_mm2,
                        area.reticle_mm2, area.dies);
  }
  return text + "\n";
}

void show_area(const SystemSheet& sheet, const ShowOptions& options, const Session& session) {
  const auto area = die_area(sheet.facts.device, sheet.facts.parameters,
                             {options.node, options.hbm}, sheet.facts.like);
  if (!area) {
    throw UserError(options.name + ": nothing is published of the dies of " + sheet.name +
                    ", so there is no area; leave --area out, or change a device that has one "
                    "by --set");
  }
  const Format format = parse_format(options.output.format);
  const std::string heading = format == Format::kTable ? area_heading(sheet, *area) : "";
  write_text(options.output.output,
             heading + table_text(area_table(*area), format, session.result_width));
}

void show_system(const DeviceFamily& family, const ShowOptions& options, const Session& session) {
  Request request;
  request.system = options.name;
  request.set = options.model.set;
  request.factors = options.model.factors;
  const SystemSheet sheet = family.sheet(request);
  if (options.area) return show_area(sheet, options, session);
  const Format format = parse_format(options.output.format);
  const std::string table =
      table_text(parameter_table(sheet.facts.parameters), format, session.result_width);
  const std::string heading = format == Format::kTable ? sheet.heading + "\n\n" : "";
  write_text(options.output.output, heading + table);
}

// The format of the file; where it states none, what decoders are served in.
std::string shown_dtype(const ModelConfig& model) {
  if (model.family != Family::kDecoder) return "fp32";
  const CheckpointFormat& format = model.checkpoint;
  if (format.dtype.empty()) return "bf16";
  return format.block_scales && format.dtype == "fp8" ? kBlockScales : format.dtype;
}

void show_workload(const ShowOptions& options, const Session& session) {
  ResolvedWorkload resolved;
  resolved.model = WorkloadLibrary().load(options.name);
  resolved.precision =
      find_precision(options.dtype.empty() ? shown_dtype(resolved.model) : options.dtype);
  takes_all_as(resolved.precision.weight_storage, &resolved.model.checkpoint);
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
  if (options.image_size.empty()) {
    const VisionConfig& vision = resolved.model.vision;
    const bool square = vision.image_width == 0 || vision.image_width == vision.image_size;
    resolved.request.image_width = square ? 0 : vision.image_width;
    if (vision.frames > 1) resolved.request.frames = vision.frames;
  }
  write_text(options.output.output,
             workload_text(resolved, parse_format(options.output.format), session.result_width));
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
    refuse(!options.area && !options.node.empty(), "--node without --area");
    refuse(!options.area && !options.hbm.empty(), "--hbm without --area");
  } else {
    refuse(options.area, "--area");
    refuse(!options.node.empty(), "--node");
    refuse(!options.hbm.empty(), "--hbm");
    refuse(!options.model.set.empty(), "--set");
    refuse(!options.model.factors.empty(), "--factors");
  }
}

// Devices are shown with a system around them.
void refuse_device(const std::string& name) {
  std::vector<std::string> with;
  for (const DeviceFamily* family : device_families()) {
    if (!contains_ignoring_case(family->devices(), name)) continue;
    for (const std::string& id : family->systems()) {
      Request request;
      request.system = id;
      if (to_lower(family->sheet(request).facts.device) == to_lower(name)) with.push_back(id);
    }
  }
  if (with.empty()) return;
  throw UserError(
      fmt::format("'{}' is a device; show a system that has it: {}", name, join(with, ", ")));
}

int show(const ShowOptions& options, const Session& session) {
  const DeviceFamily* family = find_family(options.name);
  refuse_given(options, family != nullptr);
  if (family != nullptr) {
    show_system(*family, options, session);
    return kSuccess;
  }
  refuse_device(options.name);
  std::vector<std::string> systems;
  for (const DeviceFamily* each : device_families()) {
    for (std::string& id : each->systems()) systems.push_back(std::move(id));
  }
  const WorkloadLibrary library;
  const std::vector<std::string>& workloads = library.names();
  std::error_code ignored;
  // A name that is close to a system and to no workload is a misspelt system.
  const bool is_known =
      std::filesystem::exists(options.name, ignored) || !library.listed_name(options.name).empty();
  if (!is_known && nearest_name(options.name, workloads).empty() &&
      !nearest_name(options.name, systems).empty()) {
    throw unknown_name("system", options.name, systems);
  }
  const bool is_name = options.name.find_first_of("./") == std::string::npos;
  if (!is_known && is_name && nearest_name(options.name, workloads).empty()) {
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
  add_option(*command, "--batch", options->batch, "N",
             "samples per call of a workload (default: 1)");
  add_option(*command, "--seq", options->seq, "N", "tokens per sample of a workload");
  add_option(*command, "--image-size", options->image_size, "N",
             "side of the images of a workload in pixels");
  add_dimension_option(*command, options->dimensions);
  command->add_flag("--area", options->area, "of a system: area of its dies by part, cost to make");
  add_option(*command, "--node", options->node, "NODE",
             "with --area: made in another process, such as 3nm");
  add_option(*command, "--hbm", options->hbm, "GENERATION",
             "with --area: with other memory, such as hbm3e");
  add_option(*command, "--dtype", options->dtype, "TYPE",
             "data type of a workload (default: of decoders the format of the file, else bf16; "
             "of others fp32)");
  set_action(*command, session, [options, &session] { return show(*options, session); });
}

}  // namespace foretell
