#include "calib/fit/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "hw/spec/neuron/neuron_fields.hpp"
#include "model/base/errors.hpp"
#include "model/config/document.hpp"
#include "model/config/problems.hpp"

namespace foretell {
namespace {

constexpr int kDigits = 4;

std::vector<std::string> read_names(const Node& list, const std::string& path) {
  if (!list.is_list() || list.items.empty()) {
    throw UserError(fmt::format("{}: {}: expected a list of devices", list.where(), path));
  }
  std::vector<std::string> names;
  for (const Node& item : list.items) names.push_back(item.as_text(path));
  return names;
}

double read_value(const Node& factor, const std::string& name, const char* key,
                  Dimension dimension) {
  const Node& node = factor.required(key, name);
  try {
    return parse_quantity(node.as_text(name), dimension);
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: {}.{}: {}", node.where(), name, key, error.what()));
  }
}

// The parameter's own declaration checks the range.
void check_allowed(const Field& field, const Node& at, const FreeFactor& factor, double value) {
  try {
    field.assign(format_quantity(value, factor.dimension));
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: {}: {}", at.where(), factor.name, error.what()));
  }
}

FreeFactor read_factor(const std::string& name, const Node& node, const FitPlan& plan) {
  NeuronFactors target;
  FieldList list;
  fields(list, target);
  FreeFactor factor;
  const Field* field = nullptr;
  try {
    field = &list.at(name);
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: {}", node.where(), error.what()));
  }
  node.only_keys({"prior", "width", "low", "high", "devices", "per_device", "why"}, name);
  factor.name = name;
  factor.dimension = field->dimension;
  factor.meaning = field->meaning;
  factor.why = node.required("why", name).as_text(name + ".why");
  factor.prior = read_value(node, name, "prior", factor.dimension);
  factor.width = read_value(node, name, "width", factor.dimension);
  factor.low = read_value(node, name, "low", factor.dimension);
  factor.high = read_value(node, name, "high", factor.dimension);
  check_allowed(*field, node, factor, factor.low);
  check_allowed(*field, node, factor, factor.high);
  if (!(factor.low <= factor.prior && factor.prior <= factor.high && factor.low < factor.high)) {
    throw UserError(
        fmt::format("{}: {}: the prior has to lie between low and high, and low below "
                    "high",
                    node.where(), name));
  }
  if (!(factor.width > 0)) {
    throw UserError(fmt::format("{}: {}.width: has to be above 0", node.where(), name));
  }
  const Node* devices = node.find("devices");
  factor.devices = devices == nullptr ? plan.devices : read_names(*devices, name + ".devices");
  for (const std::string& device : factor.devices) {
    if (std::find(plan.devices.begin(), plan.devices.end(), device) == plan.devices.end()) {
      throw UserError(fmt::format("{}: {}.devices: {}", node.where(), name,
                                  unknown_name("device", device, plan.devices).what()));
    }
  }
  return factor;
}

std::string read_measured(const Node& root) {
  const Node* node = root.find("measured");
  if (node == nullptr) return "call_ms";
  const std::vector<std::string> columns = {"call_ms", "tpot_ms", "ttft_ms"};
  const std::string text = node->as_text("measured");
  if (std::find(columns.begin(), columns.end(), text) != columns.end()) return text;
  throw UserError(
      fmt::format("{}: measured: {}", node->where(), unknown_name("column", text, columns).what()));
}

bool read_switch(const Node& parent, const char* key) {
  const Node* node = parent.find(key);
  if (node == nullptr) return false;
  const std::string text = node->as_text(key);
  if (text == "true" || text == "false") return text == "true";
  throw UserError(fmt::format("{}: {}: '{}' is neither true nor false", node->where(), key, text));
}

}  // namespace

bool FreeFactor::applies_to(const std::string& device) const {
  return std::find(devices.begin(), devices.end(), device) != devices.end();
}

std::string FreeFactor::text(double value) const {
  double rounded = value;
  if (value != 0) {
    const double digits = kDigits - 1 - std::floor(std::log10(std::abs(value)));
    const double scale = std::pow(10.0, digits);
    rounded = std::round(value * scale) / scale;
  }
  return format_quantity(rounded, dimension);
}

FitPlan parse_fit_plan(const std::string& text, const std::string& shown_as) {
  const Node root = parse_document(text, shown_as);
  root.only_keys({"devices", "noise", "measured", "on_top", "factors"}, "");
  FitPlan plan;
  plan.devices = read_names(root.required("devices", ""), "devices");
  plan.measured = read_measured(root);
  plan.on_top = read_switch(root, "on_top");
  plan.noise = read_value(root, "", "noise", Dimension{});
  if (!(plan.noise > 0 && plan.noise < 1)) {
    throw UserError(
        fmt::format("{}: noise: has to be between 0 and 1", root.find("noise")->where()));
  }
  const Node& factors = root.required("factors", "");
  if (!factors.is_map() || factors.entries.empty()) {
    throw UserError(fmt::format("{}: factors: expected a mapping of factors", factors.where()));
  }
  Problems problems;
  for (const MapEntry& entry : factors.entries) {
    problems.collect([&] {
      FreeFactor factor = read_factor(entry.key, entry.value, plan);
      const std::vector<std::string> devices = factor.devices;
      if (!read_switch(entry.value, "per_device")) return plan.factors.push_back(factor);
      for (const std::string& device : devices) {  // a value for each of them
        factor.devices = {device};
        plan.factors.push_back(factor);
      }
    });
  }
  problems.throw_if_any();
  return plan;
}

FitPlan load_fit_plan(const std::string& path) {
  return parse_fit_plan(read_text_file(path), path);
}

}  // namespace foretell
