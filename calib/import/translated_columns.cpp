#include "calib/import/translated_columns.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr const char* kProduct = "gemm";

// What others call a column, by what it is called here.
const std::map<std::string, std::vector<std::string>>& other_names() {
  static const std::map<std::string, std::vector<std::string>> kNames = {
      {"gpu", {"device", "gpu_name", "gpu_type", "device_name", "accelerator", "chip", "hardware"}},
      {"op", {"operator", "op_name", "operation"}},
      {"dtype", {"data_type", "datatype", "precision"}},
      {"rows", {"n_rows", "num_rows"}},
      {"cols", {"columns", "n_cols", "num_cols"}},
      {"n_ranks", {"ranks", "world_size", "num_gpus"}},
      {"latency_us", {"time_us", "duration_us", "latency_usec", "us"}},
      {"latency_ms", {"time_ms", "duration_ms"}},
      {"latency_s", {"time_s", "duration_s", "latency_sec"}},
      {"latency_ns", {"time_ns", "duration_ns"}}};
  return kNames;
}

bool has_name(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::size_t column_place(const CsvRow& header, const std::string& column) {
  return static_cast<std::size_t>(std::find(header.begin(), header.end(), column) - header.begin());
}

// "Data Type" as "data_type".
std::string plain_name(const std::string& column) {
  std::string text = to_lower(std::string(trim(column)));
  for (char& letter : text) {
    if (letter == ' ' || letter == '-') letter = '_';
  }
  return text;
}

// The columns by which kinds of tables are distinguished.
std::set<std::string> required_columns() {
  std::set<std::string> all = {"b", "m", "n", "k", "conv"};
  for (const TableLayout& layout : table_layouts()) {
    all.insert(layout.required.begin(), layout.required.end());
  }
  for (const auto& [name, others] : other_names()) all.insert(name);
  return all;
}

// Whether the header is that of a kind in which this column has a meaning of its own.
bool is_own(const CsvRow& header, const std::string& column) {
  const std::vector<TableLayout>& layouts = table_layouts();
  return std::any_of(layouts.begin(), layouts.end(), [&](const TableLayout& layout) {
    const auto stands = [&](const std::string& name) { return has_name(header, name); };
    return has_name(layout.required, column) &&
           std::all_of(layout.required.begin(), layout.required.end(), stands);
  });
}

// What a column is called here; "" for one that no kind reads, or that the header has already.
std::string meant_name(const CsvRow& header, const std::string& column) {
  static const std::set<std::string> kRequired = required_columns();
  const std::string name = plain_name(column);
  for (const auto& [ours, others] : other_names()) {
    if (!has_name(others, name) || has_name(header, ours)) continue;
    // A device may be a system as well, and is one already then.
    if (ours == "gpu" && has_name(header, "system")) continue;
    return ours;
  }
  return kRequired.count(name) > 0 && !has_name(header, name) ? name : "";
}

// The columns of a convolution, "ci3 co64 k7 s224 st2 p3"; "" where one is missing.
std::string convolution_of(const MeasuredTable& table, std::size_t row) {
  std::string text;
  const std::pair<const char*, const char*> parts[] = {{"ci", "channels"}, {"co", "filters"},
                                                       {"k", "kernel"},    {"s", "height"},
                                                       {"st", "stride"},   {"p", "padding"}};
  for (const auto& [key, column] : parts) {
    const std::string size = table.cell(row, column);
    if (size.empty()) return "";
    text += (text.empty() ? "" : " ") + std::string(key) + size;
  }
  return text;
}

// Adds a column where it is missing; its place.
std::size_t added_column(MeasuredTable& table, const std::string& column) {
  if (!has_name(table.header, column)) {
    table.header.push_back(column);
    for (CsvRow& row : table.rows) row.emplace_back();
  }
  return column_place(table.header, column);
}

void rename_column(MeasuredTable& table, const std::string& from, const std::string& to) {
  if (has_name(table.header, from) && !has_name(table.header, to)) {
    table.header[column_place(table.header, from)] = to;
  }
}

// The rows for which `wanted`, without column `but` and without columns that are empty in them.
template <class Wanted>
MeasuredTable rows_for(const MeasuredTable& table, const std::string& but, const Wanted& wanted) {
  MeasuredTable part = table;
  part.rows.clear();
  part.lines.clear();
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (!wanted(i)) continue;
    part.rows.push_back(table.rows[i]);
    part.lines.push_back(table.lines[i]);
  }
  for (std::size_t column = part.header.size(); column-- > 0;) {
    const bool is_empty = std::all_of(part.rows.begin(), part.rows.end(),
                                      [&](const CsvRow& row) { return row[column].empty(); });
    if (part.header[column] != but && !is_empty) continue;
    const auto place = static_cast<CsvRow::difference_type>(column);
    part.header.erase(part.header.begin() + place);
    for (CsvRow& row : part.rows) row.erase(row.begin() + place);
  }
  return part;
}

}  // namespace

std::vector<std::string> translate_columns(CsvRow& header) {
  std::vector<std::string> renamed;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const std::string before = header[i];
    if (is_own(header, before)) continue;
    const std::string name = meant_name(header, before);
    if (name.empty()) continue;
    header[i] = name;
    renamed.push_back(before + " as " + name);
  }
  return renamed;
}

std::string translated_dtype(const std::string& text) {
  static const std::map<std::string, std::string> kTypes = {
      {"float16", "fp16"}, {"half", "fp16"},        {"f16", "fp16"}, {"bfloat16", "bf16"},
      {"float32", "fp32"}, {"float", "fp32"},       {"f32", "fp32"}, {"tensorfloat32", "tf32"},
      {"e4m3", "fp8"},     {"float8_e4m3fn", "fp8"}};
  std::string name = to_lower(std::string(trim(text)));
  if (starts_with(name, "torch.")) name.erase(0, std::string("torch.").size());
  const auto found = kTypes.find(name);
  return found == kTypes.end() ? name : found->second;
}

std::vector<MeasuredTable> divided_operators(MeasuredTable table) {
  const GpuCatalog catalog;
  // Operators of a CPU say on how many threads they ran.
  if (has_name(table.header, "threads") && !table.rows.empty() &&
      !catalog.has_system(table.cell(0, "gpu"))) {
    rename_column(table, "gpu", "system");
  }
  rename_column(table, "batch", "b");
  const bool on_gpus = has_name(table.header, "gpu");
  const std::size_t op = column_place(table.header, "op");
  if (on_gpus && has_name(table.header, "channels")) {
    const std::size_t conv = added_column(table, "conv");
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      if (table.rows[i][conv].empty()) table.rows[i][conv] = convolution_of(table, i);
    }
  }
  std::size_t products = 0;
  for (CsvRow& row : table.rows) {
    row[op] = to_lower(std::string(trim(row[op])));
    if (row[op] == "batched_gemm" || row[op] == "bgemm") row[op] = "bmm";
    if (row[op] == "mm") row[op] = kProduct;
    if (on_gpus && row[op] == kProduct) ++products;
  }
  if (products == 0) return {std::move(table)};
  const auto is_product = [&](std::size_t i) { return table.rows[i][op] == kProduct; };
  std::vector<MeasuredTable> parts = {rows_for(table, "op", is_product)};
  parts.front().kind = TableKind::kGemm;
  parts.front().name = kProduct;
  parts.front().notes.emplace_back("op gemm on a GPU as a table of kind gemm");
  if (products < table.rows.size()) {
    parts.push_back(rows_for(table, "", [&](std::size_t i) { return !is_product(i); }));
  }
  return parts;
}

}  // namespace foretell
