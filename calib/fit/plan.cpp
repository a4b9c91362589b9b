#include "calib/fit/plan.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>

#include "model/base/errors.hpp"
#include "model/config/document.hpp"
#include "model/config/node_number.hpp"
#include "model/config/node_text.hpp"
#include "model/config/problems.hpp"

namespace foretell {
namespace {

constexpr int kDigits = 4;

std::vector<std::string> read_names(const Node& list, const std::string& path) {
  if (!list.is_list() || list.items.empty()) {
    throw UserError(fmt::format("{}: {}: expected a list of devices", list.where(), path));
  }
  return item_texts(list, path);
}

double read_value(const Node& factor, const std::string& name, const char* key,
                  Dimension dimension) {
  return quantity_at(factor.required(key, name), name + "." + key, dimension);
}

// The parameter's own declaration checks the range.
void check_allowed(const Field& field, const Node& at, const FreeFactor& factor, double value) {
  try {
    field.assign(format_quantity(value, factor.dimension));
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: {}: {}", at.where(), factor.name, error.what()));
  }
}

FreeFactor read_belief(const Field& field, const Node& node, const FitPlan& plan) {
  const std::string& name = field.path;
  node.only_keys({"prior", "width", "low", "high", "devices", "per_device", "why"}, name);
  FreeFactor factor;
  factor.name = name;
  factor.dimension = field.dimension;
  factor.meaning = field.meaning;
  factor.why = node.required("why", name).as_text(name + ".why");
  factor.prior = read_value(node, name, "prior", factor.dimension);
  factor.width = read_value(node, name, "width", factor.dimension);
  factor.low = read_value(node, name, "low", factor.dimension);
  factor.high = read_value(node, name, "high", factor.dimension);
  check_allowed(field, node, factor, factor.low);
  check_allowed(field, node, factor, factor.high);
  if (!(factor.low <= factor.prior && factor.prior <= factor.high && factor.low < factor.high)) {
    throw UserError(
        fmt::format("{}: {}: the prior has to lie between low and high, and low below high",
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
  check_allowed(field, node, factor, factor.prior);
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

double read_noise(const Node& root) {
  if (root.find("noise") == nullptr) return 0;
  const double noise = read_value(root, "", "noise", Dimension{});
  if (noise > 0 && noise < 1) return noise;
  throw UserError(fmt::format("{}: noise: has to be between 0 and 1", root.find("noise")->where()));
}

const Field& field_of(FieldList& fields, const MapEntry& factor) {
  try {
    return fields.at(factor.key);
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: {}", factor.value.where(), error.what()));
  }
}

// A start, or a belief: one for each device where each has a value of its own.
void read_factor(const MapEntry& entry, FitPlan& plan, FieldList& fields, Problems& problems) {
  const Field& field = field_of(fields, entry);
  if (!entry.value.is_map()) return read_plain_value(field, entry.value, problems);
  if (plan.noise == 0) {
    throw UserError(fmt::format("{}: {}: a belief needs the plan's noise, as in 'noise: 0.05'",
                                entry.value.where(), entry.key));
  }
  FreeFactor factor = read_belief(field, entry.value, plan);
  const std::vector<std::string> devices = factor.devices;
  if (!read_switch(entry.value, "per_device")) return plan.factors.push_back(std::move(factor));
  for (const std::string& device : devices) {
    factor.devices = {device};
    plan.factors.push_back(factor);
  }
}

void read_entry(const Node& entry, FitPlan& plan, FieldList& fields) {
  const Node* devices = entry.find("devices");
  if (devices != nullptr) plan.devices = read_names(*devices, "devices");
  const Node& factors = entry.required("factors", "starts");
  if (!factors.is_map() || factors.entries.empty()) {
    throw UserError(fmt::format("{}: factors: expected a mapping of factors", factors.where()));
  }
  Problems problems;
  for (const MapEntry& factor : factors.entries) {
    problems.collect([&] { read_factor(factor, plan, fields, problems); });
  }
  problems.throw_if_any();
  const Node* fixed = entry.find("fixed");
  if (fixed == nullptr) return;
  for (const Node& name : fixed->items) plan.fixed.push_back(fields.at(name.text).path);
}

// Tables of kernels have one column and share factors; networks have neither.
std::vector<std::string> keys_of_plan(bool of_kernels) {
  if (of_kernels) return {"noise", "starts", "sharing"};
  return {"noise", "starts", "measured", "on_top"};
}

bool fits(const Node& entry, const char* key, const std::string& asked) {
  return asked.empty() || plan_names(entry.find(key), asked);
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

bool plan_names(const Node* list, const std::string& text) {
  if (list == nullptr) return true;
  return std::any_of(list->items.begin(), list->items.end(), [&](const Node& item) {
    return fnmatch(item.text.c_str(), text.c_str(), 0) == 0;
  });
}

FitPlan parse_fit_plan(const std::string& text, const std::string& shown_as,
                       const PlanTarget& target, FieldList& fields) {
  const Node root = parse_document(text, shown_as);
  root.only_keys(keys_of_plan(!target.architecture.empty()), "");
  FitPlan plan;
  plan.measured = read_measured(root);
  plan.on_top = read_switch(root, "on_top");
  plan.noise = read_noise(root);
  for (const Node& entry : root.required("starts", "").items) {
    entry.only_keys({"devices", "architectures", "tables", "why", "fixed", "factors"}, "starts");
    if (!fits(entry, "devices", target.device) ||
        !fits(entry, "architectures", target.architecture) ||
        !fits(entry, "tables", target.table)) {
      continue;
    }
    read_entry(entry, plan, fields);
    return plan;
  }
  throw UserError(fmt::format("{}: no start for {} on {}; add one", shown_as, target.table,
                              target.architecture.empty() ? target.device : target.architecture));
}

FitPlan load_fit_plan(const std::string& path, const PlanTarget& target, FieldList& fields) {
  return parse_fit_plan(read_text_file(path), path, target, fields);
}

std::vector<std::string> planned_devices(const std::string& path) {
  std::vector<std::string> devices;
  const Node root = load_document(path);
  for (const Node& entry : root.required("starts", "").items) {
    const Node* list = entry.find("devices");
    if (list == nullptr) continue;
    for (const std::string& name : read_names(*list, "devices")) devices.push_back(name);
  }
  return devices;
}

Node load_kernel_plan(const std::string& path) {
  Node root = load_document(path);
  root.only_keys(keys_of_plan(true), "");
  return root;
}

}  // namespace foretell
