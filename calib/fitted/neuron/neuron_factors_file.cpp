#include "calib/fitted/neuron/neuron_factors_file.hpp"

#include <fmt/format.h>

#include "calib/fitted/shared/factor_file.hpp"
#include "model/base/hash.hpp"
#include "model/config/document.hpp"

namespace foretell {

FactorsFile parse_factors(const std::string& text, const std::string& shown_as) {
  FactorsFile file;
  FieldList list;
  fields(list, file.factors);
  const FactorFile read = parse_factor_table(text, shown_as, {{}, &list, true});
  const FactorTable& table = read.tables.front();
  file.device = read.device;
  file.split = read.split;
  file.fitted_on = table.fitted_on;
  file.id = fmt::format("{}@{}", file.device, content_hash(text));
  const std::map<std::string, std::string> intervals = interval_texts(table.evidence);
  file.status = intervals.empty() ? "provisional" : "fitted";
  for (const auto& factor : table.factors) {
    FittedValue& value = file.provenance[factor.first];
    const auto interval = intervals.find(factor.first);
    if (interval != intervals.end()) value.interval80 = interval->second;
    const auto remark = table.remarks.find(factor.first);
    value.fitted_on = remark == table.remarks.end() ? table.fitted_on : remark->second.why;
  }
  for (const FactorInterval& interval : table.evidence.interval80) {
    file.provenance[interval.factor].is_identified = interval.is_identified;
  }
  return file;
}

FactorsFile load_factors(const std::filesystem::path& path, const std::string& shown_as) {
  const std::string name = shown_as.empty() ? path.string() : shown_as;
  return parse_factors(read_text_file(path, name), name);
}

}  // namespace foretell
