#include "calib/fitted/gpu/gpu_factors.hpp"

#include <algorithm>
#include <map>

#include "calib/fitted/gpu/gemm_factors_choice.hpp"
#include "hw/spec/gpu/gpu_architecture.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "hw/spec/shared/data_folder.hpp"
#include "hw/spec/shared/follow_override.hpp"
#include "hw/spec/shared/overrides.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

constexpr const char* kVectorType = "fp32";

// Tables of products that do without the matrix pipe, the nearest first.
std::vector<std::string> vector_tables(bool batched) {
  const std::string linear = GpuFactors::eager_table("linear");
  if (batched) return {GpuFactors::eager_table("bmm"), linear};
  return {linear};
}

CollectiveFactors choose_collectives(const GpuDeviceSpec& device, const GpuFactorTables& tables,
                                     const std::string& library) {
  const KernelFactorsLibrary& known = tables.kernels("collective");
  const KernelChoice& choice = kernel_libraries().choice();
  const std::string& own = kernel_libraries().of_networks(library).custom_sums;
  const std::string& sums = own.empty() ? choice.custom_sums : own;
  const FactorTable nccl = known.choose(device, {choice.collectives}).set;
  const FactorTable custom = known.choose(device, {sums + " graph"}).set;
  return {link_factors(nccl),
          link_factors(custom),
          {nccl.interval_low, nccl.interval_high},
          {custom.interval_low, custom.interval_high}};
}

GemmFactors& of_l2(ProductFactors& factors) { return factors.gemm; }
PassFactors& of_l2(PassFactors& factors) { return factors; }

void follow_launch(ProductFactors& /*factors*/, const GpuDeviceSpec& /*device*/) {}
void follow_launch(PassFactors& factors, const GpuDeviceSpec& device) {
  if (factors.launch > Seconds(0)) {
    factors.launch =
        follow_time(factors.launch, published_device(device).launch_floor, device.launch_floor);
  }
}

// From another chip, L2 keeps what that of the device keeps.
template <class Factors>
std::optional<ChosenOperatorFactors<Factors>> choose_operator(
    const GpuDeviceSpec& device, const KernelFactorsLibrary& library,
    const std::vector<std::string>& tables) {
  for (const std::string& table : tables) {
    if (!library.knows(table)) continue;
    const ChosenFactorSet set = library.choose(device, {table});
    ChosenOperatorFactors<Factors> chosen{
        {}, table, set.device, {set.set.interval_low, set.set.interval_high}};
    FieldList list;
    fields(list, chosen.factors);
    read_factor_set(set.set, list);
    if (set.device != device.id) {
      of_l2(chosen.factors).l2_share *=
          device.l2.resident_share / find_published_device(set.device)->l2.resident_share;
    }
    follow_launch(chosen.factors, device);
    return chosen;
  }
  return std::nullopt;
}

// The tables of TensorRT's plugins are times of layers as its profiler sees them, 5 to 8 us more
// than a kernel takes: in a graph the launch is that of other products.
GemmFactors in_graph(const GpuDeviceSpec& device, const KernelFactorsLibrary& library,
                     const std::string& kernels, const std::string& type) {
  const GemmFactorSet set = choose_gemm(library, device, kernels, type).set;
  GemmFactors factors = set.factors;
  if (!ends_with(set.dtype(), "_sq") && !ends_with(set.dtype(), "_wo")) return factors;
  const Seconds gap = choose_gemm(library, device, kernels, "bf16").set.factors.launch;
  const Seconds profiler = std::max(Seconds(0), factors.launch - gap);
  factors.launch = std::min(factors.launch, gap);
  factors.gemv_launch = std::max(gap, factors.gemv_launch - profiler);
  return factors;
}

// What is left without any fitted number: full rates, no latency but the smallest kernel's time.
GemmFactors ideal_gemm_factors(const GpuDeviceSpec& device) {
  GemmFactors factors;
  const GpuDeviceSpec& published = published_device(device);
  const GpuArchitecture& architecture = gpu_architecture(device.architecture);
  factors.launch = device.launch_floor;
  factors.mma_efficiency = follow_share(1, published.reachable_rate, device.reachable_rate);
  factors.sm_feed = BytesPerCycle(architecture.shared_port);
  factors.l2_feed = BytesPerCycle(architecture.l2_port);
  factors.epilogue = BytesPerCycle(architecture.l2_port);
  factors.stages_ahead = kAllAhead;
  return factors;
}

}  // namespace

GpuFactors::GpuFactors(const GpuDeviceSpec& device, const std::string& which,
                       std::vector<std::string> set, std::string library,
                       const std::string& held_out)
    : device_(device), set_(std::move(set)), library_(std::move(library)) {
  if (kernel_libraries().of_networks(library_).id == kernel_libraries().choice().networks) {
    library_.clear();  // the nearest of any library where it has no factors
  }
  GemmFactors products;
  AttentionFactors attention;
  apply_set(products, attention);  // finds mistakes before the work
  if (which == "none") return;
  tables_ = GpuFactorTables::of(which, held_out);
  id_ = "gpu@" + tables_->hash();
  collectives_ = choose_collectives(device, *tables_, library_);
}

void GpuFactors::apply_set(GemmFactors& products, AttentionFactors& attention) const {
  FieldList list;
  list.group("factors", products);
  list.group("factors.attention", attention);
  std::map<std::string, Provenance> provenance;
  Problems problems;
  apply_overrides(list, set_, provenance, problems);
  problems.throw_if_any();
}

GemmFactors GpuFactors::gemm(const std::string& type, bool batched) const {
  if (on_vector_pipe(type)) {
    if (const auto chosen = product(vector_tables(batched))) return chosen->factors.gemm;
  }
  GemmFactors factors = tables_ == nullptr
                            ? ideal_gemm_factors(device_)
                            : in_graph(device_, tables_->kernels("gemm"), library_, type);
  factors.common = common();
  AttentionFactors attention;
  apply_set(factors, attention);
  return factors;
}

Ratio80 GpuFactors::gemm_interval80(const std::string& type, bool batched) const {
  if (tables_ == nullptr) return {1, 1};
  if (on_vector_pipe(type)) {
    if (const auto chosen = product(vector_tables(batched))) return chosen->interval80;
  }
  const GemmFactorSet set = choose_gemm(tables_->kernels("gemm"), device_, library_, type).set;
  return {set.interval_low, set.interval_high};
}

std::optional<ChosenAttentionFactors> GpuFactors::attention(
    const std::vector<std::string>& tables) const {
  if (tables_ == nullptr) return std::nullopt;
  ChosenAttentionFactors chosen = choose_attention(tables_->kernels("attention"), device_, tables);
  chosen.factors.common = common();
  GemmFactors products;
  apply_set(products, chosen.factors);
  return chosen;
}

std::optional<ChosenOperatorFactors<AttentionBlockFactors>> GpuFactors::attention_block(
    const std::string& table) const {
  if (tables_ == nullptr || kernels_alone_) return std::nullopt;
  const KernelFactorsLibrary& known = tables_->kernels("attention_block");
  if (!known.knows(table)) return std::nullopt;
  const ChosenFactorSet set = known.choose(device_, {table});
  ChosenOperatorFactors<AttentionBlockFactors> chosen{
      {}, table, set.device, {set.set.interval_low, set.set.interval_high}};
  FieldList list;
  fields(list, chosen.factors);
  read_factor_set(set.set, list);
  return chosen;
}

const KernelLibrary& GpuFactors::library() const {
  return kernel_libraries().of_networks(library_);
}

std::string GpuFactors::eager_table(const std::string& family) {
  return kernel_libraries().choice().eager + ' ' + family + ' ' + kVectorType;
}

bool GpuFactors::on_vector_pipe(const std::string& type) const {
  return type == kVectorType && device_.matrix_rate.count(kVectorType) == 0;
}

// Tables of single calls do not tell the gap between two kernels of a graph: that is the launch of
// the products of the matrix pipe.
std::optional<ChosenOperatorFactors<ProductFactors>> GpuFactors::product(
    const std::vector<std::string>& tables) const {
  if (tables_ == nullptr) return std::nullopt;
  auto chosen = choose_operator<ProductFactors>(device_, tables_->kernels("operator"), tables);
  if (!chosen) return chosen;
  GemmFactors& products = chosen->factors.gemm;
  products.common = common();
  products.launch =
      choose_gemm(tables_->kernels("gemm"), device_, library_, kVectorType).set.factors.launch;
  AttentionFactors attention;
  apply_set(products, attention);
  return chosen;
}

std::optional<ChosenOperatorFactors<PassFactors>> GpuFactors::pass(
    const std::vector<std::string>& tables) const {
  if (tables_ == nullptr) return std::nullopt;
  auto chosen = choose_operator<PassFactors>(device_, tables_->kernels("operator"), tables);
  if (chosen) chosen->factors.common = common();
  return chosen;
}

std::vector<Parameter> GpuFactors::parameters(const std::string& type) const {
  GemmFactors factors = gemm(type);
  FieldList list;
  list.group("factors", factors);
  std::vector<Parameter> parameters;
  for (const Field& field : list.all()) {
    Parameter parameter;
    parameter.path = field.path;
    parameter.value = field.text();
    parameter.source = id_;
    parameter.kind = tables_ == nullptr ? ValueKind::kNeutral : ValueKind::kFitted;
    parameter.meaning = field.meaning;
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

std::string GpuFactors::note(const std::string& type) const {
  if (tables_ == nullptr) return "";
  if (on_vector_pipe(type)) {
    const auto chosen = choose_operator<ProductFactors>(device_, tables_->kernels("operator"),
                                                        vector_tables(false));
    if (chosen && chosen->device == device_.id) return "";
    if (chosen) return type + ": factors of " + chosen->table + " on " + chosen->device;
  }
  const std::string note = choose_gemm(tables_->kernels("gemm"), device_, library_, type).note;
  return note.empty() ? "" : type + ": " + note;
}

}  // namespace foretell
