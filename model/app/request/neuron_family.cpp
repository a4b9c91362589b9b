// NeuronCores as a family of devices.
#include <algorithm>

#include "hw/spec/shared/data_folder.hpp"
#include "model/app/request/device_family.hpp"
#include "model/app/request/resolved_request.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

LoadedSystem load(const Request& request) {
  LoadOptions options;
  options.set = machine_set(request);
  options.factors = request.factors;
  return Catalog().load(request.system, options);
}

class NeuronFamily : public DeviceFamily {
 public:
  std::vector<std::string> systems() const override { return Catalog().systems(); }

  bool has_system(std::string_view id) const override {
    if (is_file_name(id)) return is_system_file(id, SystemFileKind::kNeuron);
    const std::vector<std::string> known = systems();
    return std::any_of(known.begin(), known.end(), [id](const std::string& system) {
      return to_lower(system) == to_lower(id);
    });
  }

  std::string find_system(std::string_view id) const override { return Catalog().find_system(id); }

  RunRecord predict(const Request& request) const override {
    const ResolvedRequest resolved = resolve(request);
    return make_record(resolved, simulate(resolved));
  }

  // The compiler knows no control flow: the host decides, and every part is a call of its own,
  // which pays for itself (factors.call_overhead).
  Seconds branch_time(const Request& request) const override {
    return load(request).spec.device.host.branch_time;
  }

  std::int64_t smallest_bucket(const Request& request) const override {
    return load(request).spec.device.host.smallest_bucket;
  }

  std::vector<Parameter> parameters(const Request& request) const override {
    return load(request).parameters;
  }

  Prices prices(const Request& request) const override {
    return load(request).spec.price_usd_per_hour;
  }

  std::vector<ImprovedPart> improved_parts(const Request& request) const override {
    std::vector<ImprovedPart> parts = {{"core.tensor.clock", "tensor engine clock", 2},
                                       {"core.vector.clock", "vector engine clock", 2},
                                       {"core.scalar.clock", "scalar engine clock", 2},
                                       {"core.gpsimd.clock", "GpSimd engine clock", 2},
                                       {"core.dma.engine_rate", "DMA engine rate", 2},
                                       {"device.hbm.bandwidth", "HBM bandwidth", 2},
                                       {"factors.semaphore_latency", "semaphore latency", 0.5},
                                       {"factors.call_overhead", "call overhead", 0.5}};
    if (request.tp > 1 || trains(request)) {
      parts.push_back({"link.hop_latency", "hop latency of collectives", 0.5});
      parts.push_back({"device.collective.rate", "rate of collectives", 2});
    }
    return parts;
  }
};

}  // namespace

std::int64_t published_smallest_bucket() {
  return Catalog().load("inf2.xlarge").spec.device.host.smallest_bucket;
}

const DeviceFamily& neuron_family() {
  static const NeuronFamily kFamily;
  return kFamily;
}

}  // namespace foretell
