// Which kinds of tables `predict` and `validate` read, and what they add to them.
#pragma once

#include <string>
#include <vector>

#include "reports/record/csv.hpp"

namespace foretell {

// Tokens of prompts and answers per second.
inline constexpr const char* kThroughputAllTokens = "throughput (input+output)";

enum class TableKind {
  kModels,
  kGemm,
  kAttention,
  kCollective,
  kOperator,
  kServing,
  kLayerKernels,
  kAttentionBlocks,
  kPower,
  kEnergyRuns
};

// A quantity that `validate` compares.
struct MeasuredColumn {
  std::string measured;   // "call_ms"
  std::string predicted;  // "pred_call_ms"
  std::string quantity;   // "call_ms"; as people are shown it
  // A reading of the column that only some rows allow: those whose `throughput_unit` contains this.
  std::string unit_part;
};

struct TableLayout {
  TableKind kind;
  std::string name;                      // "models"
  std::vector<std::string> required;     // columns that make a table one of this kind
  std::vector<MeasuredColumn> measured;  // what validate compares
  std::string low;                       // "pred_lo_ms"
  std::string high;
  std::vector<std::string> added;  // all columns added, in order; ends in status, message
  bool noted_conditions = false;   // the column `notes` says what was run, not what to know of it
};

const std::vector<TableLayout>& table_layouts();

// Watts and joules, of tables of networks and of services where they are asked for.
const std::vector<MeasuredColumn>& energy_quantities();

// The layout whose required columns all stand in the header; where several fit, the first of the
// list, which goes from the special to the general. UserError lists the kinds with their columns.
const TableLayout& recognise_table(const CsvRow& header, const std::string& path);

}  // namespace foretell
