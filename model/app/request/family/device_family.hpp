// The one seam between the application and the families of devices: everything that a command, a
// study or a program by hand has to know of a machine. A new family is one implementation of this
// interface and one line in device_families.cpp.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hw/spec/shared/catalog.hpp"
#include "model/app/request/prediction.hpp"
#include "model/app/request/resolve/resolved_device.hpp"
#include "model/base/units.hpp"
#include "model/components/shared/execution.hpp"
#include "model/program/file/stated_limits.hpp"
#include "model/program/program.hpp"

namespace foretell {

// A part of the machine that `explain` improves to see what it would gain.
struct ImprovedPart {
  std::string path;  // of the parameter
  std::string name;
  double factor;
};

// A system alone, without a network.
struct SystemSheet {
  SystemFacts facts;
  std::string heading;  // above its parameters: "inf2.xlarge@1a2b: 1 x AWS Inferentia2, …"
  std::string name;     // of the device: "AWS Inferentia2"
  int devices = 0;
  int parts = 0;  // cores or SMs, of all devices
  Bytes memory;   // of all devices
  int vcpus = 0;  // 0: not known
  // For a program by hand.
  ProgramLimits limits;
  StatedLimits stated;
  std::function<Execution(const Program& program)> execute;
  Bytes device_memory;         // of the device that runs it
  BytesPerSecond memory_rate;  // 0: of no meaning
  KernelTraceWords words;      // device "": timelines show entries of queues
};

class DeviceFamily {
 public:
  DeviceFamily() = default;
  DeviceFamily(const DeviceFamily&) = delete;
  DeviceFamily& operator=(const DeviceFamily&) = delete;
  virtual ~DeviceFamily() = default;

  // As the list of request fields says it: "neuron".
  virtual std::string_view name() const = 0;
  // How a file of its systems is recognised: "one of NeuronCores has a 'topology'".
  virtual std::string_view recognised_by() const = 0;
  virtual std::vector<std::string> systems() const = 0;
  virtual std::vector<std::string> devices() const = 0;
  virtual bool has_system(std::string_view id) const = 0;
  // The id as the data spell it. Requires has_system(id).
  virtual std::string find_system(std::string_view id) const = 0;
  // Its software makes programs for fixed lengths, and splits networks over its parts.
  virtual bool fixes_shapes() const { return false; }

  // The system of a request with its overrides; the network is not looked at.
  virtual SystemSheet sheet(const Request& request) const = 0;
  // UserError for unknown names (with the nearest), values out of range, options that the family
  // has no meaning for, and parallelism that does not fit the system.
  std::unique_ptr<ResolvedDevice> resolve(const Request& request) const;

  // See foretell::predict.
  RunRecord predict(const Request& request) const;

  // What a decision at run time takes, beside the parts that it chooses between.
  virtual Seconds branch_time(const Request& request) const = 0;

  // Shortest length that a program is made for where shapes are fixed. Devices whose software has
  // no such rule take that of Inferentia2, so that the cost of padding can be compared.
  virtual std::int64_t smallest_bucket(const Request& request) const;

  // The parameters of the system of a request, with its overrides and factors.
  virtual std::vector<Parameter> parameters(const Request& request) const;
  virtual std::vector<ImprovedPart> improved_parts(const Request& request) const = 0;
  // Of the system by itself: those that are published, or given with --set system.price.…, whatever
  // else is overridden.
  Prices prices(const Request& request) const;

 private:
  // A request that check_request() and the list of fields let pass.
  virtual std::unique_ptr<ResolvedDevice> make_device(const Request& request) const = 0;
};

const DeviceFamily& neuron_family();
const DeviceFamily& gpu_family();
const DeviceFamily& cpu_family();

// All families: those of device_families.cpp, and those added.
const std::vector<const DeviceFamily*>& device_families();
// Before any request, from one thread; `family` has to outlive all requests.
void add_device_family(const DeviceFamily& family);

// The devices of all families.
std::vector<std::string> all_devices();
// Null when no family has the system.
const DeviceFamily* find_family(const std::string& system);
// The family that has the system. UserError with the nearest name of all families.
const DeviceFamily& family_of(const std::string& system);

// UserError when the system, the workload or the data type of the request has no such name.
void check_names(const Request& request);

}  // namespace foretell
