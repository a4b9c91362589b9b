#include "calib/import/check_measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "calib/import/contradictions.hpp"
#include "calib/validate/left_out_rows.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/base/errors.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/base/text.hpp"
#include "model/timing/gpu/gemm_library.hpp"

namespace foretell {
namespace {

constexpr std::size_t kShownProblems = 20;
constexpr double kMicro = 1e-6;
constexpr double kMilli = 1e-3;
constexpr double kFarBelow = 1.3;    // faster than the peak by more than clocks explain
constexpr double kFarAbove = 300;    // slower than a whole table of large operators can be
constexpr double kLarge = 5e-6;      // seconds at the peak from which an operator is large
constexpr double kMinKernel = 2e-7;  // seconds; no GPU starts and ends a kernel faster
constexpr double kMinCall = 1e-6;    // seconds; no network is computed faster
constexpr double kSlowest = 1000;    // times that a product may take what the chip needs for it …
constexpr double kSlowFloor = 1e-3;  // … and seconds that it may take besides

// Above zero; nothing for every other cell.
std::optional<double> number(const std::string& text) {
  try {
    return read_measurement("", text);
  } catch (const UserError&) {
    return std::nullopt;
  }
}

const TableLayout& layout_of(const MeasuredTable& table) {
  for (const TableLayout& layout : table_layouts()) {
    if (layout.kind == table.kind) return layout;
  }
  throw InternalError(__FILE__, __LINE__, "a kind of table without a layout");
}

double size_of(const MeasuredTable& table, std::size_t row, const char* column, double otherwise) {
  const std::optional<double> size = number(table.cell(row, column));
  return size && *size > 0 ? *size : otherwise;
}

// Floating-point operations that a row cannot do without.
double flops_of(const MeasuredTable& table, std::size_t row) {
  const auto size = [&](const char* column, double otherwise) {
    return size_of(table, row, column, otherwise);
  };
  if (table.kind == TableKind::kAttention) {
    const bool context = table.cell(row, "phase") == "context";
    const double queries = context ? size("isl", 0) : 1;
    double keys = size("kv_len", context ? size("isl", 0) : 0);
    const double window = size("window", 0);
    if (window > 0) keys = std::min(keys, window);
    const double share = context ? 0.5 : 1;  // what a causal mask leaves at least
    return share * 4 * size("batch", 1) * size("heads", 0) * size("head_dim", 0) * queries * keys;
  }
  return 2 * size("b", 1) * size("m", 0) * size("n", 0) * size("k", 0);
}

// The type of the project by its name; nothing where there is none.
const GemmType* type_of(const std::string& name) {
  for (const GemmType& type : gemm_types()) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

// Bytes that a row cannot do without: the weights of a product, both sides of a pass over memory.
double bytes_of(const MeasuredTable& table, std::size_t row) {
  const GemmType* type = type_of(table.cell(row, "dtype"));
  if (type == nullptr) return 0;
  const auto size = [&](const char* column) { return size_of(table, row, column, 0); };
  if (table.kind == TableKind::kGemm) return size("n") * size("k") * type->weight_bytes;
  if (table.kind != TableKind::kOperator || table.cell(row, "op") == "gather") return 0;
  const double sides = table.cell(row, "op") == "reduce" ? 1 : 2;
  return sides * size("rows") * size("cols") * type->weight_bytes;
}

struct NamedDevices {
  GpuCatalog catalog;
  std::map<std::string, std::optional<GpuDeviceSpec>> by_name;
};

const GpuDeviceSpec* device_of(const std::string& name) {
  auto& [catalog, known] = kept<NamedDevices>();
  const auto [entry, is_new] = known.emplace(name, std::nullopt);
  if (is_new && catalog.has_system(name)) entry->second = catalog.load(name).spec.device;
  return entry->second ? &*entry->second : nullptr;
}

// FLOP/s; 0 when the chip or the type is not known.
double rate_of(const GpuDeviceSpec& device, const std::string& dtype) {
  const GemmType* type = type_of(dtype);
  if (type == nullptr) return 0;
  const auto matrix = device.matrix_rate.find(type->rate);
  const auto vector = device.vector_rate.find(type->rate);
  return std::max(matrix == device.matrix_rate.end() ? 0 : matrix->second,
                  vector == device.vector_rate.end() ? 0 : vector->second);
}

// Seconds that the chip needs for a product whose operands come from DRAM; 0 for all else.
double needed_seconds(const MeasuredTable& table, std::size_t row) {
  const GpuDeviceSpec* device = device_of(table.cell(row, "gpu"));
  if (device == nullptr || table.kind != TableKind::kGemm) return 0;
  const double rate = rate_of(*device, table.cell(row, "dtype"));
  if (!(rate > 0)) return 0;
  return std::max(flops_of(table, row) / rate,
                  bytes_of(table, row) / device->hbm.bandwidth.value());
}

class Checker {
 public:
  Checker(const MeasuredTable& table, const std::string& path, const ImportRules& rules)
      : table_(table),
        path_(path),
        rules_(rules),
        measured_(measured_columns(layout_of(table), table.header)) {}

  std::vector<std::string> problems() {
    check_times();
    check_units();
    check_contradictions();
    if (table_.rows.size() < rules_.least_rows) {
      const std::size_t rows = table_.rows.size();
      problems_.push_back(
          fmt::format("{}: {} has {} {}; fewer than {} determine no factor; --min-rows {} takes {}",
                      path_, table_.name, rows, rows == 1 ? "row" : "rows", rules_.least_rows, rows,
                      rows == 1 ? "it" : "them"));
    }
    return std::move(problems_);
  }

 private:
  void report(std::size_t row, const std::string& column, const std::string& problem) {
    problems_.push_back(fmt::format("{}:{}: {}: {}", path_, table_.lines[row], column, problem));
  }

  void check_times() {
    for (std::size_t row = 0; row < table_.rows.size(); ++row) {
      for (const std::string& column : measured_) {
        try {
          read_measurement(column, table_.cell(row, column));
        } catch (const UserError& error) {
          problems_.push_back(fmt::format("{}:{}: {}", path_, table_.lines[row], error.what()));
        }
      }
    }
  }

  void check_calls() {
    for (const char* column : {"call_ms", "ttft_ms", "tpot_ms"}) {
      for (std::size_t row = 0; row < table_.rows.size(); ++row) {
        const std::optional<double> ms = number(table_.cell(row, column));
        if (!ms || *ms * kMilli >= kMinCall) continue;
        report(row, column,
               fmt::format("{} ms cannot be: no network is that fast; expected milliseconds", *ms));
      }
    }
  }

  void check_units() {
    if (layout_of(table_).measured.front().measured != "latency_us") return check_calls();
    std::vector<double> ratios;                             // of large operators
    std::vector<std::pair<std::size_t, std::string>> slow;  // rows, and what is wrong with them
    for (std::size_t row = 0; row < table_.rows.size(); ++row) {
      const std::optional<double> us = number(table_.cell(row, "latency_us"));
      if (!us) continue;
      const double seconds = *us * kMicro;
      const double least = least_seconds(table_, row);
      if (seconds * kFarBelow < least) {
        report(row, "latency_us",
               fmt::format("{} us cannot be: at its peak the chip takes {:.3g} us; expected "
                           "microseconds",
                           *us, least / kMicro));
      } else if (const double needed = needed_seconds(table_, row);
                 needed > 0 && seconds > kSlowest * needed + kSlowFloor) {
        slow.emplace_back(
            row, fmt::format("{} us cannot be: the chip needs {:.3g} us; expected microseconds",
                             *us, needed / kMicro));
      } else if (device_of(table_.cell(row, "gpu")) != nullptr && seconds < kMinKernel) {
        report(row, "latency_us", fmt::format("{} us cannot be: no kernel is that short", *us));
      }
      if (least > kLarge) ratios.push_back(seconds / least);
    }
    std::sort(ratios.begin(), ratios.end());
    const double middle = ratios.empty() ? 0 : ratios[ratios.size() / 2];
    if (middle > kFarAbove) {
      problems_.push_back(fmt::format(
          "{}: large operators of {} take {:.0f} times as long as the chip needs at its "
          "peak; are these nanoseconds? expected microseconds",
          path_, table_.name, middle));
      return;
    }
    for (const auto& [row, problem] : slow) report(row, "latency_us", problem);
  }

  void check_contradictions() {
    Contradictions contradictions(layout_of(table_), table_.header, rules_.tolerance);
    for (std::size_t row = 0; row < table_.rows.size(); ++row) {
      for (const Contradiction& found : contradictions.add(table_.rows[row], table_.lines[row])) {
        report(row, found.column, found.difference);
      }
    }
  }

  const MeasuredTable& table_;
  const std::string& path_;
  const ImportRules& rules_;
  std::vector<std::string> measured_;
  std::vector<std::string> problems_;
};

}  // namespace

double least_seconds(const MeasuredTable& table, std::size_t row) {
  const GpuDeviceSpec* device = device_of(table.cell(row, "gpu"));
  if (device == nullptr) return 0;
  if (table.kind == TableKind::kCollective) {
    const double ranks = size_of(table, row, "n_ranks", size_of(table, row, "n_gpus", 1));
    const double rate = device->nvlink.bandwidth.value();
    if (!(rate > 0) || ranks < 2) return 0;
    // Each GPU has to receive what it does not have, at least its part of it.
    return size_of(table, row, "bytes", 0) / ranks / rate;
  }
  const double rate = rate_of(*device, table.cell(row, "dtype"));
  // What is read may be in L2 already, and what is written may still be there.
  const double beyond_l2 = bytes_of(table, row) - 2 * device->l2.capacity.value();
  return std::max(rate > 0 ? flops_of(table, row) / rate : 0,
                  beyond_l2 > 0 ? beyond_l2 / device->hbm.bandwidth.value() : 0);
}

std::vector<std::string> measurement_problems(const MeasuredTable& table, const std::string& path,
                                              const ImportRules& rules) {
  return Checker(table, path, rules).problems();
}

void refuse_problems(const std::vector<std::string>& problems, const std::string& ending) {
  if (problems.empty()) return;
  const std::size_t shown = std::min(problems.size(), kShownProblems);
  const auto end = problems.begin() + static_cast<std::ptrdiff_t>(shown);
  std::string text = join(std::vector<std::string>(problems.begin(), end), "\n");
  if (problems.size() > shown) text += fmt::format("\n… and {} more", problems.size() - shown);
  throw UserError(text + "\n" + ending);
}

}  // namespace foretell
