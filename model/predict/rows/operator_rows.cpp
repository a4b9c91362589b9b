#include "model/predict/rows/operator_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "calib/fitted/gpu/gpu_factors.hpp"
#include "hw/spec/gpu/kernel_library.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/unit_text.hpp"
#include "model/mapping/gpu/gemm.hpp"
#include "model/timing/gpu/attention_timing.hpp"

namespace foretell {
namespace {

constexpr const char* kVectorType = "fp32";  // the type whose products do without the matrix pipe
constexpr std::int64_t kMaxSide = std::int64_t{1} << 24;
constexpr Seconds kMinDifference(0.1e-6);  // of two kernels, that a measurement still shows

std::string framework_of(const OperatorRow& row) {
  return row.framework.empty() ? kernel_libraries().choice().eager : row.framework;
}

bool is_product(const TableOperator& info) { return info.kind != OperatorKind::kPass; }

bool on_vector_pipe(const OperatorRow& row) {
  return is_product(*row.op) && row.dtype == kVectorType;
}

int cold_copies(const OperatorRow& row) {
  const KernelLibrary* library = kernel_libraries().find(row.framework);
  return library == nullptr ? 1 : std::max(1, library->cold_copies);
}

GemmLibrary library_of(const GpuDeviceSpec& device, const OperatorRow& row) {
  return on_vector_pipe(row)
             ? vector_library(device.architecture, row.op->kind == OperatorKind::kBatched)
             : gemm_library(device.architecture, "", row.dtype);
}

// Bytes of an element of the operands of a pass.
double element_bytes_of(const OperatorRow& row) {
  for (const char* family : {"quantise", "amax", "scale"}) {
    if (row.op->family == family) return 1;  // of the result
  }
  return gemm_type(row.dtype).activation_bytes;
}

ConvolutionShape shape_of(const SquareConvolution& square) {
  const std::int64_t side = (square.size + 2 * square.padding - square.kernel) / square.stride + 1;
  ConvolutionShape shape;
  shape.images = square.images;
  shape.channels_in = square.channels_in;
  shape.channels_out = square.channels_out;
  shape.in_pixels = square.size * square.size;
  shape.out_rows = side;
  shape.out_columns = side;
  shape.filter = square.kernel * square.kernel;
  shape.is_winograd = square.kernel == 3 && square.stride == 1;
  return shape;
}

// Factors of another chip. Times of the host follow its stream floor, which with_host() knows.
void adapt(OperatorFactors& factors, const GpuDeviceSpec& teacher, const GpuDeviceSpec& device) {
  const double resident = device.l2.resident_share / teacher.l2.resident_share;
  factors.product.gemm.l2_share *= resident;
  factors.pass.l2_share *= resident;
}

// What the host adds to its kernels goes ahead of their parts, which are shares of them alone.
std::string parts_of_call(Seconds kernels, Seconds call, const std::string& parts) {
  constexpr double kShown = 0.01;
  const double host = (call - kernels) / call;
  if (host < kShown) return parts;
  return fmt::format("host {:.0f} %, kernels {:.0f} %: {}", 100 * host, 100 * (1 - host), parts);
}

}  // namespace

SquareConvolution parse_convolution(const std::string& text, std::int64_t images) {
  SquareConvolution shape;
  shape.images = images;
  shape.size = 0;
  const std::vector<std::pair<std::string, std::int64_t*>> keys = {
      {"ci", &shape.channels_in}, {"co", &shape.channels_out}, {"st", &shape.stride},
      {"k", &shape.kernel},       {"s", &shape.size},          {"p", &shape.padding}};
  const auto wrong = [&](const std::string& what) {
    return UserError("conv: '" + text + "' " + what +
                     "; write for example 'ci3 co64 k7 s224 st2 p3'");
  };
  for (const std::string& word : split(text, ' ')) {
    if (word.empty()) continue;
    const auto key = std::find_if(keys.begin(), keys.end(), [&](const auto& entry) {
      return starts_with(word, entry.first);
    });
    if (key == keys.end()) throw wrong("has '" + word + "', which is not known");
    const std::string digits = word.substr(key->first.size());
    const bool is_count =
        !digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos;
    if (!is_count) throw wrong("has '" + word + "', which is not known");
    const long long value = parse_integer(digits);
    const long long least = key->first == "p" ? 0 : 1;
    if (value < least || value > kMaxSide) throw wrong("has '" + word + "', which is not allowed");
    *key->second = value;
  }
  if (shape.size == 0) throw wrong("does not state the size of the image");
  if (shape.size + 2 * shape.padding < shape.kernel) throw wrong("has a kernel beyond its image");
  return shape;
}

std::string operator_table(const OperatorRow& row) {
  return framework_of(row) + ' ' + row.op->family + ' ' + row.dtype;
}

void fields(FieldList& list, const TableOperator& info, OperatorFactors& factors) {
  if (is_product(info)) {
    fields(list, factors.product);
  } else {
    fields(list, factors.pass);
  }
}

struct OperatorKernels::Products {
  Products(const GpuDeviceSpec& device, const OperatorRow& row, const GemmFactors& factors)
      : type(gemm_type(row.dtype)),
        library(library_of(device, row)),
        timing(device, type, library, factors) {}

  GemmType type;
  GemmLibrary library;
  GemmTiming timing;
};

OperatorKernels::OperatorKernels(const GpuDeviceSpec& device, const OperatorRow& like,
                                 const OperatorFactors& factors)
    : device_(device),
      factors_(factors),
      element_bytes_(element_bytes_of(like)),
      copies_(cold_copies(like)) {
  if (is_product(*like.op)) {
    products_ = std::make_unique<Products>(device, like, factors.product.gemm);
  }
  if (like.op->kind == OperatorKind::kConvolution && on_vector_pipe(like)) {
    convolutions_ = std::make_unique<ConvolutionKernels>(device, factors.product);
  }
}

OperatorKernels::~OperatorKernels() = default;

GridSequence OperatorKernels::program(const OperatorRow& row) const {
  if (convolutions_ != nullptr) {
    const ConvolutionShape shape = shape_of(row.convolution);
    return convolutions_->fastest(shape, convolutions_->warm_traffic(shape)).program;
  }
  if (products_ != nullptr) {
    const GemmTiming& timing = products_->timing;
    return gemm_program(timing, row.product, timing.fastest(row.product, {copies_, false}));
  }
  GridSequence program;
  for (const PassOperand& kernel : row.op->kernels) {
    program.kernels.push_back(
        pass_kernel(device_, factors_.pass,
                    pass_shape(*row.op, kernel, row.rows, row.columns, element_bytes_)));
    program.kernels.back().name = row.op->name;
  }
  return program;
}

Seconds OperatorKernels::time(const OperatorRow& row, const OperatorKernels* less) const {
  const bool is_plain_product = products_ != nullptr && convolutions_ == nullptr;
  return stated(row,
                is_plain_product ? products_->timing.fastest(row.product, {copies_, false}).total
                                 : program_time(program(row), device_),
                less);
}

Seconds OperatorKernels::with_host(Seconds kernels) const {
  const HostFactors& host = products_ != nullptr ? factors_.product.host : factors_.pass.host;
  return foretell::with_host(host, device_.stream_floor, kernels);
}

Seconds OperatorKernels::stated(const OperatorRow& row, Seconds kernels,
                                const OperatorKernels* less) const {
  const Seconds all = with_host(kernels);
  if (less == nullptr) return all;
  return std::max(kMinDifference, all - less->time(less_of(row)));
}

OperatorRow less_of(const OperatorRow& row) {
  OperatorRow other = row;
  other.op = &table_operator(row.op->less, row.framework);
  return other;
}

OperatorRowPredictor::OperatorRowPredictor(OperatorRowOptions options)
    : options_(std::move(options)),
      devices_(options_.set),
      factors_(devices_.factors("operator", options_.factors)),
      products_(devices_.factors("gemm", options_.factors)) {}

ChosenFactorSet OperatorRowPredictor::choose(const GpuDeviceSpec& device,
                                             const OperatorRow& row) const {
  const std::string exact = operator_table(row);
  std::vector<std::string> tables = {exact};
  if (row.op->layout == PassLayout::kElements && !is_product(*row.op)) {
    tables.push_back(framework_of(row) + " element-wise " + row.dtype);
  }
  if (on_vector_pipe(row)) {
    for (const char* family : {"linear", "bmm"}) {
      tables.push_back(GpuFactors::eager_table(family));
    }
  } else {
    for (const std::string& framework : kernel_libraries().choice().operators) {
      for (const char* dtype : {kVectorType, "fp16", "fp8"}) {
        tables.push_back(framework + ' ' + row.op->family + ' ' + dtype);
      }
    }
  }
  // Another chip with the same table is nearer than another library on the same chip.
  for (const std::string& table : tables) {
    if (factors_.knows(table)) return factors_.choose(device, {table});
  }
  return factors_.choose(device, tables);
}

const OperatorRowPredictor::Kernels& OperatorRowPredictor::kernels_of(const OperatorRow& row) {
  const std::string table = operator_table(row);
  const std::string key = row.gpu + '\n' + table;
  if (const auto found = kernels_.find(key); found != kernels_.end()) return found->second;
  const GpuDeviceSpec& gpu = devices_.find(row.gpu);
  OperatorFactors factors;
  double low = 1;
  double high = 1;
  std::string note;
  if (is_product(*row.op) && !on_vector_pipe(row) && factors_.find(gpu.id, table) == nullptr) {
    const ChosenGemmFactors chosen = choose_gemm(products_, gpu, row.framework, row.dtype);
    factors.product.gemm = chosen.set.factors;
    low = chosen.set.interval_low;
    high = chosen.set.interval_high;
    note = chosen.note;
  } else {
    const ChosenFactorSet chosen = choose(gpu, row);
    if (chosen.device != gpu.id || chosen.set.table != table) {
      note = "factors of " + chosen.set.table + " on " + chosen.device;
    }
    FieldList list;
    fields(list, *row.op, factors);
    read_factor_set(chosen.set, list);
    if (chosen.device != gpu.id) {
      adapt(factors, devices_.catalog().load(chosen.device).spec.device, gpu);
    }
    low = chosen.set.interval_low;
    high = chosen.set.interval_high;
  }
  for (HostFactors* host : {&factors.product.host, &factors.pass.host}) {
    if (options_.launch == "graph") host->call = 0;
    if (options_.launch == "stream" && !(host->call > 0)) host->call = 1;
  }
  const OperatorKernels* less =
      row.op->less.empty() ? nullptr : kernels_of(less_of(row)).kernels.get();
  Kernels kernels{
      gpu, std::make_unique<OperatorKernels>(gpu, row, factors), less, low, high, std::move(note)};
  return kernels_.emplace(key, std::move(kernels)).first->second;
}

std::vector<RowTime> OperatorRowPredictor::predict(const std::vector<OperatorRow>& rows) {
  RowPrograms programs;
  std::vector<RowTime> times(rows.size());
  std::vector<const Kernels*> used(rows.size(), nullptr);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    try {
      used[i] = &kernels_of(rows[i]);
      programs.add(i, used[i]->device, used[i]->kernels->program(rows[i]), 1, 1,
                   devices_.with_note(rows[i].gpu, used[i]->note));
    } catch (const UserError& error) {
      times[i].error = error.what();
    }
  }
  programs.simulate(times);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (used[i] == nullptr) continue;
    const Seconds time = used[i]->kernels->stated(rows[i], times[i].time, used[i]->less);
    times[i] = {time,
                time * used[i]->low,
                time * used[i]->high,
                "",
                parts_of_call(times[i].time, time, times[i].parts),
                std::move(times[i].note)};
  }
  return times;
}

}  // namespace foretell
