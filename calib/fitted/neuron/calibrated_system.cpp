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

  void choose(NeuronDeviceSpec& device) override {
    std::error_code error;
    take_for_measured(device);
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
  const std::string& note() const { return note_; }

 private:
  // Unless it has factors of its own, as a file or in a folder.
  void take_for_measured(NeuronDeviceSpec& device) {
    if (device.like.device.empty()) return;
    if (device.id != device.like.device && has_own_factors(device.id)) {
      device.like = {};
      return;
    }
    device.like.note = note_ = likeness_note(device.id, device.like);
    device.id = device.like.device;
  }

  bool has_own_factors(const std::string& device) const {
    std::error_code error;
    if (fs::exists(file_of(folder_, device), error)) return true;
    if (request_.empty() || request_ == "none") return false;
    if (fs::is_directory(request_, error)) return fs::exists(file_of(request_, device), error);
    return load_factors(request_, shown_path(request_)).device == device;
  }

  const fs::path& folder_;
  const std::string& request_;
  FactorsFile file_;
  std::string note_;
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
  loaded.note = fitted.note();
  return loaded;
}

}  // namespace foretell
