#include "model/app/tables/row_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <vector>

#include "calib/fit/row_division.hpp"
#include "model/app/tables/held_out_rows.hpp"
#include "model/app/tables/kinds/attention_block_rows.hpp"
#include "model/app/tables/kinds/energy_run_rows.hpp"
#include "model/app/tables/kinds/layer_table_rows.hpp"
#include "model/app/tables/kinds/power_rows.hpp"
#include "model/base/data_root.hpp"
#include "model/base/errors.hpp"
#include "model/base/measured_data.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr double kUsOfASecond = 1e6;

Part divided(bool held_out, const std::string& group) {
  if (!held_out) return Part::kFit;
  return part_of(group) == Part::kVault ? Part::kVault : Part::kJudge;
}

// "Org/BERT-Large" and "bert-large" are one network.
std::string plain_name(const std::string& network) {
  std::string name = network.substr(network.rfind('/') + 1);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return name;
}

bool is_named(const Split& split, const std::string& network) {
  for (const Side side : {Side::kFit, Side::kHeldOut, Side::kApart}) {
    const std::vector<std::string> names = split.networks(side);
    if (std::find(names.begin(), names.end(), network) != names.end()) return true;
  }
  return false;
}

const std::vector<Split>& all_splits() {
  static const std::vector<Split> kSplits = [] {
    std::vector<Split> splits;
    for (const char* file :
         {"neuron_split.yaml", "neuron_decode_split.yaml", "neuron_convolution_split.yaml"}) {
      splits.push_back(Split::load((data_root() / "calib" / "fit" / file).string()));
    }
    return splits;
  }();
  return kSplits;
}

// Tables by chip name networks as their sources do.
std::string network_of(const NamedCells& cells, const CsvRow& row) {
  const std::string network = cells.text(row, "workload");
  return network.empty() ? cells.text(row, "model") : network;
}

// What the points of a sweep over loads, lengths and divisions share.
std::string served_family(const NamedCells& cells, const CsvRow& row) {
  const std::string weights = cells.text(row, "dtype_weights");
  if (!weights.empty()) {  // one figure a row
    return fmt::format("{} {} {} {}", plain_name(cells.text(row, "model")), cells.text(row, "gpu"),
                       cells.text(row, "framework"), weights);
  }
  return fmt::format("{} {} {} {} {}", plain_name(cells.text(row, "model")), cells.text(row, "gpu"),
                     cells.text(row, "framework"), cells.text(row, "precision"),
                     cells.text(row, "mode"));
}

}  // namespace

Part gemm_part(std::int64_t n, std::int64_t k) {
  return divided(is_held_out_family(n, k), fmt::format("gemm n={},k={}", n, k));
}

Part attention_part(const AttentionShape& shape) {
  return divided(is_held_out_heads(shape.heads, shape.key_heads, shape.head_dim),
                 fmt::format("attention {} {} {}", shape.heads, shape.key_heads, shape.head_dim));
}

Part collective_part(const GpuCollectiveShape& shape) {
  return divided(is_held_out_collective(shape.ranks),
                 fmt::format("collective {} B", static_cast<std::int64_t>(shape.bytes.value())));
}

Part operator_part(const OperatorRow& row) {
  const auto [a, b] = operator_family(row);
  return divided(is_held_out_operator(row), fmt::format("operator {} {}", a, b));
}

Part network_part(const Split& split, const std::string& network) {
  if (!is_named(split, network)) return part_of(plain_name(network));
  return split.find(network).side == Side::kFit ? Part::kFit : Part::kJudge;
}

Part network_part(const std::string& network) {
  for (const Split& split : all_splits()) {
    if (is_named(split, network)) return network_part(split, network);
  }
  return part_of(plain_name(network));
}

std::string network_group(const std::string& network) {
  for (const Split& split : all_splits()) {
    if (is_named(split, network)) return split.find(network).architecture;
  }
  return plain_name(network);
}

RowPart row_part(const TableLayout& layout, const CsvRow& header) {
  const NamedCells cells(header);
  switch (layout.kind) {
    case TableKind::kGemm:
      return [cells](const CsvRow& row) {
        return gemm_part(cells.count(row, "n", 1, kMaxGemmSide),
                         cells.count(row, "k", 1, kMaxGemmSide));
      };
    case TableKind::kAttention:
      return [cells](const CsvRow& row) {
        return attention_part(read_attention_row(cells, row).shape);
      };
    case TableKind::kCollective:
      return [cells](const CsvRow& row) {
        return collective_part(read_collective_row(cells, row).shape);
      };
    case TableKind::kOperator:
      return [cells](const CsvRow& row) { return operator_part(read_operator_row(cells, row)); };
    case TableKind::kModels:
      return [cells](const CsvRow& row) { return network_part(network_of(cells, row)); };
    default:
      return [of = row_group(layout, header)](const CsvRow& row) { return part_of(of(row)); };
  }
}

RowGroup row_group(const TableLayout& layout, const CsvRow& header) {
  const NamedCells cells(header);
  switch (layout.kind) {
    case TableKind::kGemm:
      return
          [cells](const CsvRow& row) { return cells.text(row, "n") + " " + cells.text(row, "k"); };
    case TableKind::kAttention:
      return [cells](const CsvRow& row) {
        const AttentionShape shape = read_attention_row(cells, row).shape;
        return fmt::format("{} {} {}", shape.heads, shape.key_heads, shape.head_dim);
      };
    case TableKind::kCollective:
      return [cells](const CsvRow& row) { return cells.text(row, "bytes"); };
    case TableKind::kOperator:
      return [cells](const CsvRow& row) {
        const auto [a, b] = operator_family(read_operator_row(cells, row));
        return fmt::format("{} {}", a, b);
      };
    case TableKind::kLayerKernels:
      return [cells, kind = layer_kind_of(layout)](const CsvRow& row) {
        return layer_family(kind, cells, row);
      };
    case TableKind::kAttentionBlocks:
      return [cells](const CsvRow& row) { return attention_block_family(cells, row); };
    case TableKind::kPower:
      return [cells](const CsvRow& row) { return read_power_row(cells, row).family; };
    case TableKind::kEnergyRuns:
      return [cells](const CsvRow& row) { return energy_run_family(cells, row); };
    case TableKind::kServing:
      return [cells](const CsvRow& row) { return served_family(cells, row); };
    case TableKind::kModels:
      return [cells](const CsvRow& row) { return network_group(network_of(cells, row)); };
  }
  throw InternalError(__FILE__, __LINE__, "a kind of table without groups");
}

std::function<bool(const CsvRow&)> resolved_test(const TableLayout& layout, const CsvRow& header) {
  if (layout.kind != TableKind::kPower) return [](const CsvRow&) { return true; };
  return [cells = NamedCells(header)](const CsvRow& row) {
    return read_power_row(cells, row).latency.value() * kUsOfASecond >= kShortestPowerUs;
  };
}

std::function<bool(const CsvRow&)> part_test(const TableLayout& layout, const CsvRow& header,
                                             Part part) {
  const RowPart of = row_part(layout, header);
  const auto is_resolved = resolved_test(layout, header);
  return [of, part, is_resolved](const CsvRow& row) { return of(row) == part && is_resolved(row); };
}

namespace {

bool lies_in(const fs::path& file, const fs::path& folder) {
  const fs::path root = fs::weakly_canonical(folder);
  return std::mismatch(root.begin(), root.end(), file.begin(), file.end()).first == root.end();
}

// Is it one of the folder's files, under whatever path it was given?
bool is_copy_from(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    if (entry.path().filename() == file.filename() &&
        entry.file_size(error) == fs::file_size(file) &&
        read_text_file(entry.path()) == read_text_file(file)) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool is_project_table(const std::string& path) {
  const fs::path file = fs::weakly_canonical(path);
  std::vector<fs::path> folders = {data_root() / "calib"};
  if (!measured_data_folder().empty()) folders.push_back(measured_data_folder());
  return std::any_of(folders.begin(), folders.end(), [&](const fs::path& folder) {
    return lies_in(file, folder) || (fs::is_regular_file(file) && is_copy_from(file, folder));
  });
}

}  // namespace foretell
