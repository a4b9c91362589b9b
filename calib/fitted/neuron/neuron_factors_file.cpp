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

// Reads `{value: …, interval80: […, …], fitted_on: …}`.
class FactorReader {
 public:
  explicit FactorReader(FactorsFile& file) : file_(file) {}

  void operator()(const Field& field, const Node& node, Problems& problems) const {
    try {
      node.required("value", field.path);
      node.only_keys({"value", "interval80", "fitted_on", "status"}, field.path);
    } catch (const UserError& error) {
      problems.add(error.what());
      return;
    }
    FactorProvenance provenance{file_.fitted_on, "", file_.status};
    if (const Node* fitted_on = node.find("fitted_on")) provenance.fitted_on = fitted_on->text;
    problems.collect([&] {
      if (const Node* status = node.find("status")) provenance.status = read_status(*status);
    });
    read_interval(field, node, problems, provenance);
    read_plain_value(field, *node.find("value"), problems);
    file_.provenance[field.path] = provenance;
  }

 private:
  void read_interval(const Field& field, const Node& node, Problems& problems,
                     FactorProvenance& provenance) const {
    const Node* interval = node.find("interval80");
    if (interval == nullptr) {
      if (provenance.status == kFitted)
        problems.add(node, field.path, "a fitted factor needs an 'interval80'");
      return;
    }
    if (!interval->is_list() || interval->items.size() != 2) {
      problems.add(*interval, field.path + ".interval80", "expected two values: [low, high]");
      return;
    }
    double bounds[2] = {0, 0};
    for (std::size_t i = 0; i < 2; ++i) {
      read_plain_value(field, interval->items[i], problems);
      bounds[i] = field.has_value() ? field.number() : 0;
    }
    if (bounds[0] > bounds[1]) {
      problems.add(*interval, field.path + ".interval80", "the low end is above the high end");
    }
    provenance.interval80 =
        fmt::format("{} .. {}", interval->items[0].text, interval->items[1].text);
  }

  FactorsFile& file_;
};

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
  load_fields(root.required("factors", ""), list, {}, FactorReader(file), problems);
  problems.throw_if_any();
  return file;
}

FactorsFile load_factors(const std::filesystem::path& path, const std::string& shown_as) {
  const std::string name = shown_as.empty() ? path.string() : shown_as;
  return parse_factors(read_text_file(path, name), name);
}

}  // namespace foretell
