#include "calib/import/record_tables.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "reports/record/text_file.hpp"

namespace foretell {
namespace {

using Cells = std::map<std::string, std::string>;

// Columns in the order in which they are written; others follow by name.
const std::vector<std::string>& column_order() {
  static const std::vector<std::string> kOrder = {
      "gpu",    "system",  "framework", "version",   "op",          "dtype",      "b",
      "m",      "n",       "k",         "rows",      "cols",        "conv",       "latency_us",
      "spread", "repeats", kMeasuredBy, kMeasuredOn, kMeasuredDate, kMeasuredWith};
  return kOrder;
}

bool is(const Measurement& record, const char* state, const char* value) {
  const auto found = record.states.find(state);
  return found != record.states.end() && found->second == value;
}

// "": as tables of products are collected: a graph, rotating weights, a short burst.
std::string conditions_of(const Measurement& record) {
  std::string name;
  if (is(record, "weights", "warm")) name += ".warm";
  if (is(record, "launch", "stream")) name += ".stream";
  if (is(record, "load", "sustained")) name += ".sustained";
  return name;
}

std::int64_t size_of(const Measurement& record, const char* field, const std::string& where) {
  for (const auto& [name, size] : record.shape) {
    if (name == field) return size;
  }
  throw UserError(where + ": " + field + ": is missing");
}

// "cuBLASLt 13.1.0, cuDNN 9.19.0": products are those of the first.
struct Library {
  std::string name;  // as in hw/kernels
  std::string version;
};

Library product_library(const std::string& software) {
  const std::string first = software.substr(0, software.find(','));
  const std::size_t space = std::min(first.find(' '), first.size());
  return {to_lower(first.substr(0, space)), std::string(trim(first.substr(space)))};
}

std::string convolution_text(const Measurement& record, const std::string& where) {
  const auto size = [&](const char* field) {
    return std::to_string(size_of(record, field, where));
  };
  if (size("height") != size("width")) throw UserError(where + ": the image is not square");
  return "ci" + size("channels") + " co" + size("filters") + " k" + size("kernel") + " s" +
         size("height") + " st" + size("stride") + " p" + size("padding");
}

// Reads one record into the part and the cells that it belongs to.
class Sorter {
 public:
  void add(const Measurement& record, const std::string& where, std::size_t line) {
    const bool is_gpu = catalog_.has_system(record.device);
    Cells cells = common(record, is_gpu);
    std::string part = "operator";
    if (record.op == "gemm" && is_gpu) {
      part = "gemm";
      const Library library = product_library(record.provenance.software);
      cells["framework"] = library.name;
      cells["version"] = library.version;
      // Tables call products whose activations are quantised in a pass of their own fp8.
      if (record.dtype == "fp8") cells["dtype"] = "fp8_static";
      sizes(record, cells);
    } else if (record.op == "conv" && size_of(record, "groups", where) == 1) {
      cells["op"] = "conv";
      const bool is_short = std::any_of(record.shape.begin(), record.shape.end(),
                                        [](const auto& size) { return size.first == "b"; });
      cells["b"] = std::to_string(size_of(record, is_short ? "b" : "batch", where));
      cells["conv"] = convolution_text(record, where);
    } else {
      cells["op"] = record.op == "batched_gemm" ? "bmm" : record.op;
      sizes(record, cells);
      static const std::set<std::string> kOperators = {"gemm",    "batched_gemm", "add",   "gelu",
                                                       "softmax", "layer_norm",   "gather"};
      if (kOperators.count(record.op) == 0) part = "operator.other";
    }
    part += conditions_of(record);
    parts_[part].emplace_back(std::move(cells), line);
  }

  std::vector<MeasuredTable> tables() const {
    std::vector<MeasuredTable> tables;
    for (const auto& [name, rows] : parts_) tables.push_back(table_of(name, rows));
    return tables;
  }

 private:
  using Rows = std::vector<std::pair<Cells, std::size_t>>;

  static void sizes(const Measurement& record, Cells& cells) {
    for (const auto& [name, size] : record.shape) cells[name] = std::to_string(size);
  }

  static Cells common(const Measurement& record, bool is_gpu) {
    Cells cells;
    cells[is_gpu ? "gpu" : "system"] = record.device;
    cells["framework"] = is_gpu ? "cuda" : "";
    cells["dtype"] = record.dtype;
    cells["latency_us"] = to_text(record.latency_us);
    cells["spread"] = to_text(record.spread);
    cells["repeats"] = std::to_string(record.repeats);
    for (const auto& [name, value] : record.readings) cells[name] = value ? to_text(*value) : "";
    for (const auto& [name, value] : record.states) cells[name] = value;
    cells[kMeasuredBy] = record.provenance.source;
    cells[kMeasuredOn] = record.provenance.machine;
    cells[kMeasuredDate] = record.provenance.date;
    cells[kMeasuredWith] = record.provenance.software;
    return cells;
  }

  static MeasuredTable table_of(const std::string& name, const Rows& rows) {
    MeasuredTable table;
    table.name = name;
    table.kind = starts_with(name, "gemm") ? TableKind::kGemm : TableKind::kOperator;
    std::set<std::string> used;
    for (const auto& [cells, line] : rows) {
      for (const auto& cell : cells) used.insert(cell.first);
    }
    for (const std::string& column : column_order()) {
      if (used.erase(column) > 0) table.header.push_back(column);
    }
    table.header.insert(table.header.end(), used.begin(), used.end());
    for (const auto& [cells, line] : rows) {
      CsvRow row;
      for (const std::string& column : table.header) {
        const auto cell = cells.find(column);
        row.push_back(cell == cells.end() ? "" : cell->second);
      }
      table.rows.push_back(std::move(row));
      table.lines.push_back(line);
    }
    return table;
  }

  GpuCatalog catalog_;
  std::map<std::string, Rows> parts_;
};

}  // namespace

std::vector<MeasuredTable> record_tables(const std::string& path,
                                         std::vector<std::string>& problems) {
  InputFile file(path);
  Sorter sorter;
  std::string line;
  for (std::size_t number = 1; file.read_line(line); ++number) {
    if (trim(line).empty()) continue;
    const std::string where = path + ":" + std::to_string(number);
    try {
      sorter.add(parse_measurement(line, where), where, number);
    } catch (const UserError& error) {
      problems.emplace_back(error.what());
    }
  }
  return sorter.tables();
}

}  // namespace foretell
