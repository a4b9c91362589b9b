#include "model/predict/rows/layer_rows.hpp"

#include <algorithm>
#include <set>

#include "calib/fitted/shared/factors_folder.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "hw/spec/gpu/kernel_library.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/timing/gpu/attention_timing.hpp"

namespace foretell {
namespace {

// Kernels of a library without factors are taken for those of others; of a name that none has,
// they are a mistake. "": any.
void check_framework(const std::string& name, const KernelFactorsLibrary& factors) {
  if (name.empty() || kernel_libraries().find(name) != nullptr) return;
  std::set<std::string> known;
  for (const std::string& table : factors.tables()) known.insert(split(table, ' ').front());
  if (known.count(name) > 0) return;
  throw unknown_name("framework", name, {known.begin(), known.end()});
}

// The type with a rate that the chip has.
LayerType computed_type(const GpuDeviceSpec& device, LayerType type) {
  if (!type.other_rate.empty() && device.matrix_rate.count(type.rate) == 0) {
    type.rate = type.other_rate;
  }
  return type;
}

}  // namespace

const char* layer_kind_name(LayerKind kind) {
  switch (kind) {
    case LayerKind::kExperts:
      return "experts";
    case LayerKind::kLatent:
      return "mla";
    case LayerKind::kLatentProducts:
      return "mla_products";
    case LayerKind::kStateSpace:
      return "state_space";
    case LayerKind::kExchange:
      return "expert_exchange";
  }
  throw InternalError(__FILE__, __LINE__, "a kind without a name");
}

std::filesystem::path layer_factors_folder(LayerKind kind) {
  return factors_folder() / "gpu" / layer_kind_name(kind);
}

Seconds layer_row_time(const LayerRow& row, const GpuDeviceSpec& device,
                       const LayerKernelFacts& facts, const LayerType& type,
                       const LayerKernelFactors& factors) {
  const LayerType computed = computed_type(device, type);
  const LayerCall call(device, facts, computed, factors);
  if (const auto* experts = std::get_if<LayerRow::Experts>(&row.shape)) {
    return experts_time(call, experts->shape, experts->loads);
  }
  GridSequence program;
  if (const auto* latent = std::get_if<LatentShape>(&row.shape)) {
    program = latent_kernels(call, *latent);
  } else if (const auto* product = std::get_if<LatentProductShape>(&row.shape)) {
    program = latent_product_kernels(call, *product);
  } else if (const auto* state = std::get_if<StateSpaceShape>(&row.shape)) {
    program = state_space_kernels(call, *state);
  } else {
    ExchangeShape shape = std::get<ExchangeShape>(row.shape);
    shape.gpus_per_node = static_cast<std::int64_t>(facts.gpus_per_node);
    shape.network_rate = facts.network_rate.value();
    program = exchange_kernels(call, shape);
  }
  return std::max(program_time(program, device), factors.host);
}

LayerRowPredictor::LayerRowPredictor(LayerKind kind, std::vector<std::string> set,
                                     const RowFactors& factors)
    : devices_(std::move(set)), factors_(devices_.factors(layer_kind_name(kind), factors)) {}

// Does a table of one chip say nothing of a kernel on another?
bool LayerRowPredictor::stays(const std::string& from, const std::string& table,
                              const GpuDeviceSpec& device) const {
  const GpuDeviceSpec* fitted = find_published_device(from);
  if (fitted == nullptr || fitted->architecture == device.architecture) return false;
  return facts_.facts(table, fitted->architecture).stays;
}

// Where nothing was fitted to just this table: those of the library whose kernels they are; else
// others of the type, of the same library first.
ChosenFactorSet LayerRowPredictor::choose_set(const GpuDeviceSpec& device,
                                              const LayerRow& row) const {
  const std::string& table = row.tables.front();
  if (factors_.knows(table)) {
    ChosenFactorSet own = factors_.choose(device, {table});
    if (!stays(own.device, table, device)) return own;
  }
  const std::vector<std::string> words = split(table, ' ');
  check_framework(words.front(), factors_);
  const LayerKernelFacts* facts = facts_.find(table, device.architecture);
  const std::string lends = facts == nullptr ? "" : facts->kernels_of;
  std::vector<std::string> same;
  std::vector<std::string> alike;
  std::vector<std::string> others;
  for (const std::string& known : factors_.tables()) {
    const std::vector<std::string> names = split(known, ' ');
    if (names.back() != words.back() || known == table) continue;
    // Kernels of experts stand for each other; phases, operators and steps do not.
    if (row.kind != LayerKind::kExperts && names.at(1) != words.at(1)) continue;
    std::vector<std::string>& own = names.front() == words.front() ? alike : others;
    (names.front() == lends ? same : own).push_back(known);
  }
  if (!same.empty()) return factors_.choose(device, same);
  alike.insert(alike.end(), others.begin(), others.end());
  if (alike.empty()) {
    throw UserError("no factors are known of '" + table + "' or anything with its last word; " +
                    "those that are known: " + join(factors_.tables(), ", "));
  }
  ChosenFactorSet found = factors_.choose(device, alike);
  while (alike.size() > 1 && stays(found.device, found.set.table, device)) {
    alike.erase(std::find(alike.begin(), alike.end(), found.set.table));
    found = factors_.choose(device, alike);
  }
  return found;
}

// Launches and the start of a thread block are software: where the nearest chip was measured with
// another release than the row's, those of a chip that was measured with this one count.
void LayerRowPredictor::follow_release(const ChosenFactorSet& found, const LayerRow& row,
                                       const GpuDeviceSpec& device, const CarriedKernel& kernel,
                                       LayerKernelFactors& factors) const {
  if (found.device == device.id || found.set.version == row.version) return;
  for (const FactorFile& file : factors_.files()) {
    const FactorTable* same = factors_.find(file.device, found.set.table);
    const GpuDeviceSpec* chip = find_published_device(file.device);
    if (same == nullptr || chip == nullptr || same->version != row.version) continue;
    LayerKernelFactors of_release;
    FieldList list;
    fields(list, of_release);
    read_factor_set(*same, list);
    carry_over(of_release, *chip, device, kernel);
    factors.launch = of_release.launch;
    factors.prologue = of_release.prologue;
    return;
  }
}

// Another architecture may take other kernels for a call, more or fewer of them, each of which
// starts and ends; and the host is that of other machines.
void LayerRowPredictor::follow_machine(const std::string& table, const std::string& from,
                                       const std::string& to, LayerKernelFactors& factors) const {
  factors.host = factors.host * (facts_.host_time(to) / facts_.host_time(from));
  const double launches = facts_.launches(table, to);
  const double before = facts_.launches(table, from);
  if (!(launches > 0) || !(before > 0)) return;
  factors.launch = factors.launch * (launches / before);
  factors.prologue = factors.prologue * (launches / before);
}

// How the kernel of a table differs from the one whose factors stand in for it.
OtherKernel LayerRowPredictor::other_kernel(const std::string& table, const LayerKernelFacts& own,
                                            const std::string& lender,
                                            const std::string& architecture) const {
  OtherKernel other;
  const double launches = facts_.launches(table);
  const double of_lender = facts_.launches(lender);
  if (launches > 0 && of_lender > 0) other.launches = launches / of_lender;
  const LayerKernelFacts& lends = facts_.facts(lender, architecture);
  other.streams_passes = (lends.permutes && !own.permutes) || (lends.activates && !own.activates);
  return other;
}

const LayerRowPredictor::Choice& LayerRowPredictor::choose(const GpuDeviceSpec& device,
                                                           const LayerRow& row) {
  const std::string key = row.gpu + '\n' + row.tables.front() + '\n' + row.version;
  if (const auto known = choices_.find(key); known != choices_.end()) return known->second;
  const ChosenFactorSet found = choose_set(device, row);
  Choice choice;
  FieldList list;
  fields(list, choice.factors);
  read_factor_set(found.set, list);
  // The kernel is that of the row, whoever lends its factors.
  const LayerKernelFacts* own = facts_.find(row.tables.front(), device.architecture);
  choice.facts = own != nullptr ? *own : facts_.facts(found.set.table, device.architecture);
  if (found.device != device.id) {
    const GpuDeviceSpec& from = devices_.find(found.device);
    const CarriedKernel kernel{row.kind == LayerKind::kLatent, choice.facts.operand_readers > 0};
    carry_over(choice.factors, from, device, kernel);
    follow_release(found, row, device, kernel, choice.factors);
    follow_machine(found.set.table, from.architecture, device.architecture, choice.factors);
  }
  if (own != nullptr && found.set.table != row.tables.front()) {
    stand_in(choice.factors,
             other_kernel(row.tables.front(), *own, found.set.table,
                          devices_.find(found.device).architecture),
             device);
  }
  choice.low = found.set.interval_low;
  choice.high = found.set.interval_high;
  if (found.device != device.id || found.set.table != row.tables.front()) {
    choice.note = "factors of " + found.set.table + " on " + found.device;
  }
  return choices_.emplace(key, std::move(choice)).first->second;
}

RowTime LayerRowPredictor::predict(const LayerRow& row) {
  const GpuDeviceSpec& device = devices_.find(row.gpu);
  const LayerType& type = facts_.type(row.dtype);
  const Choice& choice = choose(device, row);
  RowTime time;
  time.time = layer_row_time(row, device, choice.facts, type, choice.factors);
  time.low = time.time * choice.low;
  time.high = time.time * choice.high;
  time.note = devices_.with_note(row.gpu, choice.note);
  return time;
}

}  // namespace foretell
