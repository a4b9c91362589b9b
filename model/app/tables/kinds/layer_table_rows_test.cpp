// Rows of tables of layers: what an empty cell stands for.
#include "model/app/tables/kinds/layer_table_rows.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "hw/spec/gpu/kernel_library.hpp"

namespace foretell {
namespace {

TEST(LayerTableRows, WithoutAFrameworkTheyAreOfTheLibraryThatNetworksTake) {
  std::map<std::string, std::string> cells = {
      {"gpu", "h100-sxm"}, {"dtype", "bf16"}, {"tokens", "8"},   {"hidden", "2048"},
      {"top_k", "8"},      {"tp", ""},        {"experts", "64"}, {"intermediate", "768"}};
  const auto tables = [&] {
    return read_layer_row(LayerKind::kExperts,
                          [&](const std::string& column) {
                            const auto found = cells.find(column);
                            return found == cells.end() ? std::string() : found->second;
                          })
        .tables;
  };
  const auto unstated = tables();
  cells["framework"] = kernel_libraries().choice().networks;
  EXPECT_EQ(unstated, tables());
  cells["framework"] = "another";
  EXPECT_NE(unstated, tables());
}

}  // namespace
}  // namespace foretell
