#include "workloads/traffic/arrivals.hpp"

#include <fmt/format.h>

#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr double kMaxVariation = 100;
constexpr double kMaxBurst = 1e6;

double number_after(std::string_view text, std::string_view kind, double low, double high) {
  const std::optional<double> value = to_number(text.substr(kind.size()));
  if (!value || *value < low || *value > high) {
    throw UserError(
        fmt::format("--arrivals {}: after '{}' stands a number from {} to {}, as in {}{}", text,
                    kind, low, high, kind, low < 1 ? "1.5" : "32"));
  }
  return *value;
}

}  // namespace

ArrivalProcess parse_arrivals(std::string_view text, double rate) {
  ArrivalProcess process;
  process.rate = rate;
  constexpr double kMinVariation = 0.01;
  if (text == "poisson") return process;
  if (text == "uniform") {
    process.kind = ArrivalKind::kUniform;
  } else if (starts_with(text, "gamma:")) {
    process.kind = ArrivalKind::kGamma;
    process.variation = number_after(text, "gamma:", kMinVariation, kMaxVariation);
  } else if (starts_with(text, "burst:")) {
    process.kind = ArrivalKind::kBurst;
    process.together = static_cast<std::int64_t>(number_after(text, "burst:", 1, kMaxBurst));
  } else {
    throw UserError(fmt::format(
        "--arrivals {}: is not known; it can be poisson, uniform, gamma:CV (deviation of the gaps "
        "over their mean, as in gamma:1.5) or burst:N (this many at once)",
        text));
  }
  return process;
}

double next_gap(const ArrivalProcess& process, std::int64_t index, RandomStream& random) {
  const double mean = 1 / process.rate;
  switch (process.kind) {
    case ArrivalKind::kPoisson:
      return mean * random.exponential();
    case ArrivalKind::kUniform:
      return mean;
    case ArrivalKind::kGamma: {
      const double shape = 1 / (process.variation * process.variation);
      return mean * random.gamma(shape) / shape;
    }
    case ArrivalKind::kBurst:
      if (index == 0 || index % process.together != 0) return 0;
      return mean * static_cast<double>(process.together);
  }
  throw InternalError(__FILE__, __LINE__, "a kind of arrivals without gaps");
}

}  // namespace foretell
