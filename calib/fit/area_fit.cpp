#include "calib/fit/area_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "calib/fitted/shared/die_area.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "hw/spec/shared/data_folder.hpp"
#include "model/config/document.hpp"
#include "model/config/node_number.hpp"

namespace foretell {
namespace {

constexpr std::size_t kAreaParts = 6;  // of area_part_names()
using PartSizes = std::array<double, kAreaParts>;

struct KnownDie {
  std::string name;
  std::string node;
  bool stacked = false;
  double area = 0;
  double sms = 0;
  double array = 0;  // of 512 multiply-adds, per SM
  double sram = 0;   // MiB
  double interfaces = 0;
};

// What is read of a process: area of SRAM against 4 nm, and the foundry's density of logic.
struct KnownProcess {
  double sram = 1;
  double foundry = 0;  // million transistors per mm2
};

struct KnownDies {
  std::vector<KnownDie> dies;
  std::map<std::string, KnownProcess> processes;
};

KnownDies known_dies() {
  const Node root = load_document(hw_folder() / "process" / "dies.yaml");
  const Node nodes = load_document(hw_folder() / "process" / "nodes.yaml");
  const Node& common = root.required("common", "");
  const Node& processes = nodes.required("nodes", "");
  const double reference = required_number(processes.required("4nm", "nodes"), "sram");
  KnownDies known;
  for (const MapEntry& entry : root.required("dies", "").entries) {
    const Node& one = entry.value;
    const std::string memory = one.required("memory", "").as_text("memory");
    const Node& interface = nodes.required("memories", "").required(memory, "");
    KnownDie die;
    die.name = entry.key;
    die.node = one.required("node", "").as_text("node");
    die.stacked = interface.required("interface", memory).as_text("interface") == "stack";
    die.area = required_number(one, "area");
    die.sms = required_number(one, "sms");
    die.array = required_number(one, "array") / kMultiplyAddsOfArray;
    constexpr double kKibPerMib = 1024;
    die.sram = die.sms *
                   (required_number(common, "registers_kib") + required_number(one, "l1_kib")) /
                   kKibPerMib +
               required_number(one, "l2_mib");
    die.interfaces = required_number(one, "interfaces");
    known.dies.push_back(die);
    const Node& process = processes.required(die.node, "nodes");
    known.processes[die.node] = {required_number(process, "sram") / reference,
                                 required_number(process, "foundry_density")};
  }
  return known;
}

// Area of logic against 4 nm. Between 8 and 4 nm it follows the density that foundries state.
double logic_of(const std::string& node, const LogicAreas& logic,
                const std::map<std::string, KnownProcess>& processes) {
  if (node == "16nm" || node == "12nm") return logic.nm16;
  if (node == "8nm") return logic.nm8;
  if (node == "4nm") return 1;
  const auto foundry = [&](const char* of) { return std::log(processes.at(of).foundry); };
  const double way =
      (foundry("4nm") - std::log(processes.at(node).foundry)) / (foundry("4nm") - foundry("8nm"));
  return std::pow(logic.nm8, way);
}

class AreaFit {
 public:
  explicit AreaFit(KnownDies known) : known_(std::move(known)) {}

  const std::vector<KnownDie>& dies() const { return known_.dies; }

  // Everything that the others say.
  FittedArea fitted_without(std::size_t left_out) const {
    FittedArea best;
    double least = std::numeric_limits<double>::infinity();
    for (const double old : {3.2, 3.6, 4.0, 4.4, 4.8, 5.2, 5.6}) {
      for (const double eight : {1.6, 1.8, 2.0, 2.2, 2.4, 2.6, 2.8, 3.0}) {
        FittedArea tried;
        tried.logic = {old, eight};
        tried.parts = fitted_parts(tried.logic, left_out);
        double squares = 0;
        for (std::size_t i = 0; i < known_.dies.size(); ++i) {
          if (i != left_out) squares += std::pow(error_of(i, tried), 2);
        }
        if (squares >= least) continue;
        least = squares;
        best = tried;
      }
    }
    return best;
  }

  double error_of(std::size_t index, const FittedArea& by) const {
    const PartSizes x = counts_of(known_.dies[index], by.logic);
    double area = 0;
    for (std::size_t i = 0; i < kAreaParts; ++i) area += x[i] * by.parts[i];
    return area / known_.dies[index].area - 1;
  }

 private:
  PartSizes counts_of(const KnownDie& die, const LogicAreas& logic) const {
    const double cores = die.sms * logic_of(die.node, logic, known_.processes);
    return {cores,
            cores * die.array,
            die.sram * known_.processes.at(die.node).sram,
            die.stacked ? 0 : die.interfaces,
            die.stacked ? die.interfaces : 0,
            1};
  }

  // Least squares of relative errors. A part that would be below zero is none.
  PartSizes fitted_parts(const LogicAreas& logic, std::size_t left_out) const {
    std::vector<PartSizes> rows;
    for (std::size_t i = 0; i < known_.dies.size(); ++i) {
      if (i == left_out) continue;
      PartSizes row = counts_of(known_.dies[i], logic);
      for (double& count : row) count /= known_.dies[i].area;
      rows.push_back(row);
    }
    std::array<bool, kAreaParts> used{};
    used.fill(true);
    for (;;) {
      const PartSizes sizes = solved(rows, used);
      const auto least = std::min_element(sizes.begin(), sizes.end());
      if (*least >= 0) return sizes;
      used.at(static_cast<std::size_t>(least - sizes.begin())) = false;
    }
  }

  // Normal equations of sum of parts = 1, by elimination; parts that are not used are 0.
  static PartSizes solved(const std::vector<PartSizes>& rows,
                          const std::array<bool, kAreaParts>& used) {
    std::array<PartSizes, kAreaParts> a{};
    PartSizes b{};
    for (std::size_t i = 0; i < kAreaParts; ++i) {
      for (const PartSizes& row : rows) {
        b[i] += used[i] ? row[i] : 0;
        for (std::size_t j = 0; j < kAreaParts; ++j)
          a[i][j] += used[i] && used[j] ? row[i] * row[j] : 0;
      }
      if (!used[i]) a[i][i] = 1;
    }
    for (std::size_t i = 0; i < kAreaParts; ++i) {
      for (std::size_t j = i + 1; j < kAreaParts; ++j) {
        const double factor = a[j][i] / a[i][i];
        for (std::size_t k = i; k < kAreaParts; ++k) a[j][k] -= factor * a[i][k];
        b[j] -= factor * b[i];
      }
    }
    PartSizes sizes{};
    for (std::size_t i = kAreaParts; i-- > 0;) {
      double rest = b[i];
      for (std::size_t j = i + 1; j < kAreaParts; ++j) rest -= a[i][j] * sizes[j];
      sizes[i] = rest / a[i][i];
    }
    return sizes;
  }

  KnownDies known_;
};

}  // namespace

const std::array<const char*, kAreaParts>& area_part_names() {
  static constexpr std::array<const char*, kAreaParts> kNames = {"sm",      "array", "sram",
                                                                 "channel", "stack", "base"};
  return kNames;
}

std::vector<LeftOutDie> left_out_dies() {
  const AreaFit fit(known_dies());
  std::vector<LeftOutDie> result;
  for (std::size_t i = 0; i < fit.dies().size(); ++i) {
    const KnownDie& die = fit.dies()[i];
    const auto alike = [&](const KnownDie& other) {
      return other.node == die.node && other.stacked == die.stacked;
    };
    LeftOutDie one;
    one.name = die.name;
    one.mm2 = die.area;
    one.alike = static_cast<int>(std::count_if(fit.dies().begin(), fit.dies().end(), alike)) - 1;
    one.error = fit.error_of(i, fit.fitted_without(i));
    result.push_back(one);
  }
  return result;
}

FittedArea fitted_area() {
  const AreaFit fit(known_dies());
  return fit.fitted_without(fit.dies().size());
}

}  // namespace foretell
