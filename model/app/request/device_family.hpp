// The seam between the commands and the families of devices: everything that a command has to know
// of a machine. A new family is one implementation of this interface and one line in
// device_family.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hw/spec/shared/catalog.hpp"
#include "model/app/request/prediction.hpp"
#include "model/base/units.hpp"

namespace foretell {

// A part of the machine that `explain` improves to see what it would gain.
struct ImprovedPart {
  std::string path;  // of the parameter
  std::string name;
  double factor;
};

class DeviceFamily {
 public:
  DeviceFamily() = default;
  DeviceFamily(const DeviceFamily&) = delete;
  DeviceFamily& operator=(const DeviceFamily&) = delete;
  virtual ~DeviceFamily() = default;

  virtual std::vector<std::string> systems() const = 0;
  virtual bool has_system(std::string_view id) const = 0;
  // The id as the data spell it. Requires has_system(id).
  virtual std::string find_system(std::string_view id) const = 0;

  // See foretell::predict.
  virtual RunRecord predict(const Request& request) const = 0;

  // What a decision at run time takes, beside the parts that it chooses between.
  virtual Seconds branch_time(const Request& request) const = 0;

  // Shortest length that a program is made for where shapes are fixed. Devices whose software has
  // no such rule take that of Inferentia2, so that the cost of padding can be compared.
  virtual std::int64_t smallest_bucket(const Request& request) const = 0;

  // Of the system of a request, with its overrides and factors.
  virtual std::vector<Parameter> parameters(const Request& request) const = 0;
  virtual Prices prices(const Request& request) const = 0;
  virtual std::vector<ImprovedPart> improved_parts(const Request& request) const = 0;
};

// Of Inferentia2.
std::int64_t published_smallest_bucket();

const DeviceFamily& neuron_family();
const DeviceFamily& gpu_family();
const DeviceFamily& cpu_family();

// The family that has the system. UserError with the nearest name of all families.
const DeviceFamily& family_of(const std::string& system);

// UserError when the system, the workload or the data type of the request has no such name.
void check_names(const Request& request);

}  // namespace foretell
