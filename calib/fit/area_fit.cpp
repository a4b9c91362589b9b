#include "calib/fit/area_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "hw/spec/shared/catalog.hpp"
#include "hw/spec/shared/data_folder.hpp"
#include "model/config/document.hpp"
#include "model/config/node_number.hpp"
#include "model/config/unit_text.hpp"

namespace foretell {
namespace {

constexpr std::size_t kParts = 5;  // control, lanes, matrix units, SRAM, graphics
using PartSizes = std::array<double, kParts>;

// What is believed of the parts before any die is seen, in mm2 at 7 nm, and how far.
constexpr PartSizes kBelief = {1, 1, 0.4, 1.1, 1};
constexpr PartSizes kBeliefWidth = {0.5, 0.5, 0.2, 0.3, 0.6};
constexpr double kNoBelief = 100;  // times as wide: they keep the equations soluble, no more
constexpr double kAreaNoise = 0.08;

// Of processes against 7 nm.
struct Densities {
  double old_logic = 1;  // 16 nm; 12 nm is a little denser
  double old_graphics = 0;
  double old_sram = 1;
  double new_logic = 1;  // 4 nm
  double new_sram = 1;
};

struct KnownDie {
  std::string name;
  std::string node;
  bool graphics = false;
  double area = 0;
  double fixed = 0;  // mm2 of interfaces
  double sms = 0;
  double lanes = 0;  // of 64
  double array = 0;  // of 512
  double sms_sram = 0;
  double l2 = 0;
};

std::vector<KnownDie> known_dies() {
  const Node root = load_document(hw_folder() / "process" / "dies.yaml");
  const Node nodes = load_document(hw_folder() / "process" / "nodes.yaml");
  const Node& common = root.required("common", "");
  std::vector<KnownDie> dies;
  for (const MapEntry& entry : root.required("dies", "").entries) {
    const Node& one = entry.value;
    const std::string memory = one.required("memory", "").as_text("memory");
    KnownDie die;
    die.name = entry.key;
    die.node = one.required("node", "").as_text("node");
    die.graphics = one.required("family", "").as_text("family") != "compute";
    die.area = required_number(one, "area");
    die.sms = required_number(one, "sms");
    die.lanes = (required_number(one, "fp32") + 2 * required_number(one, "fp64")) / 64;
    die.array = required_number(one, "array") / 512;
    die.sms_sram = die.sms * (0.25 + required_number(one, "l1_kib") / 1024);
    die.l2 = required_number(one, "l2_mib");
    die.fixed =
        required_number(one, "interfaces") *
            required_number(nodes.required("memories", "").required(memory, ""), "interface_mm2") +
        required_number(one, "links") * required_number(common, "link_mm2") +
        required_number(common, "host_interface_mm2");
    dies.push_back(die);
  }
  return dies;
}

PartSizes counts_of(const KnownDie& die, const Densities& by) {
  double logic = 1;
  double sram = 1;
  if (die.node == "16nm" || die.node == "12nm") {
    logic = by.old_logic - (die.node == "12nm" ? 0.05 : 0) + (die.graphics ? by.old_graphics : 0);
    sram = by.old_sram;
  } else if (die.node == "4nm") {
    logic = by.new_logic;
    sram = by.new_sram;
  }
  const double cores = die.sms * logic;
  return {cores, cores * die.lanes, cores * die.array, (die.sms_sram + die.l2) * sram,
          die.graphics ? cores : 0};
}

// Least squares with beliefs, by elimination.
PartSizes fitted_sizes(const std::vector<KnownDie>& dies, const Densities& by, double wider) {
  std::array<PartSizes, kParts> a{};
  PartSizes b{};
  for (std::size_t i = 0; i < kParts; ++i) {
    a[i][i] = 1 / std::pow(wider * kBeliefWidth[i], 2);
    b[i] = kBelief[i] * a[i][i];
  }
  for (const KnownDie& die : dies) {
    const PartSizes x = counts_of(die, by);
    const double weight = 1 / std::pow(kAreaNoise * die.area, 2);
    for (std::size_t i = 0; i < kParts; ++i) {
      b[i] += weight * x[i] * (die.area - die.fixed);
      for (std::size_t j = 0; j < kParts; ++j) a[i][j] += weight * x[i] * x[j];
    }
  }
  for (std::size_t i = 0; i < kParts; ++i) {
    for (std::size_t j = i + 1; j < kParts; ++j) {
      const double factor = a[j][i] / a[i][i];
      for (std::size_t k = i; k < kParts; ++k) a[j][k] -= factor * a[i][k];
      b[j] -= factor * b[i];
    }
  }
  PartSizes sizes{};
  for (std::size_t i = kParts; i-- > 0;) {
    double rest = b[i];
    for (std::size_t j = i + 1; j < kParts; ++j) rest -= a[i][j] * sizes[j];
    sizes[i] = rest / a[i][i];
  }
  return sizes;
}

double error_of(const KnownDie& die, const PartSizes& sizes, const Densities& by) {
  const PartSizes x = counts_of(die, by);
  double area = die.fixed;
  for (std::size_t i = 0; i < kParts; ++i) area += x[i] * sizes[i];
  return area / die.area - 1;
}

std::vector<KnownDie> without(const std::vector<KnownDie>& dies, std::size_t index) {
  std::vector<KnownDie> rest = dies;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(index));
  return rest;
}

// The largest error of a die that the others predict.
double worst_left_out(const std::vector<KnownDie>& dies, const Densities& by, double wider) {
  double worst = 0;
  for (std::size_t i = 0; i < dies.size(); ++i) {
    worst =
        std::max(worst, std::abs(error_of(dies[i], fitted_sizes(without(dies, i), by, wider), by)));
  }
  return worst;
}

Densities chosen_on(const std::vector<KnownDie>& dies, double wider) {
  Densities best;
  double least = std::numeric_limits<double>::infinity();
  for (const double old_logic : {2.1, 2.35, 2.6}) {
    for (const double old_graphics : {0.0, 0.2, 0.4}) {
      for (const double old_sram : {1.6, 1.8, 2.0}) {
        for (const double new_logic : {0.5, 0.55, 0.6, 0.65}) {
          for (const double new_sram : {0.7, 0.8, 0.9}) {
            const Densities tried{old_logic, old_graphics, old_sram, new_logic, new_sram};
            const double worst = worst_left_out(dies, tried, wider);
            if (worst >= least) continue;
            least = worst;
            best = tried;
          }
        }
      }
    }
  }
  return best;
}

double left_out_error(const std::vector<KnownDie>& dies, std::size_t index, double wider) {
  const std::vector<KnownDie> rest = without(dies, index);
  const Densities by = chosen_on(rest, wider);
  return error_of(dies[index], fitted_sizes(rest, by, wider), by);
}

}  // namespace

std::vector<LeftOutDie> left_out_dies() {
  const std::vector<KnownDie> dies = known_dies();
  std::vector<LeftOutDie> result;
  for (std::size_t i = 0; i < dies.size(); ++i) {
    const auto alike = [&](const KnownDie& other) {
      return other.node == dies[i].node && other.graphics == dies[i].graphics;
    };
    LeftOutDie one;
    one.name = dies[i].name;
    one.mm2 = dies[i].area;
    one.alike = static_cast<int>(std::count_if(dies.begin(), dies.end(), alike)) - 1;
    one.error = left_out_error(dies, i, 1);
    one.error_without_beliefs = left_out_error(dies, i, kNoBelief);
    result.push_back(one);
  }
  return result;
}

}  // namespace foretell
