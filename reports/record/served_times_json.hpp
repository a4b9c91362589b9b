// JSON of promises and of the times of requests, both ways.
#pragma once

#include "reports/record/record_fields.hpp"
#include "reports/record/serve_record.hpp"

namespace foretell {

template <>
struct RecordFields<ServePromise> {
  using R = ServePromise;
  static constexpr auto kAll =
      std::make_tuple(record_field("metric", &R::metric), record_field("statistic", &R::statistic),
                      record_field("limit_s", &R::limit_s));
};

template <>
struct RecordFields<ServeStatistic> {
  using R = ServeStatistic;
  static constexpr auto kAll = std::make_tuple(
      record_field("mean", &R::mean), record_field("p50", &R::p50), record_field("p90", &R::p90),
      record_field("p95", &R::p95, Written::kAlwaysOfLate), record_field("p99", &R::p99));
};

RecordJson to_json(const ServedTimes& served);

// A list of `count` times. UserError when one is negative or less than the one before.
std::vector<double> read_rising_times(const RecordReader& in, const char* key, std::size_t count);
ServedTimes read_served_times(const RecordReader& in);

}  // namespace foretell
