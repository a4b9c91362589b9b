// `foretell calibrate fit`, and what it does for the kernels of a GPU, one function per kind of
// table. Each fits every table of factors of the device that the command names, judges it on rows
// that are held out, and writes a file in <output>, in which tables that were not fitted stay.
// Returns the exit code. UserError for cells that are wrong and when no row is of the device.
#pragma once

#include <string>
#include <vector>

#include "calib/import/read_measurements.hpp"
#include "calib/validate/table_kind.hpp"
#include "model/app/terminal/session.hpp"

namespace foretell {

class FitOutput;
struct PooledTasks;

// The options of the command as they were written; "" takes the default.
struct FitCommand {
  std::string device;  // "host" and systems with a CPU among them
  std::string table;
  std::string measurements;  // of CPUs and GPUs: records, a line of JSON each
  std::string plan;
  std::string split;
  std::string output;     // folder of factors
  std::string framework;  // of GPUs; "": all in the table
  std::string dtype;      // the same
  std::string starts = "4";
  std::string seed = "1";
  std::string jobs;           // processes, each with a table; "": one per processor
  bool keep_factors = false;  // judge what is there again instead of fitting
  bool only_sharing = false;  // only tables that are like another
  std::string pool;           // points that a table may lose; "": tables one by one
  std::string pool_mean;      // points that their mean may lose; "": none
  std::string format = "table";
  FitOutput* output_lines = nullptr;  // what is said; required
  PooledTasks* pooled = nullptr;      // of all chips; required with `pool`
};

// Matrix products, by framework and type; judged on the families held out: gpu/gemm/<device>.yaml.
int calibrate_gemm(const FitCommand& command, const Session& session);
// The same of the rows of tables that one machine measured, few of them: around the factors of the
// nearest kernels.
int calibrate_gemm(const FitCommand& command, const std::vector<MeasuredTable>& measured,
                   const Session& session);

// By framework, whose names begin as the command's says, phase and types; judged on the
// configurations of heads held out: gpu/attention/<device>.yaml.
int calibrate_attention(const FitCommand& command, const Session& session);

// Between the GPUs of a node: the newest version of every library; gpu/collective/<device>.yaml.
int calibrate_collective(const FitCommand& command, const Session& session);

// Single operators, by framework, family and type; gpu/operator/<device>.yaml.
int calibrate_operator(const FitCommand& command, const Session& session);
// The same of measurements that were imported; fewer rows do for a table.
int calibrate_operator(const FitCommand& command, const MeasuredTable& table,
                       const Session& session);

// The kernels of today's language models: experts, latent attention, its absorbed products,
// state-space layers, the exchange between experts. Never reads the vault;
// gpu/<kind>/<device>.yaml.
int calibrate_layer(const TableLayout& layout, const FitCommand& command, const Session& session);

// Whole layers of attention: what a library adds to the kernels of their operators
// (calib/fitted/gpu/attention_block_factors.hpp). Never reads the vault;
// gpu/attention_block/<device>.yaml.
int calibrate_block(const FitCommand& command, const Session& session);

// The energies per operation and byte, from board watts. Rows of families that judge make the
// interval (half of them) and are reported (the other half); those of the vault stay closed:
// energy/<device>.yaml.
int calibrate_power(const FitCommand& command, const Session& session);

// `command.table` are records of calibrate measure or a table that calibrate import wrote. Products
// of matrices are fitted by library and type, around the factors of the nearest chip; tables of
// attention, operators and collectives go the way of published ones. UserError for measurements
// without provenance, that cannot be or contradict each other, and for too few of them.
int calibrate_measured(const FitCommand& command, const Session& session);

// For a CPU, from measurements of it: fits the factors to a part of the shapes, judges them on the
// others, and writes <output>/cpu/<device of the records>.yaml.
int calibrate_cpu(const FitCommand& command, const Session& session);

}  // namespace foretell
