#include "reports/record/distribution_json.hpp"

namespace foretell {

template <>
struct RecordFields<Percentiles> {
  using R = Percentiles;
  static constexpr auto kAll = std::make_tuple(
      record_field("p50", &R::p50), record_field("p90", &R::p90), record_field("p99", &R::p99));
};

template <>
struct RecordFields<PaddingRecord> {
  using R = PaddingRecord;
  static constexpr auto kAll = std::make_tuple(
      record_field("buckets", &R::buckets), record_field("dynamic_call_s", &R::dynamic_call_s),
      record_field("buckets_call_s", &R::buckets_call_s), record_field("overhead", &R::overhead),
      record_field("padding_share", &R::padding_share));
};

template <>
struct RecordFields<PartRecord> {
  using R = PartRecord;
  static constexpr auto kAll =
      std::make_tuple(record_field("name", &R::name), record_field("call_s", &R::call_s),
                      record_field("runs", &R::runs));
};

template <>
struct RecordFields<OutcomeRecord> {
  using R = OutcomeRecord;
  static constexpr auto kAll = std::make_tuple(record_field("call_s", &R::call_s),
                                               record_field("probability", &R::probability));
};

RecordJson to_json(const DistributionRecord& distribution) {
  RecordJson out{{"latency_s", record_json(distribution.latency_s)},
                 {"call_s", record_json(distribution.call_s)}};
  for (const auto& [name, values] : distribution.others) out[name] = record_json(values);
  for (const PaddingRecord& padding : distribution.padding) out["padding"] = record_json(padding);
  if (!distribution.parts.empty()) out["parts"] = record_json(distribution.parts);
  if (!distribution.outcomes.empty()) out["outcomes"] = record_json(distribution.outcomes);
  return out;
}

DistributionRecord read_distribution(const RecordReader& in) {
  DistributionRecord out;
  const auto take = [&in](const char* key, auto& value) {
    RecordValue<std::decay_t<decltype(value)>>::read(in, key, value);
  };
  take("latency_s", out.latency_s);
  take("call_s", out.call_s);
  if (in.has("ttft_s")) take("ttft_s", out.others["ttft_s"]);
  if (in.has("padding")) take("padding", out.padding.emplace_back());
  if (in.has("parts")) take("parts", out.parts);
  if (in.has("outcomes")) take("outcomes", out.outcomes);
  return out;
}

}  // namespace foretell
