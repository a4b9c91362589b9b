#include "calib/fitted/gpu/transfer_intervals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "calib/fitted/shared/common_factors.hpp"
#include "calib/fitted/shared/factor_file.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/base/errors.hpp"
#include "model/config/document.hpp"
#include "model/config/node_number.hpp"

namespace foretell {
namespace {

TransferInterval read_interval(const Node& node) {
  node.only_keys({"kernels", "generation", "interval80", "rows", "widened_by", "left_out"},
                 "intervals");
  TransferInterval interval;
  interval.kernels = node.required("kernels", "intervals").as_text("kernels");
  const Node& generation = node.required("generation", "intervals");
  if (generation.text != "same" && generation.text != "other") {
    throw UserError(generation.where() + ": generation: expected 'same' or 'other'");
  }
  interval.same_generation = generation.text == "same";
  const Node& bounds = node.required("interval80", "intervals");
  std::tie(interval.low, interval.high) = read_interval80(bounds);
  if (!(interval.low > 0 && interval.low <= 1 && interval.high >= 1)) {
    throw UserError(bounds.where() + ": interval80: 1 has to lie inside, and above 0 the low end");
  }
  interval.rows = static_cast<std::size_t>(required_number(node, "rows"));
  interval.widened_by = required_number(node, "widened_by");
  for (const MapEntry& entry : node.required("left_out", "intervals").entries) {
    interval.left_out[entry.key] = number_at(entry.value, entry.key);
  }
  return interval;
}

}  // namespace

std::vector<TransferInterval> parse_transfer_intervals(const std::string& text,
                                                       const std::string& shown_as) {
  const Node root = parse_document(text, shown_as);
  root.only_keys({"intervals"}, "");
  std::vector<TransferInterval> intervals;
  Problems problems;
  for (const Node& node : root.required("intervals", "").items) {
    problems.collect([&] { intervals.push_back(read_interval(node)); });
  }
  problems.throw_if_any();
  return intervals;
}

std::string transfer_intervals_text(const std::vector<TransferInterval>& intervals) {
  std::string text =
      "# Written by `foretell calibrate transfer`; do not edit. Each chip that was measured is\n"
      "# predicted with the factors of the others.\nintervals:\n";
  for (const TransferInterval& interval : intervals) {
    text += fmt::format(
        "  - kernels: {}\n    generation: {}\n    interval80: [{:.3f}, {:.3f}]\n    rows: {}\n"
        "    widened_by: {:.2f}\n    left_out:\n",
        interval.kernels, interval.same_generation ? "same" : "other", interval.low, interval.high,
        interval.rows, interval.widened_by);
    for (const auto& [chip, share] : interval.left_out) {
      text += fmt::format("      {}: {:.3f}\n", chip, share);
    }
  }
  return text;
}

std::vector<TransferInterval> transfer_intervals_beside(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder.parent_path() / "transfer.yaml";
  if (!std::filesystem::exists(path)) return {};
  return parse_transfer_intervals(read_text_file(path), path.string());
}

std::pair<double, double> interval80_on_another_chip(const std::vector<TransferInterval>& intervals,
                                                     const std::string& kernels,
                                                     const std::string& architecture,
                                                     const std::string& from,
                                                     std::pair<double, double> own) {
  const GpuDeviceSpec* const teacher = find_published_device(from);
  const bool same = teacher != nullptr && teacher->architecture == architecture;
  const TransferInterval* shown = nullptr;
  for (const TransferInterval& interval : intervals) {
    if (interval.kernels != kernels) continue;
    if (interval.same_generation == same) {
      shown = &interval;
      break;
    }
    if (!interval.same_generation) shown = &interval;
  }
  if (shown == nullptr) {
    const double times = common_factors().unmeasured_interval;
    return {std::max(0.0, 1 - times * (1 - own.first)), 1 + times * (own.second - 1)};
  }
  return {std::min(shown->low, own.first), std::max(shown->high, own.second)};
}

}  // namespace foretell
