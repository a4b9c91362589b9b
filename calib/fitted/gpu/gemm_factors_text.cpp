#include <fmt/format.h>

#include "calib/fitted/gpu/gemm_factors_file.hpp"

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
      "    held_out: \"{}\"\n    interval80: [{:.3f}, {:.3f}]\n",
      set.framework, set.version, set.dtype, set.fitted_on, set.held_out, set.interval_low,
      set.interval_high);
  text += factor_parent_text(set.stated.like);
  FactorTexts stated = set.stated.own;
  if (!set.stated.like) {
    stated.clear();
    GemmFactors factors = set.factors;
    FieldList list;
    fields(list, factors);
    for (const Field& field : list.all()) {
      if (field.number() != 0) stated.emplace_back(field.path, short_text(field));
    }
  }
  text += stated.empty() ? "    factors: {}\n" : "    factors:\n";
  for (const auto& [name, value] : stated) text += fmt::format("      {}: {}\n", name, value);
  return text + fit_evidence_text(set.evidence, "    ");
}

}  // namespace

std::string gemm_factors_text(const GemmFactorsFile& file) {
  std::string text =
      "# Written by `foretell calibrate fit`; do not edit. What each factor means stands in\n"
      "# hw/spec/shared/gemm_factors.cpp; cycles are of the boost clock, B/cycle are of one SM.\n"
      "# A factor that is not named does not apply.\n";
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
