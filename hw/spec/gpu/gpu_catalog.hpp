// The GPUs in hw/devices/gpu and the nodes in hw/systems/gpu.
//
// A device is also a system of one GPU under its own id, so a new GPU is one file. Ids are read
// without regard to case, and `_` stands for `-`: tables write h100_sxm.
// A chip without its board, "h100", is the SXM one. What a driver prints of a device
// (`driver_names` of its file: "NVIDIA H100 80GB HBM3") is a name, too.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hw/spec/gpu/gpu_spec.hpp"
#include "hw/spec/shared/catalog.hpp"

namespace foretell {

struct LoadedGpuSystem {
  GpuSystemSpec spec;
  std::string spec_id;  // "h100-sxm@<content hash>" of the files, without overrides
  std::vector<Parameter> parameters;
  int assumed_values = 0;  // of kind assumed and not overridden
};

class GpuCatalog {
 public:
  // UserError when a folder is not there or sources.yaml is wrong.
  explicit GpuCatalog(std::filesystem::path hw = hw_folder());

  std::vector<std::string> systems() const;  // devices, and nodes of several; sorted
  std::vector<std::string> devices() const;

  // Is this the name of a GPU or a node of GPUs?
  bool has_system(std::string_view id) const;
  // The id as the data spell it; UserError with the nearest one and the list.
  std::string find_system(std::string_view id) const;
  std::string find_device(std::string_view id) const;

  // Reads, overrides and checks a system. All errors in one UserError.
  LoadedGpuSystem load(std::string_view system, const std::vector<std::string>& set = {}) const;

  const Bibliography& bibliography() const { return bibliography_; }

 private:
  // A number of GPUs of a system that is declared for more of them, or of several such nodes; file
  // "": there is none.
  struct Counted {
    std::string name;
    std::string file;
    int count = 0;
    int most = 0;  // that the links of a node join
    int nodes = 1;
    bool networked = false;
  };
  Counted nodes_called(std::string_view system, std::int64_t count) const;
  // The device that a driver calls so; "": none.
  std::string device_called(std::string_view name) const;
  // The known name, of devices at least, that is meant; a chip that is named alone is its SXM
  // board. "" when there is none.
  std::string meant(const std::vector<std::string>& known, std::string_view id) const;
  std::string find_in(const std::vector<std::string>& known, const char* kind,
                      std::string_view id) const;
  Counted declared_for(std::string_view id) const;
  std::string shown(const std::filesystem::path& path) const;
  GpuSystemSpec read_spec(const std::string& id, std::map<std::string, Provenance>& provenance,
                          std::string& bytes) const;

  std::filesystem::path hw_;
  Bibliography bibliography_;
};

// The device as the project's file describes it, without overrides; one that has no file is its
// own.
const GpuDeviceSpec& published_device(const GpuDeviceSpec& device);
// The same by id; null for one that the project's hw/ does not have. Read once in a run
// (kept_inputs.hpp), for as long as that takes.
const GpuDeviceSpec* find_published_device(const std::string& id);

// The chips of `fitted` that factors may come from, the nearest first: by architecture_distance(),
// then by the ratio of the rates of their memories, then of the cycles of their SMs. `device`
// itself is not among them.
std::vector<std::string> nearest_devices(const GpuDeviceSpec& device,
                                         const std::vector<std::string>& fitted);

}  // namespace foretell
