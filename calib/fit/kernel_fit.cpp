#include "calib/fit/kernel_fit.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "calib/fit/minimise.hpp"
#include "calib/fit/random.hpp"
#include "model/base/errors.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

constexpr double kReach = 3;  // how far a factor may go from its start, in powers of e
constexpr double kFirstStep = 0.15;
constexpr double kLongStep = 0.5;

}  // namespace

bool plan_names(const Node* list, const std::string& text) {
  if (list == nullptr) return true;
  return std::any_of(list->items.begin(), list->items.end(), [&](const Node& item) {
    return fnmatch(item.text.c_str(), text.c_str(), 0) == 0;
  });
}

bool is_held_out_family(std::int64_t n, std::int64_t k) {
  auto hash = static_cast<std::uint32_t>(n / 32) * 2654435761U ^
              static_cast<std::uint32_t>(k / 32) * 2246822519U;
  hash ^= hash >> 15U;
  hash *= 2654435761U;
  return (hash >> 28U) % 4 == 0;
}

bool is_held_out_heads(std::int64_t heads, std::int64_t key_heads, std::int64_t head_dim) {
  constexpr std::int64_t kResidues = 11;
  return (heads + 3 * key_heads + 7 * head_dim / 64) % kResidues < 3;
}

bool makes_interval(std::int64_t a, std::int64_t b, std::int64_t c) {
  // Mixed as by Steele et al. (2014), so that it has nothing to do with who is held out.
  auto bits = static_cast<std::uint64_t>(a) * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(b);
  bits = bits * 0xd1b54a32d192ed03U + static_cast<std::uint64_t>(c);
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  return ((bits ^ (bits >> 31U)) & 1U) == 0;
}

std::vector<std::string> load_kernel_start(const std::string& path, const std::string& architecture,
                                           const std::string& table, FieldList& fields) {
  const Node root = load_document(path);
  root.only_keys({"starts", "sharing"}, "");
  for (const Node& entry : root.required("starts", "").items) {
    entry.only_keys({"architectures", "tables", "why", "fixed", "factors"}, "starts");
    if (!plan_names(entry.find("architectures"), architecture) ||
        !plan_names(entry.find("tables"), table)) {
      continue;
    }
    Problems problems;
    for (const MapEntry& factor : entry.required("factors", "starts").entries) {
      const Field* field = fields.find(factor.key);
      if (field == nullptr) {
        const std::string nearest = fields.nearest(factor.key);
        problems.add(factor.value, factor.key,
                     "no such factor" + (nearest.empty() ? "" : "; nearest is '" + nearest + "'"));
      } else {
        read_plain_value(*field, factor.value, problems);
      }
    }
    problems.throw_if_any();
    std::vector<std::string> fixed;
    if (const Node* list = entry.find("fixed")) {
      for (const Node& name : list->items) fixed.push_back(fields.at(name.text).path);
    }
    return fixed;
  }
  throw UserError(fmt::format("{}: no start for {} on {}; add one", path, table, architecture));
}

KernelFit fit_kernel(FieldList& fields, const std::vector<std::string>& fixed, int evaluations,
                     int starts, const std::function<double()>& loss) {
  KernelFit fit;
  std::vector<const Field*> free;
  std::vector<double> at;
  Box box;
  for (const Field& field : fields.all()) {
    if (!(field.number() > 0) || std::count(fixed.begin(), fixed.end(), field.path) > 0) continue;
    free.push_back(&field);
    fit.free.push_back(field.path);
    at.push_back(std::log(field.number()));
    box.low.push_back(std::max(at.back() - kReach, field.min > 0 ? std::log(field.min) : -1e3));
    box.high.push_back(std::min(at.back() + kReach, std::log(field.max)));
  }
  const auto assign = [&](const std::vector<double>& x) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double value = std::clamp(std::exp(x[i]), free[i]->min, free[i]->max);
      free[i]->assign(format_quantity(value, free[i]->dimension));
    }
  };
  const auto loss_at = [&](const std::vector<double>& x) {
    assign(x);
    return loss();
  };
  Minimum best = minimise_rough(loss_at, box, at, kFirstStep, evaluations);
  // Again from there with long steps: such losses have poor local minima.
  for (int start = 1; start < starts; ++start) {
    const Minimum other = minimise_rough(loss_at, box, best.at, start * kLongStep, evaluations);
    if (other.value < best.value) best = other;
  }
  assign(best.at);
  fit.loss = best.value;
  return fit;
}

std::vector<std::size_t> draw_rows(std::size_t size, std::size_t wanted, std::uint64_t seed) {
  std::vector<std::size_t> places(size);
  std::iota(places.begin(), places.end(), std::size_t{0});
  Random random(seed);
  const std::size_t count = std::min(wanted, size);
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(places[i], places[i + random.index(size - i)]);
  }
  places.resize(count);
  return places;
}

}  // namespace foretell
