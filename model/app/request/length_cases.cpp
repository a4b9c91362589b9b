#include "model/app/request/length_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "model/app/request/resolve/compiled_lengths.hpp"
#include "model/app/request/resolve/distribution_text.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr std::string_view kDynamic = "dynamic";
constexpr std::string_view kBuckets = "buckets";
constexpr std::string_view kDimension = "dim ";
constexpr const char* kOutput = "output-len";

constexpr std::int64_t kAnyLength = std::numeric_limits<std::int64_t>::max() / 2;

using Lengths = std::map<std::string, Distribution>;

Lengths lengths_of(const Request& request) {
  Lengths lengths;
  for (const auto& [option, text] : request.distributions)
    lengths.emplace(option, parse_distribution("--" + option, text, 1, kAnyLength));
  if (!lengths.empty()) return lengths;
  for (const char* option : {"seq", "input-len", kOutput}) {
    const std::int64_t length = count_of(request_field(option), request);
    if (length > 0) lengths.emplace(option, Distribution::certain(static_cast<double>(length)));
  }
  if (lengths.empty()) {
    throw UserError(
        "shapes is about lengths that vary; add one, such as --seq uniform:16..512, or leave it "
        "out");
  }
  return lengths;
}

// The smallest one and its doubles that are below the longest length, and that length, as the
// vendor's library for language models compiles them by default.
std::vector<std::int64_t> default_buckets(std::int64_t smallest, std::int64_t longest) {
  std::vector<std::int64_t> buckets;
  for (std::int64_t bucket = smallest; bucket < longest; bucket *= 2) buckets.push_back(bucket);
  buckets.push_back(longest);
  return buckets;
}

// For each length that is padded.
std::map<std::string, std::vector<std::int64_t>> buckets_of(const Lengths& lengths,
                                                            std::string_view list,
                                                            std::int64_t smallest) {
  std::map<std::string, std::vector<std::int64_t>> buckets;
  for (const auto& [option, distribution] : lengths) {
    if (option == kOutput) continue;
    const auto longest = static_cast<std::int64_t>(distribution.highest());
    buckets[option] =
        list.empty() ? default_buckets(smallest, longest) : parse_buckets("shapes: bucket", list);
    if (buckets[option].back() < longest) {
      throw UserError(fmt::format("shapes: the largest bucket is {}, but {} goes up to {}; add it",
                                  buckets[option].back(), option, longest));
    }
  }
  return buckets;
}

std::vector<LengthCase> combinations(const Lengths& lengths) {
  std::vector<LengthCase> cases = {{{}, 1}};
  for (const auto& [option, distribution] : lengths) {
    if (cases.size() * distribution.points().size() > kMaxLengths) {
      throw UserError(
          fmt::format("the lengths have more than {} combinations; take every n-th: "
                      "uniform:LOW..HIGH:STEP",
                      kMaxLengths));
    }
    std::vector<LengthCase> longer;
    for (const LengthCase& each : cases) {
      for (const Distribution::Point& point : distribution.points()) {
        LengthCase next = each;
        next.lengths[option] = static_cast<std::int64_t>(point.value);
        next.probability *= point.probability;
        longer.push_back(std::move(next));
      }
    }
    cases = std::move(longer);
  }
  return cases;
}

void pad(LengthCases& cases) {
  std::map<std::map<std::string, std::int64_t>, double> padded;
  double useful = 0;
  double all = 0;
  for (const LengthCase& each : cases.dynamic) {
    std::map<std::string, std::int64_t> lengths = each.lengths;
    double share = 1;
    for (auto& [option, length] : lengths) {
      const auto buckets = cases.buckets.find(option);
      if (buckets == cases.buckets.end()) continue;
      const std::int64_t bucket =
          *std::lower_bound(buckets->second.begin(), buckets->second.end(), length);
      share *= static_cast<double>(length) / static_cast<double>(bucket);
      length = bucket;
    }
    double area = 1;
    for (const auto& [option, length] : lengths) area *= static_cast<double>(length);
    useful += each.probability * area * share;
    all += each.probability * area;
    padded[std::move(lengths)] += each.probability;
  }
  for (const auto& [lengths, probability] : padded) cases.padded.push_back({lengths, probability});
  cases.padding_share = 1 - useful / all;
}

}  // namespace

bool has_length_cases(const Request& request) {
  return !request.distributions.empty() || !request.shapes.empty();
}

LengthCases length_cases(const Request& request, const BucketRule& rule) {
  const std::string_view shapes = trim(request.shapes);
  const std::string_view mode = shapes.substr(0, shapes.find(':'));
  const std::string_view list = mode == shapes ? "" : shapes.substr(mode.size() + 1);
  if (!shapes.empty() && mode != kBuckets && mode != kDynamic)
    throw unknown_name("shapes", mode, {std::string(kDynamic), std::string(kBuckets)});
  if (mode != shapes && (mode == kDynamic || list.empty())) {
    throw UserError(fmt::format(
        "shapes: '{}' is not allowed; it must be dynamic, buckets or buckets:64,128,512", shapes));
  }
  const Lengths lengths = lengths_of(request);
  LengthCases cases;
  cases.pads = shapes.empty() ? rule.pads_by_default : mode == kBuckets;
  cases.buckets = buckets_of(lengths, list, rule.smallest);
  cases.dynamic = combinations(lengths);
  pad(cases);
  return cases;
}

Request with_lengths(const Request& request, const LengthCase& lengths) {
  Request one = request;
  one.distributions.clear();
  one.shapes.clear();
  one.trace_file.clear();
  for (const auto& [option, length] : lengths.lengths) {
    if (starts_with(option, kDimension)) {
      one.dimensions[option.substr(kDimension.size())] = length;
    } else {
      set_count(request_field(option), one, length);
    }
  }
  return one;
}

std::string to_text(const LengthCase& lengths) {
  std::vector<std::string> words;
  for (const auto& [option, length] : lengths.lengths)
    words.push_back(fmt::format("{} {}", option, length));
  return join(words, ", ");
}

}  // namespace foretell
