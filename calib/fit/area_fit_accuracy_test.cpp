// Areas of published dies, each left out in turn with everything that is chosen.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "calib/fit/area_fit.hpp"
#include "calib/fitted/shared/factor_file.hpp"
#include "calib/fitted/shared/factors_folder.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "model/config/document.hpp"
#include "model/config/unit_text.hpp"

namespace foretell {
namespace {

TEST(DieAreaAccuracy, DiesThatNothingWasChosenOn) {
  const std::vector<LeftOutDie> dies = left_out_dies();
  const std::set<std::string> of_accelerators = {"gp100", "gv100", "tu104", "ga100",
                                                 "gh100", "ad102", "ad104", "gb202"};
  std::size_t found = 0;
  double sum = 0;
  for (const LeftOutDie& die : dies) {
    RecordProperty(die.name, std::to_string(100 * die.error));
    EXPECT_LE(std::abs(die.error), 0.09) << die.name;
    sum += std::abs(die.error);
    found += of_accelerators.count(die.name);
  }
  EXPECT_EQ(found, of_accelerators.size());
  EXPECT_LE(sum / static_cast<double>(dies.size()), 0.04);
}

// The file of factors holds what the dies say.
TEST(DieAreaAccuracy, FactorsAreThoseOfTheFit) {
  const std::string path = (factors_folder() / "area" / "gpu.yaml").string();
  const FactorTexts factors = parse_factor_file(read_text_file(path), path).tables.at(0).factors;
  const FittedArea fitted = fitted_area();
  for (std::size_t i = 0; i < fitted.parts.size(); ++i) {
    EXPECT_EQ(factors.at(i).first, area_part_names().at(i));
    const double stated = parse_quantity(factors.at(i).second, Dimension{});
    EXPECT_NEAR(fitted.parts.at(i) / stated, 1, 2e-3) << factors.at(i).first;
  }
  const Node nodes = load_document(hw_folder() / "process" / "nodes.yaml").required("nodes", "");
  const auto logic = [&](const char* node) {
    return parse_quantity(nodes.required(node, "").required("logic", node).as_text(node),
                          Dimension{});
  };
  EXPECT_NEAR(logic("16nm") / logic("4nm") / fitted.logic.nm16, 1, 0.005);
  EXPECT_NEAR(logic("8nm") / logic("4nm") / fitted.logic.nm8, 1, 0.005);
}

}  // namespace
}  // namespace foretell
