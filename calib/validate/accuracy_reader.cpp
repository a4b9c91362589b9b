// "foretell.accuracy/1" back into an accuracy report.
#include <nlohmann/json.hpp>

#include "calib/validate/accuracy_report.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

using nlohmann::json;

AccuracyRow row_of(const json& object) {
  AccuracyRow row;
  object.at("group").get_to(row.group);
  object.at("measured").get_to(row.quantity);
  Accuracy& accuracy = row.accuracy;
  object.at("n").get_to(accuracy.n);
  object.at("mape").get_to(accuracy.mape);
  object.at("median").get_to(accuracy.median);
  object.at("p90").get_to(accuracy.p90);
  object.at("bias").get_to(accuracy.bias);
  object.at("ratio10").get_to(accuracy.ratio10);
  object.at("ratio90").get_to(accuracy.ratio90);
  if (!object.at("coverage80").is_null()) accuracy.coverage = object.at("coverage80").get<double>();
  return row;
}

Sample sample_of(const json& object) {
  Sample sample;
  object.at("row").get_to(sample.row);
  object.at("measured").get_to(sample.quantity);
  object.at("value").get_to(sample.comparison.measured);
  object.at("predicted").get_to(sample.comparison.predicted);
  if (object.contains("group")) object.at("group").get_to(sample.group);
  if (object.contains("parts")) object.at("parts").get_to(sample.parts);
  if (object.contains("interval80")) {
    const json& bounds = object.at("interval80");
    sample.comparison.interval80 = Interval{bounds.at(0).get<double>(), bounds.at(1).get<double>()};
  }
  return sample;
}

}  // namespace

AccuracyReport accuracy_from_json(const std::string& text, const std::string& where) {
  AccuracyReport report;
  try {
    const json object = json::parse(text);
    object.at("by").get_to(report.group_columns);
    object.at("rows").get_to(report.rows);
    object.at("failed").get_to(report.failed);
    object.at("notes").get_to(report.notes);
    if (object.contains("interrupted")) object.at("interrupted").get_to(report.interrupted);
    for (const json& row : object.at("overall")) report.overall.push_back(row_of(row));
    for (const json& row : object.at("groups")) report.groups.push_back(row_of(row));
    for (const json& sample : object.at("worst")) report.worst.push_back(sample_of(sample));
    for (const json& sample : object.at("samples")) report.samples.push_back(sample_of(sample));
  } catch (const json::exception&) {
    throw UserError(where + ": the result of a validation, but not whole; write it again");
  }
  for (const AccuracyRow& row : report.groups) {
    if (row.group.size() != report.group_columns.size()) {
      throw UserError(where + ": a group of the validation has other columns than 'by' says");
    }
  }
  return report;
}

}  // namespace foretell
