// `foretell calibrate fit` for the kernels of a GPU, one function per kind of table. Each fits
// every table of factors of the device that the command names, judges it on rows that are held out,
// and writes a file in <output>, in which tables that were not fitted stay. Returns the exit code.
// UserError for cells that are wrong and when no row is of the device.
#pragma once

#include <string>
#include <vector>

#include "calib/import/read_measurements.hpp"
#include "calib/validate/table_kind.hpp"
#include "model/app/terminal/session.hpp"

namespace foretell {

class FitOutput;
struct PooledTasks;

// Raw text of the options; "" takes the default.
struct KernelFitCommand {
  std::string device;
  std::string table;
  std::string plan;
  std::string output;     // folder of factors
  std::string framework;  // "": all in the table
  std::string dtype;      // "": all in the table
  std::string seed;
  bool keep_factors = false;          // judge what is there again instead of fitting
  std::string jobs;                   // processes, each with a table; "": one per processor
  FitOutput* output_lines = nullptr;  // what is said; required
  bool only_sharing = false;          // only tables that are like another
  std::string pool = {};              // points that a table may lose; "": tables one by one
  std::string pool_mean = {};         // points that their mean may lose; "": none
  PooledTasks* pooled = nullptr;      // of all chips; required with `pool`
};

// Matrix products, by framework and type; judged on the families held out: gpu/gemm/<device>.yaml.
int calibrate_gemm(const KernelFitCommand& command, const Session& session);
// The same of the rows of tables that one machine measured, few of them: around the factors of the
// nearest kernels.
int calibrate_gemm(const KernelFitCommand& command, const std::vector<MeasuredTable>& measured,
                   const Session& session);

// By framework, whose names begin as the command's says, phase and types; judged on the
// configurations of heads held out: gpu/attention/<device>.yaml.
int calibrate_attention(const KernelFitCommand& command, const Session& session);

// Between the GPUs of a node: the newest version of every library; gpu/collective/<device>.yaml.
int calibrate_collective(const KernelFitCommand& command, const Session& session);

// Single operators, by framework, family and type; gpu/operator/<device>.yaml.
int calibrate_operator(const KernelFitCommand& command, const Session& session);
// The same of measurements that were imported; fewer rows do for a table.
int calibrate_operator(const KernelFitCommand& command, const MeasuredTable& table,
                       const Session& session);

// The kernels of today's language models: experts, latent attention, its absorbed products,
// state-space layers, the exchange between experts. Never reads the vault;
// gpu/<kind>/<device>.yaml.
int calibrate_layer(const TableLayout& layout, const KernelFitCommand& command,
                    const Session& session);

// Whole layers of attention: what a library adds to the kernels of their operators
// (calib/fitted/gpu/attention_block_factors.hpp). Never reads the vault;
// gpu/attention_block/<device>.yaml.
int calibrate_block(const KernelFitCommand& command, const Session& session);

// The energies per operation and byte, from board watts. Rows of families that judge make the
// interval (half of them) and are reported (the other half); those of the vault stay closed:
// energy/<device>.yaml.
int calibrate_power(const KernelFitCommand& command, const Session& session);

// `command.table` are records of calibrate measure or a table that calibrate import wrote. Products
// of matrices are fitted by library and type, around the factors of the nearest chip; tables of
// attention, operators and collectives go the way of published ones. UserError for measurements
// without provenance, that cannot be or contradict each other, and for too few of them.
int calibrate_measured(const KernelFitCommand& command, const Session& session);

}  // namespace foretell
