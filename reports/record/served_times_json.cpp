#include "reports/record/served_times_json.hpp"

#include <algorithm>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr const char* kServedTimes[] = {"ttft_s", "tpot_s", "e2e_s"};

bool rises(const std::vector<double>& numbers) {
  return std::is_sorted(numbers.begin(), numbers.end()) &&
         (numbers.empty() || numbers.front() >= 0);
}

}  // namespace

RecordJson to_json(const ServedTimes& served) {
  RecordJson out{{"promises", record_json(served.promises, plain_number)},
                 {"shares", served.shares}};
  for (const char* name : kServedTimes) {
    const auto times = served.times_s.find(name);
    if (times != served.times_s.end()) out[name] = times->second;
  }
  return out;
}

std::vector<double> read_rising_times(const RecordReader& in, const char* key, std::size_t count) {
  std::vector<double> times;
  in.get(key, times);
  if (times.size() != count || !rises(times))
    in.fail(std::string(key) + ": must be times that grow, one per share");
  return times;
}

ServedTimes read_served_times(const RecordReader& in) {
  ServedTimes out;
  if (in.has("promises")) {
    RecordValue<std::vector<ServePromise>>::read(in, "promises", out.promises);
  }
  in.get("shares", out.shares);
  if (!rises(out.shares) || (!out.shares.empty() && out.shares.back() > 1))
    in.fail("shares: must be numbers from 0 to 1 that grow");
  for (const char* name : kServedTimes) {
    if (in.has(name)) out.times_s[name] = read_rising_times(in, name, out.shares.size());
  }
  return out;
}

}  // namespace foretell
