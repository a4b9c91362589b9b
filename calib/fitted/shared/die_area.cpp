#include "calib/fitted/shared/die_area.hpp"

#include <algorithm>
#include <cmath>

#include "calib/fitted/shared/factor_file.hpp"
#include "calib/fitted/shared/factors_folder.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"
#include "model/config/node_number.hpp"
#include "model/config/unit_text.hpp"

namespace foretell {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kKibPerMib = 1024;
constexpr double kMib = 1048576;
constexpr double kGiga = 1e9;
constexpr double kMm2PerCm2 = 100;
constexpr const char* kNodeOfFactors = "4nm";

std::vector<std::string> keys_of(const Node& map) {
  std::vector<std::string> keys;
  for (const MapEntry& entry : map.entries) keys.push_back(entry.key);
  return keys;
}

const Node& entry_of(const Node& map, const std::string& option, const std::string& name) {
  const Node* entry = map.find(name);
  // The nearest name of "1nm" is "16nm", which says nothing.
  if (entry == nullptr) {
    throw UserError("unknown " + option + " '" + name +
                    "'; there are: " + join(keys_of(map), ", "));
  }
  return *entry;
}

// Value of a parameter in base units; `otherwise` for a device that has none.
double value_of(const std::vector<Parameter>& parameters, const std::string& path,
                double otherwise) {
  for (const Parameter& parameter : parameters) {
    if (parameter.path != path) continue;
    const auto quantity = parse_any_quantity(parameter.value);
    return quantity ? quantity->value : otherwise;
  }
  return otherwise;
}

std::string text_of(const std::vector<Parameter>& parameters, const std::string& path) {
  for (const Parameter& parameter : parameters) {
    if (parameter.path == path) return parameter.value;
  }
  return "";
}

// How many times as many interfaces of memory a device has after overrides: as it has more stacks,
// or as its memory moves more bytes, each interface as many as before.
double more_interfaces(const std::vector<Parameter>& parameters) {
  for (const char* path : {"device.hbm.stacks", "device.hbm.bandwidth"}) {
    for (const Parameter& parameter : parameters) {
      if (parameter.path != path || !(parameter.overridden || parameter.differs)) continue;
      const auto before = parse_any_quantity(parameter.before);
      if (before && before->value > 0)
        return value_of(parameters, path, before->value) / before->value;
    }
  }
  return 1;
}

// Multiply-adds of 16 bits per SM and cycle, as the rates of the chip say.
double array_of(const std::vector<Parameter>& parameters) {
  const double rate = std::max(value_of(parameters, "device.matrix_rate.fp16", 0),
                               value_of(parameters, "device.matrix_rate.bf16", 0));
  const double clock = value_of(parameters, "device.clock.boost", 1);
  return rate / (2 * value_of(parameters, "device.sms", 1) * clock);
}

// Rates of whole chips are published with four digits.
constexpr double kSameArray = 0.002;

struct Counts {
  double sms = 0;
  double array = 0;  // multiply-adds of 16 bits per SM and cycle
  double l2_mib = 0;
  double interfaces = 0;  // of memory
};

// The tables, and what they say of a device.
class Dies {
 public:
  // `own`: parameters of a device of the user's.
  explicit Dies(const std::string& device, const std::vector<Parameter>* own = nullptr)
      : nodes_(load("nodes.yaml")), dies_(load("dies.yaml")) {
    for (const MapEntry& entry : dies_.required("dies", "").entries) {
      const Node& devices = entry.value.required("devices", "dies");
      if (devices.find(device) == nullptr) continue;
      chip_ = entry.key;
      die_ = &entry.value;
      enabled_ = devices.find(device);
    }
    if (die_ == nullptr) unpublished_ = dies_.required("unpublished", "").find(device);
    if (own == nullptr || has_device() || value_of(*own, "device.sms", 0) == 0) return;
    unpublished_ = &dies_.required("own_gpu", "");
  }

  bool has_device() const { return die_ != nullptr || unpublished_ != nullptr; }
  bool is_published() const { return die_ != nullptr; }
  const std::string& chip() const { return chip_; }
  const Node& die() const { return *die_; }
  const Node& enabled() const { return *enabled_; }
  const Node& common() const { return dies_.required("common", ""); }
  bool is_compute() const {
    return !is_published() || die_->required("family", "").as_text("family") == "compute";
  }
  const Node& entry() const { return is_published() ? *die_ : *unpublished_; }
  std::string node_name(const ProcessChange& change) const {
    return change.node.empty() ? entry().required("node", "").as_text("node") : change.node;
  }
  // That of the change, else the standard of memory that the device states, else the one it has
  // on its dies, else of most devices with these.
  std::string memory_name(const ProcessChange& change,
                          const std::vector<Parameter>& parameters = {}) const {
    if (!change.memory.empty()) return change.memory;
    const std::string standard = text_of(parameters, "device.hbm.standard");
    if (nodes_.required("memories", "").find(standard) != nullptr) return standard;
    if (enabled_ != nullptr && enabled_->find("memory") != nullptr) {
      return enabled_->find("memory")->as_text("memory");
    }
    return entry().required("memory", "").as_text("memory");
  }
  const Node& node(const std::string& name) const {
    return entry_of(nodes_.required("nodes", ""), "node", name);
  }
  const Node& memory(const std::string& name) const {
    return entry_of(nodes_.required("memories", ""), "hbm", name);
  }
  Counts published() const {
    return {required_number(*die_, "sms"), required_number(*die_, "array"),
            required_number(*die_, "l2_mib"), required_number(*die_, "interfaces")};
  }

  // Physical units grow with those that are enabled.
  Counts changed(const std::vector<Parameter>& parameters) const {
    Counts counts = published();
    const double sms = required_number(*enabled_, "sms");
    const double l2 = required_number(*enabled_, "l2_mib") * kMib;
    const double enabled = value_of(parameters, "device.sms", sms);
    counts.sms *= enabled / sms;
    counts.interfaces *= more_interfaces(parameters);
    counts.l2_mib *= value_of(parameters, "device.l2.capacity", l2) / l2;
    for (const Parameter& parameter : parameters) {
      const bool is_array = parameter.path == "device.matrix_rate.fp16" ||
                            parameter.path == "device.matrix_rate.bf16";
      if (!is_array || !(parameter.overridden || parameter.differs)) continue;
      const double rate = value_of(parameters, parameter.path, 0);
      const double clock = value_of(parameters, "device.clock.boost", 1);
      const double array = rate / (2 * enabled * clock);
      // A file states rates that follow from its SMs; --set moves them itself.
      const bool is_same = std::abs(array / counts.array - 1) < kSameArray;
      if (parameter.overridden || !is_same) counts.array = array;
    }
    return counts;
  }

  std::vector<AreaPart> parts(const Counts& counts, const std::string& node_key,
                              const std::string& memory_key) const {
    const Sizes sizes = sizes_at(node_key, memory_key);
    return {{"SMs: control, lanes and graphics", counts.sms * sizes.sm},
            {"SMs: matrix units", counts.sms * counts.array * sizes.multiply_add},
            {"SMs: registers and shared memory",
             counts.sms *
                 (required_number(common(), "registers_kib") + required_number(*die_, "l1_kib")) /
                 kKibPerMib * sizes.mib},
            {"L2", counts.l2_mib * sizes.mib},
            {"memory interfaces", counts.interfaces * sizes.interface},
            {"host interface, links, displays", sizes.base}};
  }

  // For a GPU of the user's: the same parts, as it states them.
  std::vector<AreaPart> parts_of_sms(const std::vector<Parameter>& parameters,
                                     const std::string& node_key,
                                     const std::string& memory_key) const {
    const Sizes sizes = sizes_at(node_key, memory_key);
    const auto number = [&](const char* path) { return value_of(parameters, path, 0); };
    constexpr double kRegister = 4;  // bytes
    const double sms = number("device.sms");
    const double sram =
        (number("device.sm.registers") * kRegister + number("device.sm.shared_memory")) / kMib;
    const double interfaces = interfaces_of(parameters);
    return {{"SMs: control, lanes and graphics", sms * sizes.sm},
            {"SMs: matrix units", sms * array_of(parameters) * sizes.multiply_add},
            {"SMs: registers and shared memory", sms * sram * sizes.mib},
            {"L2", number("device.l2.capacity") / kMib * sizes.mib},
            {"memory interfaces", interfaces * sizes.interface},
            {"host interface, links, displays", sizes.base}};
  }

  // For NeuronCores, whose engines have lanes as SMs have them.
  std::vector<AreaPart> parts_of_cores(const std::vector<Parameter>& parameters,
                                       const std::string& node_key,
                                       const std::string& memory_key) const {
    const Sizes sizes = sizes_at(node_key, memory_key);
    const auto number = [&](const char* path) { return value_of(parameters, path, 0); };
    const double cores = number("device.cores");
    const double array = number("core.tensor.rows") * number("core.tensor.columns");
    const double lanes =
        number("core.vector.lanes") + number("core.scalar.lanes") + number("core.gpsimd.lanes");
    const double mib = (number("core.sbuf.capacity") + number("core.psum.capacity")) / kMib;
    return {{"cores: tensor engines", cores * array * sizes.multiply_add},
            {"cores: engines of lanes",
             cores * lanes / required_number(common(), "lanes_of_sm") * sizes.sm},
            {"cores: SBUF and PSUM", cores * mib * sizes.mib},
            {"memory interfaces", interfaces_of(parameters) * sizes.interface},
            {"host interface, links", sizes.base}};
  }

 private:
  // Of a device whose dies are not published: as many as stacks, where it states these.
  double interfaces_of(const std::vector<Parameter>& parameters) const {
    const double stacks =
        value_of(parameters, "device.hbm.stacks", required_number(*unpublished_, "interfaces"));
    const bool are_set =
        std::any_of(parameters.begin(), parameters.end(), [](const Parameter& one) {
          return (one.overridden || one.differs) && one.path == "device.hbm.stacks";
        });
    return are_set ? stacks : stacks * more_interfaces(parameters);
  }

  // Areas in mm2 on a process.
  struct Sizes {
    double sm = 0;
    double multiply_add = 0;
    double mib = 0;  // of SRAM
    double interface = 0;
    double base = 0;
  };

  Sizes sizes_at(const std::string& node_key, const std::string& memory_key) const {
    Sizes sizes;
    double array = 0;
    double channel = 0;
    double stack = 0;
    FieldList list;
    const Range<double> any{0, 1e6};
    list.value("sm", sizes.sm, any, "mm2 of an SM.");
    list.value("array", array, any, "mm2 of a matrix unit.");
    list.value("sram", sizes.mib, any, "mm2 of a MiB of SRAM.");
    list.value("channel", channel, any, "mm2 of 32 bits of GDDR.");
    list.value("stack", stack, any, "mm2 of a stack of HBM.");
    list.value("base", sizes.base, any, "mm2 of every die.");
    const std::filesystem::path path = factors_folder() / "area" / "gpu.yaml";
    parse_factor_table(read_text_file(path), path.string(), {{}, &list, true});
    const auto against = [&](const char* key) {
      return required_number(node(node_key), key) / required_number(node(kNodeOfFactors), key);
    };
    sizes.sm = against("logic") * sizes.sm;
    sizes.multiply_add = against("logic") * array / kMultiplyAddsOfArray;
    sizes.mib = against("sram") * sizes.mib;
    const Node& memory_facts = memory(memory_key);
    sizes.interface = memory_facts.required("interface", memory_key).as_text("interface") == "stack"
                          ? stack
                          : channel;
    return sizes;
  }

  static Node load(const std::string& name) {
    return load_document(hw_folder() / "process" / name);
  }

  Node nodes_;
  Node dies_;
  std::string chip_;
  const Node* die_ = nullptr;
  const Node* enabled_ = nullptr;
  const Node* unpublished_ = nullptr;
};

double sum_of(const std::vector<AreaPart>& parts) {
  double sum = 0;
  for (const AreaPart& part : parts) sum += part.mm2;
  return sum;
}

// What does not fit the reticle is cut into equal dies, each with an interface to the others.
void cut(const Node& common, DieArea& area) {
  area.reticle_mm2 = required_number(common, "reticle_mm2");
  if (area.area_mm2 <= area.reticle_mm2) return;
  const double share = required_number(common, "die_to_die_share");
  const double between = area.area_mm2 * share;
  area.parts.push_back({"interfaces between dies", between});
  area.area_mm2 += between;
  area.dies = static_cast<int>(std::ceil(area.area_mm2 / area.reticle_mm2));
}

void set_cost(const Dies& dies, const std::vector<Parameter>& parameters, DieArea& area) {
  const Node& common = dies.common();
  const Node& process = dies.node(area.node);
  const double each = area.area_mm2 / area.dies;
  const double radius = required_number(common, "wafer_diameter_mm") / 2;
  const double gross =
      std::floor(kPi * radius * radius / each - kPi * 2 * radius / std::sqrt(2 * each));
  const double cluster = required_number(common, "cluster");
  const double defects = each / kMm2PerCm2 * required_number(process, "defects_per_cm2");
  const double perfect = std::pow(1 + defects / cluster, -cluster);
  area.yield = perfect + (1 - perfect) * required_number(common, "harvest_share");
  area.die_usd =
      area.dies * required_number(process, "wafer_usd") / (std::max(1.0, gross) * area.yield);
  area.memory_usd = value_of(parameters, "device.hbm.capacity", 0) / kGiga *
                    required_number(dies.memory(area.memory), "usd_per_gb");
  area.package_usd =
      required_number(common, dies.is_compute() ? "package_usd_compute" : "package_usd_graphics");
}

}  // namespace

std::optional<DieArea> die_area(const std::string& device, const std::vector<Parameter>& parameters,
                                const ProcessChange& change, const Likeness& like) {
  const Dies dies(device, like.is_own ? &parameters : nullptr);
  if (!dies.has_device()) return std::nullopt;
  DieArea area;
  area.node = dies.node_name(change);
  area.memory = dies.memory_name(change, parameters);
  area.is_published = dies.is_published() && !like.is_changed();
  area.is_of_another = dies.is_published() && !area.is_published;
  if (dies.is_published()) {
    area.chip = dies.chip();
    area.parts = dies.parts(dies.changed(parameters), area.node, area.memory);
    const double modelled =
        sum_of(dies.parts(dies.published(), dies.node_name({}), dies.memory_name({})));
    for (AreaPart& part : area.parts) part.mm2 *= required_number(dies.die(), "area") / modelled;
  } else {
    area.chip = device;
    const bool has_sms = value_of(parameters, "device.sms", 0) > 0;
    area.parts = has_sms ? dies.parts_of_sms(parameters, area.node, area.memory)
                         : dies.parts_of_cores(parameters, area.node, area.memory);
  }
  area.area_mm2 = sum_of(area.parts);
  cut(dies.common(), area);
  set_cost(dies, parameters, area);
  return area;
}

std::string unpublished_area(const DieArea& area) {
  if (area.is_of_another) {
    return "nothing is published of these dies: those of " + area.chip +
           ", with as many of their parts as the device states";
  }
  return "nothing is published of these dies: the parts that the device states, each as large as "
         "on GPUs";
}

EnergyChange energy_change(const std::string& device, const ProcessChange& change) {
  EnergyChange result;
  if (change.node.empty() && change.memory.empty()) return result;
  const Dies dies(device);
  if (!change.node.empty()) dies.node(change.node);  // a wrong name is said first
  if (!change.memory.empty()) dies.memory(change.memory);
  if (!dies.has_device()) {
    throw UserError("node: the process of " + device +
                    " is not in hw/process/dies.yaml; 'like: DEVICE' in a file of your own "
                    "takes that of a device that is there; else leave --node and --hbm out");
  }
  const auto of_node = [&](const char* key) {
    return required_number(dies.node(dies.node_name(change)), key) /
           required_number(dies.node(dies.node_name({})), key);
  };
  const auto memory = [&](const ProcessChange& of) {
    return EnergyPerByte(required_number(dies.memory(dies.memory_name(of)), "pj_per_byte"));
  };
  result.switched = of_node("energy");
  result.leakage = of_node("leakage");
  result.memory = memory(change) - memory({});
  return result;
}

std::optional<ProcessFacts> process_facts(const std::string& device) {
  const Dies dies(device);
  if (!dies.has_device()) return std::nullopt;
  return ProcessFacts{
      required_number(dies.node(dies.node_name({})), "energy"),
      EnergyPerByte(required_number(dies.memory(dies.memory_name({})), "pj_per_byte"))};
}

}  // namespace foretell
