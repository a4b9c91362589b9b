#include "calib/fitted/neuron/neuron_factors_file.hpp"

#include <fmt/format.h>

#include "hw/spec/neuron/neuron_fields.hpp"
#include "model/base/errors.hpp"
#include "model/base/hash.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"

namespace foretell {

namespace {

constexpr const char* kFitted = "fitted";
constexpr const char* kProvisional = "provisional";

std::string read_status(const Node& node) {
  const std::string& status = node.as_text("status");
  if (status != kProvisional && status != kFitted) {
    throw UserError(fmt::format("{}: status: {}", node.where(),
                                unknown_name("status", status, {kProvisional, kFitted}).what()));
  }
  return status;
}

}  // namespace

FactorsFile parse_factors(const std::string& text, const std::string& shown_as) {
  const Node root = parse_document(text, shown_as);
  root.only_keys({"device", "status", "fitted_on", "split", "factors"}, "");
  FactorsFile file;
  file.device = root.required("device", "").as_text("device");
  file.status = read_status(root.required("status", ""));
  file.fitted_on = root.required("fitted_on", "").as_text("fitted_on");
  file.split = root.required("split", "").as_text("split");
  file.id = fmt::format("{}@{}", file.device, content_hash(text));

  FieldList list;
  fields(list, file.factors);
  Problems problems;
  const auto read_source = [&](const Field& field, const Node& node, FittedValue& value) {
    const Node* fitted_on = node.find("fitted_on");
    const Node* status = node.find("status");
    value.fitted_on = fitted_on == nullptr ? file.fitted_on : fitted_on->text;
    value.status = status == nullptr ? file.status : read_status(*status);
    if (value.status == kFitted && node.find("interval80") == nullptr)
      problems.add(node, field.path, "a fitted factor needs an 'interval80'");
  };
  file.provenance = load_fitted_values(root.required("factors", ""), list, {"fitted_on", "status"},
                                       read_source, problems);
  problems.throw_if_any();
  return file;
}

FactorsFile load_factors(const std::filesystem::path& path, const std::string& shown_as) {
  const std::string name = shown_as.empty() ? path.string() : shown_as;
  return parse_factors(read_text_file(path, name), name);
}

}  // namespace foretell
