#include "model/app/tables/kinds/power_conditions.hpp"

#include <algorithm>

#include "model/base/data_root.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"
#include "model/config/node_number.hpp"
#include "model/config/node_text.hpp"

namespace foretell {
namespace {

std::vector<std::string> names_in(const Node& map, const char* key) {
  return item_texts(map.required(key, ""), key);
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

const char* to_string(PowerCondition condition) {
  switch (condition) {
    case PowerCondition::kRandom:
      return "random operands";
    case PowerCondition::kOther:
      return "other operands";
    case PowerCondition::kUnsteady:
      return "unsteady prompts";
    case PowerCondition::kZeros:
      return "weights of zeros";
    case PowerCondition::kUnwritten:
      return "keys that were not written";
    case PowerCondition::kUnknown:
      return "operands that are not known";
  }
  throw InternalError(__FILE__, __LINE__, "a condition without a name");
}

std::string power_interval_key(const std::string& kernel_class, PowerCondition condition) {
  return kernel_class.substr(0, kernel_class.rfind(' ')) + ", " + to_string(condition);
}

PowerConditions::PowerConditions() {
  const Node root =
      load_document((data_root() / "calib" / "fit" / "gpu_energy_rows.yaml").string());
  root.only_keys({"random_operands", "zero_weights", "unwritten_keys", "unknown_operands",
                  "unsteady_prompts", "streams", "meter", "cold_tests"},
                 "");
  random_operands_ = names_in(root, "random_operands");
  for (const Node& item : root.required("zero_weights", "").items) {
    item.only_keys({"kernel", "experts_above"}, "zero_weights");
    zero_weights_[item.required("kernel", "zero_weights").as_text("kernel")] =
        required_number(item, "experts_above");
  }
  unwritten_libraries_ = names_in(root, "unwritten_keys");
  for (const Node& item : root.required("unknown_operands", "").items) {
    item.only_keys({"library", "kernels"}, "unknown_operands");
    unknown_operands_[item.required("library", "unknown_operands").as_text("library")] =
        names_in(item, "kernels");
  }
  const Node& unsteady = root.required("unsteady_prompts", "");
  unsteady.only_keys({"above", "libraries"}, "unsteady_prompts");
  longest_steady_ = required_number(unsteady, "above");
  unsteady_libraries_ = names_in(unsteady, "libraries");
  const Node& streams = root.required("streams", "");
  streams.only_keys({"least_us", "memory_share"}, "streams");
  shortest_stream_us_ = required_number(streams, "least_us");
  stream_share_ = required_number(streams, "memory_share");
  const Node& meter = root.required("meter", "");
  meter.only_keys({"window_s", "test_s", "least_runs", "warm_runs"}, "meter");
  meter_ = {Seconds(required_number(meter, "window_s")), Seconds(required_number(meter, "test_s")),
            required_number(meter, "least_runs"), required_number(meter, "warm_runs")};
  for (const Node& item : root.required("cold_tests", "").items) {
    item.only_keys({"library", "kernels", "rows"}, "cold_tests");
    cold_tests_.push_back({item.required("library", "cold_tests").as_text("library"),
                           names_in(item, "kernels"), required_number(item, "rows")});
  }
}

PowerCondition PowerConditions::of(const PowerRow& row, const std::string& library,
                                   const std::string& kernel) const {
  const auto zeros = zero_weights_.find(kernel);
  if (zeros != zero_weights_.end() && row.experts > zeros->second) return PowerCondition::kZeros;
  if (contains(unwritten_libraries_, library) && starts_with(row.kernel_class, "context attention"))
    return PowerCondition::kUnwritten;
  const auto unknown = unknown_operands_.find(library);
  if (unknown != unknown_operands_.end() && contains(unknown->second, row.kernel_class))
    return PowerCondition::kUnknown;
  const bool is_steady = row.queries <= longest_steady_ ||
                         starts_with(row.kernel_class, "encoder") ||
                         !contains(unsteady_libraries_, library);
  if (!is_steady) return PowerCondition::kUnsteady;
  return is_random(library) ? PowerCondition::kRandom : PowerCondition::kOther;
}

double shown_of_cold_test(const PowerMeter& meter, Seconds kernel) {
  // In windows of the meter: how long the board has worked when the test begins, how long the test
  // takes, and how long of it the window still holds idle time.
  const double warm = std::min(1.0, kernel * meter.warm_runs / meter.window);
  const double test = std::max(kernel * meter.least_runs / meter.window, meter.test / meter.window);
  const double rising = std::min(test, 1 - warm);
  return (rising * (warm + rising / 2) + test - rising) / test;
}

double PowerConditions::shown_share(const PowerRow& row, const std::string& library) const {
  for (const ColdTests& cold : cold_tests_) {
    if (cold.library == library && contains(cold.kernels, row.kernel_class) &&
        cold.rows == row.rows)
      return shown_of_cold_test(meter_, row.latency);
  }
  return 1;
}

bool PowerConditions::is_random(const std::string& library) const {
  return contains(random_operands_, library);
}

}  // namespace foretell
