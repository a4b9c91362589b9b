#include "calib/fit/factors_yaml.hpp"

#include <fmt/format.h>

#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr std::string_view kSdkTable = "sdk_engine_time.";

std::string comment(const std::string& text) { return "# " + text + "\n"; }

std::string quoted(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return '"' + escaped + '"';
}

std::string leaf(const FactorEstimate& estimate) {
  const FreeFactor& factor = estimate.factor;
  std::string text = fmt::format("{{value: {}, interval80: [{}, {}]", factor.text(estimate.value),
                                 factor.text(estimate.low80), factor.text(estimate.high80));
  if (!estimate.identified) {
    text += ", fitted_on: " +
            quoted("nothing: the rows do not determine it; published or assumed: " + factor.why);
  }
  return text + "}\n";
}

std::string head(const FitResult& result, const FactorsText& text) {
  std::string head = comment("Written by `foretell calibrate fit`; do not edit.");
  for (const std::string& line : text.residuals) head += comment(line);
  for (const Correlation& pair : result.correlations) {
    head += comment(fmt::format("{} and {} trade off against each other: correlation {:+.2f}.",
                                pair.first, pair.second, pair.value));
  }
  head += "device: " + text.device + "\nstatus: fitted\nfitted_on: " + quoted(text.fitted_on) +
          "\nsplit: " + quoted(text.split) + "\nfactors:\n";
  return head;
}

}  // namespace

std::string factors_yaml(const FitResult& result, const FactorsText& text) {
  std::string plain;
  std::string by_release;
  std::string release_meaning;
  for (const FactorEstimate& estimate : result.factors) {
    const FreeFactor& factor = estimate.factor;
    if (!factor.applies_to(text.device)) continue;
    if (starts_with(factor.name, kSdkTable)) {
      release_meaning = "  " + comment(factor.meaning) + "  sdk_engine_time:\n";
      by_release += "    " + quoted(factor.name.substr(kSdkTable.size())) + ": " + leaf(estimate);
    } else {
      plain += "  " + comment(factor.meaning) + "  " + factor.name + ": " + leaf(estimate);
    }
  }
  return head(result, text) + plain + release_meaning + by_release;
}

}  // namespace foretell
