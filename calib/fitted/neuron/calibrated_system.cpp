#include "calib/fitted/neuron/calibrated_system.hpp"

#include <fmt/format.h>

#include <utility>

#include "calib/fitted/neuron/neuron_factors_file.hpp"
#include "hw/spec/neuron/logical_core.hpp"
#include "hw/spec/shared/data_folder.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

// What a loaded system has beside its facts.
class FittedParameters final : public FurtherParameters {
 public:
  FittedParameters(const fs::path& folder, const std::string& request)
      : folder_(folder), request_(request) {}

  void choose(const NeuronDeviceSpec& device) override {
    std::error_code error;
    const bool is_file = !request_.empty() && !fs::is_directory(request_, error);
    fs::path path = is_file ? fs::path(request_) : file_of(request_, device.id);
    if (request_.empty() || (!is_file && !fs::exists(path, error)))
      path = file_of(folder_, device.id);
    file_.id = file_.status = "none";
    if (request_ == "none" || (!is_file && !fs::exists(path, error))) return;
    file_ = load_factors(path, shown_path(path));
    if (file_.device != device.id) {
      throw UserError(
          fmt::format("{}: fitted on '{}', but the system has '{}'; choose another file or 'none'",
                      shown_path(path), file_.device, device.id));
    }
  }

  void add_to(FieldList& list) override { list.group("factors", file_.factors); }

  void describe(Parameter& parameter) const override {
    parameter.source = file_.id;
    parameter.kind = ValueKind::kNeutral;
    const std::string name = parameter.path.substr(parameter.path.find('.') + 1);
    if (const auto found = file_.provenance.find(name); found != file_.provenance.end()) {
      parameter.kind = ValueKind::kFitted;
      parameter.why = found->second.fitted_on;
      parameter.interval80 = found->second.interval80;
    }
  }

  std::vector<std::string> follow(const NeuronDeviceSpec& published, const NeuronDeviceSpec& stated,
                                  const std::set<std::string>& given) override {
    return follow_overrides(published, stated, given, file_.factors);
  }

  const FactorsFile& file() const { return file_; }

 private:
  const fs::path& folder_;
  const std::string& request_;
  FactorsFile file_;
};

}  // namespace

CalibratedSystem load_calibrated(std::string_view system, const LoadOptions& options,
                                 const Catalog& catalog, const fs::path& folder) {
  FittedParameters fitted(folder, options.factors);
  CalibratedSystem loaded;
  static_cast<LoadedSystem&>(loaded) = catalog.load(system, options.set, &fitted);
  loaded.spec = with_logical_cores(std::move(loaded.spec));
  loaded.factors = fitted.file().factors;
  loaded.factors_id = fitted.file().id;
  loaded.factors_status = fitted.file().status;
  return loaded;
}

}  // namespace foretell
