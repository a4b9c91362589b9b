#include "model/app/command/calibrate/gemm_residuals.hpp"

#include <fmt/format.h>

#include <utility>

#include "model/app/tables/kernel_rows.hpp"

namespace foretell {
namespace {

struct RowClass {
  const char* name;
  std::int64_t up_to;
};
constexpr RowClass kRowClasses[] = {
    {"up to 16 rows", 16}, {"17 to 256 rows", 256}, {"more than 256 rows", kMaxGemmSide}};

}  // namespace

std::vector<Comparison> compare_products(const GemmTiming& timing,
                                         const std::vector<GemmSample>& samples, std::int64_t above,
                                         std::int64_t up_to) {
  std::vector<Comparison> comparisons;
  for (const GemmSample& sample : samples) {
    if (sample.shape.m <= above || sample.shape.m > up_to) continue;
    comparisons.push_back({sample.measured.value(),
                           timing.fastest(sample.shape, sample.l2).total.value(), std::nullopt});
  }
  return comparisons;
}

std::string accuracy_line(const std::string& name, const std::vector<Comparison>& comparisons) {
  const Accuracy accuracy = accuracy_of(comparisons);
  return fmt::format("{}: {} rows, MAPE {:.2f} %, median {:.2f} %, p90 {:.2f} %, bias {:+.2f} %",
                     name, accuracy.n, accuracy.mape * 100, accuracy.median * 100,
                     accuracy.p90 * 100, accuracy.bias * 100);
}

std::vector<std::string> gemm_residuals(const GemmTiming& timing,
                                        const std::vector<GemmSample>& fitted,
                                        const std::vector<GemmSample>& held_out) {
  std::vector<std::string> lines;
  std::int64_t above = 0;
  for (const RowClass& rows : kRowClasses) {
    for (const auto& [side, samples] :
         {std::pair(", fitted on", &fitted), std::pair(", held out", &held_out)}) {
      const auto comparisons = compare_products(timing, *samples, above, rows.up_to);
      if (!comparisons.empty())
        lines.push_back(accuracy_line(rows.name + std::string(side), comparisons));
    }
    above = rows.up_to;
  }
  return lines;
}

}  // namespace foretell
