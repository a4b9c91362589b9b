#include "model/predict/rows/gemm_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hw/spec/gpu/kernel_library.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/unit_text.hpp"
#include "model/mapping/gpu/gemm.hpp"
#include "model/timing/gpu/tile_fit.hpp"

namespace foretell {
namespace {

constexpr std::string_view kRotate = "rotate:";
constexpr long long kMaxCopies = 1000000;

// The type of the table as one that the chip has, or an error that names the nearest that works.
void check_type(const GpuDeviceSpec& device, const GemmType& type) {
  try {
    dense_rate(device, type.rate);
  } catch (const UserError& error) {
    std::string working;
    double least = std::numeric_limits<double>::infinity();
    for (const GemmType& other : gemm_types()) {
      if (device.matrix_rate.count(other.rate) + device.vector_rate.count(other.rate) == 0)
        continue;
      const double apart = std::abs(std::log(other.activation_bytes / type.activation_bytes)) +
                           std::abs(std::log(other.weight_bytes / type.weight_bytes));
      if (apart < least) {
        least = apart;
        working = other.name;
      }
    }
    throw UserError(std::string(error.what()) +
                    (working.empty() ? "" : "; nearest that works is '" + working + "'"));
  }
}

}  // namespace

L2Choice parse_l2_choice(const std::string& text) {
  if (text.empty()) return {};
  if (text == "warm") return {L2Choice::Kind::kWarm, 1};
  if (starts_with(text, kRotate)) {
    const std::string copies = text.substr(kRotate.size());
    const bool is_number =
        !copies.empty() && copies.find_first_not_of("0123456789") == std::string::npos;
    if (is_number && copies.size() <= std::to_string(kMaxCopies).size()) {
      const long long number = parse_integer(copies);
      if (number >= 1 && number <= kMaxCopies)
        return {L2Choice::Kind::kRotate, static_cast<int>(number)};
    }
  }
  throw UserError("--l2: '" + text +
                  "' is not allowed; write warm, or rotate:N for N copies of "
                  "the weights that are used in turn");
}

LaunchKind parse_launch(const std::string& text) {
  if (text.empty() || text == "graph") return LaunchKind::kGraph;
  if (text == "stream") return LaunchKind::kStream;
  throw unknown_name("--launch", text, {"graph", "stream"});
}

bool parse_sustained(const std::string& text) {
  if (text.empty() || text == "burst") return false;
  if (text == "sustained") return true;
  throw unknown_name("--clock", text, {"burst", "sustained"});
}

namespace {

// Kernel libraries with a table of factors, and those of which more than that is known.
std::vector<std::string> known_frameworks(const KernelFactorsLibrary& factors) {
  std::vector<std::string> names = factors.tables();
  for (std::string& name : names) name = framework_of(name);
  for (const KernelLibrary& library : kernel_libraries().all()) {
    if (library.has_products()) names.push_back(library.id);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// The factors are those of short runs inside a graph.
void apply_conditions(const GemmRowOptions& options, const GpuDeviceSpec& device,
                      GemmFactors& factors) {
  if (options.launch == LaunchKind::kStream) {
    const Seconds longer = device.stream_floor - device.launch_floor;
    factors.launch = std::max(Seconds(0), factors.launch + longer);
    if (factors.quantise_launch > Seconds(0))
      factors.quantise_launch = std::max(Seconds(0), factors.quantise_launch + longer);
  }
  if (options.sustained) {
    factors.mma_efficiency *= device.sustained_rate;
    factors.power_drop = 0;  // the clock has dropped from the start
  }
}

}  // namespace

struct GemmRowPredictor::Kernels {
  Kernels(const GpuDeviceSpec& gpu, const std::string& framework, const GemmType& kind,
          ChosenGemmFactors factors)
      : device(gpu),
        type(kind),
        chosen(std::move(factors)),
        library(
            with_fitting_tiles(gpu, kind, gemm_library(gpu.architecture, framework, kind.name))),
        timing(gpu, type, library, chosen.set.factors) {}

  const GpuDeviceSpec& device;
  const GemmType& type;
  ChosenGemmFactors chosen;
  GemmLibrary library;
  GemmTiming timing;
};

GemmRowPredictor::GemmRowPredictor(GemmRowOptions options)
    : options_(std::move(options)),
      devices_(options_.set),
      factors_(devices_.factors("gemm", options_.factors)),
      frameworks_(known_frameworks(factors_)) {}

GemmRowPredictor::~GemmRowPredictor() = default;

GemmRowPredictor::Kernels& GemmRowPredictor::kernels_of(const GemmRow& row) {
  const std::string key = row.gpu + '\n' + row.framework + '\n' + row.dtype;
  if (const auto found = kernels_.find(key); found != kernels_.end()) return *found->second;
  if (!row.framework.empty() &&
      std::count(frameworks_.begin(), frameworks_.end(), row.framework) == 0) {
    throw unknown_name("framework", row.framework, frameworks_);
  }
  const GpuDeviceSpec& gpu = devices_.find(row.gpu);
  const GemmType& type = gemm_type(row.dtype);
  check_type(gpu, type);
  ChosenGemmFactors chosen = choose_gemm(factors_, gpu, row.framework, row.dtype);
  apply_conditions(options_, gpu, chosen.set.factors);
  auto kernels = std::make_unique<Kernels>(
      gpu, row.framework.empty() ? kernel_libraries().choice().networks : row.framework, type,
      std::move(chosen));
  return *kernels_.emplace(key, std::move(kernels)).first->second;
}

GemmL2State GemmRowPredictor::l2_state(const GemmRow& row, const Kernels& kernels) const {
  if (options_.l2.kind == L2Choice::Kind::kAsCollected) {
    const double weights = static_cast<double>(row.shape.n) * static_cast<double>(row.shape.k) *
                           kernels.type.weight_bytes;
    // What was measured went round as many copies as the published L2 asks for, whatever --set
    // says.
    return collector_l2_state(row.framework, row.version, row.dtype,
                              published_device(kernels.device).l2.capacity.value(), weights);
  }
  return {options_.l2.copies, false};
}

std::vector<RowTime> GemmRowPredictor::predict(const std::vector<GemmRow>& rows) {
  RowPrograms programs;
  std::vector<RowTime> times(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    try {
      const Kernels& kernels = kernels_of(rows[i]);
      const GemmTimes chosen = kernels.timing.fastest(rows[i].shape, l2_state(rows[i], kernels));
      programs.add(i, kernels.device, gemm_program(kernels.timing, rows[i].shape, chosen),
                   kernels.chosen.set.interval_low, kernels.chosen.set.interval_high,
                   devices_.with_note(rows[i].gpu, kernels.chosen.note));
    } catch (const UserError& error) {
      times[i].error = error.what();
    }
  }
  programs.simulate(times);
  return times;
}

}  // namespace foretell
