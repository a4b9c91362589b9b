#include "model/app/command/calibrate/readable_rows.hpp"

#include <fmt/format.h>

#include <functional>
#include <map>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/app/request/device_family.hpp"
#include "model/app/tables/attention_block_rows.hpp"
#include "model/app/tables/kernel_rows.hpp"
#include "model/app/tables/layer_table_rows.hpp"
#include "model/app/tables/row_filter.hpp"
#include "model/app/tables/table_request.hpp"
#include "model/base/errors.hpp"
#include "model/timing/gpu/gemm_library.hpp"

namespace foretell {
namespace {

// Reads a row as what uses it does; UserError for one that it refuses.
using Check = std::function<void(const CsvRow&)>;

// Operators of a CPU are read as the records that they were.
Check cpu_check(const MeasuredTable& table) {
  for (const char* column : {"system", "threads"}) {
    if (has_column(table.header, column)) continue;
    throw UserError(fmt::format(
        "1: no column {}: a table of operators is of GPUs, in a column gpu (`foretell list "
        "devices`), or of a CPU, in the columns system, op, dtype, threads and those of the shape, "
        "as `foretell calibrate measure --device cpu` records them",
        column));
  }
  return [](const CsvRow&) {};
}

Check operator_check(const MeasuredTable& table) {
  if (!has_column(table.header, "gpu")) return cpu_check(table);
  return [cells = NamedCells(table.header)](const CsvRow& row) {
    const OperatorRow read = read_operator_row(cells, row);
    if (read.op->kind != OperatorKind::kPass) gemm_type(read.dtype);
  };
}

Check check_of(const MeasuredTable& table) {
  const NamedCells cells(table.header);
  switch (table.kind) {
    case TableKind::kGemm:
      return [cells](const CsvRow& row) { gemm_type(read_gemm_row(cells, row).dtype); };
    case TableKind::kAttention:
      return [cells](const CsvRow& row) { read_attention_row(cells, row); };
    case TableKind::kCollective:
      return [cells](const CsvRow& row) { read_collective_row(cells, row); };
    case TableKind::kOperator:
      return operator_check(table);
    case TableKind::kLayerKernels: {
      const LayerKind kind = layer_kind_of(recognise_table(table.header, table.name));
      return [cells, kind](const CsvRow& row) { read_layer_row(kind, cells, row); };
    }
    case TableKind::kAttentionBlocks:
      return [cells](const CsvRow& row) { read_attention_block_row(cells, row); };
    case TableKind::kModels:
      return [reader = RowReader(recognise_table(table.header, table.name), table.header, {})](
                 const CsvRow& row) { check_names(reader.request(row)); };
    case TableKind::kServing:
    case TableKind::kPower:
    case TableKind::kEnergyRuns:
      break;
  }
  return [](const CsvRow&) {};
}

}  // namespace

std::vector<std::string> unreadable_rows(const MeasuredTable& table, const std::string& path) {
  if (table.name.find(".other") != std::string::npos) return {};
  Check check;
  try {
    check = check_of(table);
  } catch (const UserError& error) {
    return {path + ":" + error.what()};
  }
  const GpuCatalog catalog;
  std::vector<std::pair<std::string, std::size_t>> problems;  // with the row of the first
  std::map<std::string, std::size_t> more;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    try {
      if (const std::string gpu = table.cell(i, "gpu"); !gpu.empty()) catalog.find_system(gpu);
      check(table.rows[i]);
    } catch (const UserError& error) {
      const auto [known, is_new] = more.emplace(error.what(), 0);
      if (is_new) {
        problems.emplace_back(error.what(), i);
      } else {
        ++known->second;
      }
    }
  }
  std::size_t unreadable = problems.size();
  for (const auto& [problem, count] : more) unreadable += count;
  // Some published networks are always of a kind that is not modelled.
  if (table.kind == TableKind::kModels && unreadable < table.rows.size()) return {};
  std::vector<std::string> texts;
  for (const auto& [problem, row] : problems) {
    texts.push_back(fmt::format("{}:{}: {}", path, table.lines[row], problem));
    if (more[problem] > 0) texts.back() += fmt::format(" (and {} more rows)", more[problem]);
  }
  return texts;
}

}  // namespace foretell
