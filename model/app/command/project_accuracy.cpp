#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "hw/spec/cpu/cpu_catalog.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/app/command/calibrate/cpu_records.hpp"
#include "model/app/command/table_accuracy.hpp"
#include "model/base/data_root.hpp"
#include "model/base/errors.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/base/measured_data.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"
#include "reports/record/text_file.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

struct ProjectTable {
  std::string file;
  std::string name;     // of its totals
  std::string prefix;   // of the classes of its rows
  std::string device;   // column; "": rows are of one device
  std::string dtype;    // column
  std::string classes;  // column; "": the prefix alone
  bool held_out;        // are its rows divided one by one?
  std::string where;    // rows that count; "": all
};

// calib/validate/project_tables.yaml. UserError with file and line.
std::vector<ProjectTable> load_project_tables() {
  const fs::path path = data_root() / "calib" / "validate" / "project_tables.yaml";
  const Node root = parse_document(read_text_file(path), path.filename().string());
  root.only_keys({"tables"}, "");
  std::vector<ProjectTable> tables;
  for (const Node& item : root.required("tables", "").items) {
    item.only_keys({"file", "name", "prefix", "device", "dtype", "class", "divided", "where"},
                   "tables");
    const auto text = [&item](const char* key) {
      const Node* node = item.find(key);
      return node == nullptr ? "" : node->as_text(key);
    };
    const Node& divided = item.required("divided", "tables");
    const std::string& how = divided.as_text("divided");
    if (how != "rows" && how != "networks") {
      throw UserError(divided.where() +
                      ": divided: " + unknown_name("word", how, {"rows", "networks"}).what());
    }
    tables.push_back({item.required("file", "tables").as_text("file"),
                      item.required("name", "tables").as_text("name"),
                      item.required("prefix", "tables").as_text("prefix"), text("device"),
                      text("dtype"), text("class"), how == "rows", text("where")});
  }
  return tables;
}

const ProjectTable kNetworks = {"calib/validate/gpu_networks.csv",
                                "networks on GPUs",
                                "network, ",
                                "system",
                                "compute_dtype",
                                "phase",
                                false,
                                ""};
const ProjectTable kCpu = {
    "measurements.jsonl.gz", "CPU operators", "", "", "dtype", "class", true, ""};

// As the project spells it; rows of networks name systems.
std::string device_name(const std::string& cell) {
  const auto& catalog = kept<GpuCatalog>();
  return catalog.has_system(cell) ? catalog.find_system(cell) : cell;
}

// The device of the records in the file. UserError unless they were measured on a machine like
// `system`.
std::string measured_device(const std::string& path, const std::string& system) {
  InputFile file(path);
  std::string line;
  file.read_line(line);
  const Measurement first = parse_measurement(line, path + ":1");
  if (system.empty()) {
    check_measured_here(first.provenance.machine, CpuCatalog().load(kHostSystem).spec);
  }
  return first.device;
}

// Folders below calib/data with records, by name; none where the data are installed without them.
std::vector<fs::path> measured_machines() {
  std::vector<fs::path> machines;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(data_root() / "calib" / "data", error)) {
    if (fs::exists(entry.path() / kCpu.file)) machines.push_back(entry.path());
  }
  std::sort(machines.begin(), machines.end());
  return machines;
}

// Adds up the reports of tables.
class ProjectReport {
 public:
  explicit ProjectReport(std::size_t worst) : worst_(worst) {
    report_.group_columns = {"device", "dtype", "class"};
  }

  // `only_device`: of tables without a column for it.
  void add(const ProjectTable& table, AccuracyReport part, const std::string& only_device = "") {
    const auto group_of = [&](const std::vector<std::string>& cells) {
      std::size_t at = 0;
      const auto next = [&](const std::string& column) {
        return column.empty() ? std::string() : cells.at(at++);
      };
      const std::string device = next(table.device);
      const std::string dtype = next(table.dtype);
      return std::vector<std::string>{device.empty() ? only_device : device_name(device), dtype,
                                      table.prefix + next(table.classes)};
    };
    for (AccuracyRow& row : part.groups) {
      row.group = group_of(row.group);
      report_.groups.push_back(std::move(row));
    }
    for (AccuracyRow& row : part.overall) {
      row.quantity = fmt::format("{}: {}", table.name, row.quantity);
      report_.overall.push_back(std::move(row));
    }
    for (auto* samples : {&part.samples, &part.worst}) {
      for (Sample& sample : *samples) sample.group = group_of(sample.group);
    }
    for (Sample& sample : part.worst) {
      sample.row = fs::path(table.file).filename().string() + ": " + sample.row;
    }
    const auto append = [](auto& to, auto& from) {
      to.insert(to.end(), std::make_move_iterator(from.begin()),
                std::make_move_iterator(from.end()));
    };
    append(report_.samples, part.samples);
    append(report_.worst, part.worst);
    append(report_.parts, part.parts);
    report_.rows += part.rows;
    report_.failed += part.failed;
    report_.refused += part.refused;
    for (const std::string& note : part.notes) this->note(table, note);
  }

  void note(const ProjectTable& table, const std::string& text) {
    report_.notes.push_back(table.name + ": " + text);
  }

  AccuracyReport finish() {
    const auto error = [](const Sample& sample) { return relative_error(sample.comparison); };
    std::stable_sort(
        report_.worst.begin(), report_.worst.end(),
        [&](const Sample& a, const Sample& b) { return std::abs(error(a)) > std::abs(error(b)); });
    if (report_.worst.size() > worst_) report_.worst.resize(worst_);
    std::stable_sort(report_.groups.begin(), report_.groups.end(),
                     [](const AccuracyRow& a, const AccuracyRow& b) { return a.group < b.group; });
    return std::move(report_);
  }

 private:
  std::size_t worst_;
  AccuracyReport report_;
};

}  // namespace

AccuracyReport accuracy_of_project(const AccuracyQuestion& question, const Session& session) {
  if (!question.by.empty() || !question.where.empty() || question.latest) {
    throw UserError(
        "--all groups by device, data type and class; --by, --where and --latest are "
        "of single tables");
  }
  ProjectReport report(question.worst);
  const auto add = [&](const ProjectTable& table, const fs::path& path) {
    AccuracyQuestion one = question;
    one.table = path.string();
    one.held_out = table.held_out;
    one.parts_of = table.name;
    if (!table.where.empty()) one.where.push_back(table.where);
    one.system.clear();
    for (const std::string* column : {&table.device, &table.dtype, &table.classes}) {
      if (!column->empty()) one.by.push_back(*column);
    }
    report.add(table, accuracy_of_table(one, session));
  };
  const fs::path folder = measured_data_folder();
  for (const ProjectTable& table : load_project_tables()) {
    const fs::path path = folder / table.file;
    if (!folder.empty() && fs::exists(path)) {
      add(table, path);
    } else {
      report.note(table,
                  fmt::format("left out; FORETELL_DATA names no folder with {}", table.file));
    }
  }
  add(kNetworks, data_root() / kNetworks.file);
  for (const fs::path& machine : measured_machines()) {
    try {
      AccuracyQuestion one = question;
      one.table = (machine / kCpu.file).string();
      const std::string device = measured_device(one.table, question.system);
      one.held_out = true;
      one.parts_of = kCpu.name;
      one.by = {kCpu.dtype, kCpu.classes};
      report.add(kCpu, accuracy_of_table(one, session), device);
    } catch (const UserError& error) {
      report.note(kCpu, std::string("left out; ") + error.what());
    }
  }
  return report.finish();
}

}  // namespace foretell
