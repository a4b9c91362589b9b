#include <fmt/format.h>

#include "hw/spec/shared/gemm_factors_file.hpp"

namespace foretell {
namespace {

// Four significant digits, with the unit.
std::string short_text(const Field& field) {
  const double value = std::stod(fmt::format("{:.4g}", field.number()));
  return format_quantity(value, field.dimension);
}

std::string set_text(const GemmFactorSet& set) {
  std::string text = fmt::format(
      "  - framework: {}\n    version: {}\n    dtype: {}\n    fitted_on: \"{}\"\n"
      "    held_out: \"{}\"\n    interval80: [{:.3f}, {:.3f}]\n    factors:\n",
      set.framework, set.version, set.dtype, set.fitted_on, set.held_out, set.interval_low,
      set.interval_high);
  GemmFactors factors = set.factors;
  FieldList list;
  fields(list, factors);
  for (const Field& field : list.all()) {
    text += fmt::format("      {}: {}\n", field.path, short_text(field));
  }
  return text + fit_evidence_text(set.evidence, "    ");
}

}  // namespace

std::string gemm_factors_text(const GemmFactorsFile& file) {
  std::string text =
      "# Written by `foretell calibrate fit`; do not edit. What each factor means stands in\n"
      "# hw/spec/shared/gemm_factors.cpp; cycles are of the boost clock, B/cycle are of one SM.\n";
  text += fmt::format("device: {}\nsplit: \"{}\"\ntables:\n", file.device, file.split);
  for (const GemmFactorSet& set : file.sets) text += set_text(set);
  return text;
}

void put_gemm_factors(GemmFactorsFile& file, GemmFactorSet set) {
  for (GemmFactorSet& known : file.sets) {
    if (known.framework != set.framework || known.dtype != set.dtype) continue;
    known = std::move(set);
    return;
  }
  file.sets.push_back(std::move(set));
}

}  // namespace foretell
