#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>

#include "calib/fitted/shared/factors_folder.hpp"
#include "hw/engines/engine_catalog.hpp"
#include "hw/spec/gpu/kernel_library.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "hw/spec/shared/data_folder.hpp"
#include "model/app/command/commands.hpp"
#include "model/app/request/family/device_family.hpp"
#include "model/app/terminal/options.hpp"
#include "model/app/terminal/output.hpp"
#include "model/app/terminal/table_output.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "reports/record/scenario.hpp"
#include "reports/record/summary.hpp"
#include "reports/render/si_format.hpp"
#include "workloads/import/hf/config/architecture_files.hpp"
#include "workloads/import/hf/config/model_config.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/ir/operators.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {
namespace {

std::string price_text(const Prices& prices, const char* option) {
  const auto found = prices.find(option);
  return found == prices.end() ? "" : plain_format(found->second, 4);
}

Table list_systems() {
  Table table;
  table.columns = {{"system"},
                   {"device"},
                   {"devices", Align::kRight},
                   {"cores_or_sms", Align::kRight},
                   {"device_memory", Align::kRight},
                   {"vcpus", Align::kRight},
                   {"usd_per_hour", Align::kRight}};
  for (const DeviceFamily* family : device_families()) {
    for (const std::string& id : family->systems()) {
      Request request;
      request.system = id;
      const SystemSheet sheet = family->sheet(request);
      table.rows.push_back({id, sheet.name, std::to_string(sheet.devices),
                            std::to_string(sheet.parts), memory_format(sheet.memory.value()),
                            sheet.vcpus > 0 ? std::to_string(sheet.vcpus) : "",
                            price_text(sheet.facts.prices, kOnDemand)});
    }
  }
  return table;
}

Table name_table(const char* title, const std::vector<std::string>& names) {
  Table table;
  table.columns = {{title}};
  for (const std::string& name : names) table.rows.push_back({name});
  return table;
}

Table list_dtypes() {
  Table table;
  table.columns = {{"dtype"}, {"meaning"}};
  for (const PrecisionPolicy& policy : precision_policies()) {
    table.rows.push_back({policy.name, policy.description});
  }
  return table;
}

Table list_operators() {
  Table table;
  table.columns = {{"operator"}, {"meaning"}};
  for (const OperatorInfo& info : operator_table()) {
    table.rows.push_back({std::string(info.kind), std::string(info.summary)});
  }
  return table;
}

// By their folder below that of the factors: kinds of kernels of GPUs, energy, area; NeuronCores
// have none.
Table list_factors() {
  Table table;
  table.columns = {{"factors"}, {"folder"}};
  const std::filesystem::path root = factors_folder();
  std::set<std::filesystem::path> folders = {root};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.is_directory()) folders.insert(entry.path());
  }
  for (const std::filesystem::path& folder : folders) {
    const std::string name = folder == root ? "" : folder.lexically_relative(root).generic_string();
    for (const std::string& id : ids_in(folder)) table.rows.push_back({id, name});
  }
  return table;
}

Table list_engines() {
  Table table;
  table.columns = {{"engine"}, {"meaning"}, {"library"}};
  const EngineCatalog engines;
  for (const std::string& id : engines.ids()) {
    const EngineSpec spec = engines.load(id).spec;
    table.rows.push_back({id, spec.name, spec.library});
  }
  return table;
}

Table list_libraries() {
  Table table;
  table.columns = {{"library"}, {"meaning"}};
  for (const KernelLibrary& library : kernel_libraries().all()) {
    if (library.runs_networks) table.rows.push_back({library.id, library.name});
  }
  return table;
}

// What a request takes: the value with its range or its words.
std::string values_of(const RequestField& field) {
  if (!field.choices.empty()) return join(field.choices, ", ");
  if (field.kind() == FieldKind::kFlag) return "yes, no";
  if (field.high == 0) return field.type;
  return fmt::format("{}, {} to {}", field.type, field.low, field.high);
}

Table list_options() {
  Table table;
  table.columns = {{"option"}, {"column"}, {"value"}, {"meaning", Align::kLeft, true}};
  for (const RequestField& field : request_fields()) {
    if (*field.option == '\0') continue;
    table.rows.push_back({std::string("--") + field.option,
                          *field.column == '\0' ? field.key : field.column, values_of(field),
                          field.help});
  }
  return table;
}

Table list_metrics() {
  Table table;
  table.columns = {{"field"}, {"study"}, {"unit"}, {"better"}, {"meaning", Align::kLeft, true}};
  for (const SummaryMetric& metric : summary_metrics()) {
    table.rows.push_back(
        {metric.field, metric.name, metric.unit, metric.maximise ? "more" : "less", metric.help});
  }
  return table;
}

Table list_architectures() {
  Table table;
  table.columns = {{"model_type"}, {"file"}};
  for (const std::string& name : supported_model_types())
    table.rows.push_back({name, file_of_architecture(name)});
  return table;
}

Table list_architecture_keys() {
  Table table;
  table.columns = {{"key"}, {"value"}, {"default"}, {"meaning", Align::kLeft, true}};
  for (const ArchitectureKey& key : architecture_keys())
    table.rows.push_back({key.path, key.allowed, key.otherwise, key.meaning});
  return table;
}

Table list_workloads() {
  Table table;
  table.columns = {{"workload"}, {"architecture"}, {"published_as"}};
  const WorkloadLibrary library;
  for (const std::string& name : library.names()) {
    try {
      const ModelConfig config = library.load(name);
      table.rows.push_back({name, config.model_type, config.published_as});
    } catch (const UserError&) {
      table.rows.push_back({name, "cannot be read", ""});  // `show` says why
    }
  }
  return table;
}

struct Listed {
  const char* kind;
  const char* help;
  Table (*list)();
};

constexpr Listed kLists[] = {
    {"systems", "what --on takes, with devices, memory and prices", list_systems},
    {"devices", "of which systems are made", [] { return name_table("device", all_devices()); }},
    {"workloads", "what --workload takes, besides files", list_workloads},
    {"architectures",
     "model_type of a config.json that can be read, with the file that describes it",
     list_architectures},
    {"architecture-keys", "of such a file", list_architecture_keys},
    {"dtypes", "what --dtype takes", list_dtypes},
    {"engines", "what --engine takes", list_engines},
    {"libraries", "what --library takes", list_libraries},
    {"operators", "of a graph", list_operators},
    {"factors", "fitted factors, by folder", list_factors},
    {"options", "of a request, with columns of tables", list_options},
    {"metrics", "of a result", list_metrics},
};

Table list_lists() {
  Table table;
  table.columns = {{"list"}, {"meaning"}};
  for (const Listed& listed : kLists) table.rows.push_back({listed.kind, listed.help});
  return table;
}

std::vector<std::string> list_names() {
  std::vector<std::string> names;
  for (const Listed& listed : kLists) names.emplace_back(listed.kind);
  return names;
}

Table list_things(const std::string& kind) {
  if (kind.empty()) return list_lists();
  for (const Listed& listed : kLists) {
    if (kind == listed.kind) return listed.list();
  }
  throw unknown_name("list", kind, list_names());
}

struct ListOptions {
  std::string kind;
  OutputOptions output;
};

int list(const ListOptions& options, const Session& session) {
  write_table(list_things(options.kind), options.output, session.result_width);
  return kSuccess;
}

}  // namespace

void add_list_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ListOptions>();
  CLI::App* command = app.add_subcommand("list", "List what there is");
  command->footer("Example:\n  foretell list workloads");
  command->add_option("kind", options->kind,
                      join(list_names(), ", ") + "; without it, what these are");
  add_format_option(*command, options->output);
  set_action(*command, session, [options, &session] { return list(*options, session); });
}

}  // namespace foretell
