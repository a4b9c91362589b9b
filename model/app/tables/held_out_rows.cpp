#include "model/app/tables/held_out_rows.hpp"

#include "calib/fit/row_division.hpp"
#include "model/app/tables/kinds/kernel_rows.hpp"
#include "model/app/tables/kinds/power_rows.hpp"
#include "model/app/tables/row_parts.hpp"
#include "model/base/errors.hpp"

namespace foretell {
bool is_held_out_collective(std::int64_t ranks) { return ranks == 4; }

bool collective_makes_interval(const GpuCollectiveShape& shape) {
  return makes_interval(static_cast<std::int64_t>(shape.bytes.value()), shape.ranks);
}

std::pair<std::int64_t, std::int64_t> operator_family(const OperatorRow& row) {
  if (row.op->kind == OperatorKind::kPass) return {row.columns, 1};
  return {row.product.n, row.product.k};
}

bool is_held_out_operator(const OperatorRow& row) {
  constexpr std::int64_t kUnit = 32;  // of the hash
  const auto [a, b] = operator_family(row);
  return row.op->kind == OperatorKind::kPass ? is_held_out_family(a * kUnit, b * kUnit)
                                             : is_held_out_family(a, b);
}

bool operator_makes_interval(const OperatorRow& row) {
  const auto [a, b] = operator_family(row);
  return makes_interval(a, b);
}

RowTest held_out_test(const TableLayout& layout, const CsvRow& header) {
  switch (layout.kind) {
    case TableKind::kGemm:
    case TableKind::kAttention:
    case TableKind::kOperator:
      return [of = row_part(layout, header)](const CsvRow& row) { return of(row) != Part::kFit; };
    case TableKind::kCollective: {
      const NamedCells cells(header);
      // Without the limits of one kind of device: links of NeuronCores join more than eight.
      return [cells](const CsvRow& row) {
        constexpr std::int64_t kMostRanks = 1 << 20;
        const char* ranks = cells.text(row, "n_gpus").empty() ? "n_ranks" : "n_gpus";
        return is_held_out_collective(cells.count(row, ranks, 2, kMostRanks));
      };
    }
    case TableKind::kLayerKernels:
    case TableKind::kAttentionBlocks:
    case TableKind::kEnergyRuns:
    case TableKind::kPower:
      return part_test(layout, header, Part::kJudge);
    default:
      throw UserError("--held-out: tables of kind " + layout.name +
                      " are not divided row by row; leave it out");
  }
}

RowTest judges_interval_test(const TableLayout& layout, const CsvRow& header) {
  // Intervals of these are made from the families that are fitted to, each left out in turn.
  if (layout.kind == TableKind::kLayerKernels || layout.kind == TableKind::kAttentionBlocks) {
    return held_out_test(layout, header);
  }
  if (layout.kind == TableKind::kModels || layout.kind == TableKind::kServing ||
      layout.kind == TableKind::kEnergyRuns)
    return [](const CsvRow&) { return true; };
  const NamedCells cells(header);
  const RowTest held_out = held_out_test(layout, header);
  const auto makes = [kind = layout.kind, cells](const CsvRow& row) {
    switch (kind) {
      case TableKind::kGemm:
        return makes_interval(cells.count(row, "n", 1, kMaxGemmSide),
                              cells.count(row, "k", 1, kMaxGemmSide));
      case TableKind::kAttention: {
        const AttentionShape shape = read_attention_row(cells, row).shape;
        return makes_interval(shape.heads, shape.key_heads, shape.head_dim);
      }
      case TableKind::kCollective:
        return collective_makes_interval(read_collective_row(cells, row).shape);
      case TableKind::kPower:
        return makes_power_interval(read_power_row(cells, row).family);
      default:
        return operator_makes_interval(read_operator_row(cells, row));
    }
  };
  return [held_out, makes](const CsvRow& row) { return held_out(row) && !makes(row); };
}

}  // namespace foretell
