// The data in hw/: which systems and devices there are, and a system with all its effective
// parameters.
//
// A parameter has one path everywhere: `--set`, studies, `show`, records. `system.…` is the
// instance, `device.…` every device of it, `core.…` every core, `link.…` every link, `factors.…` a
// fitted factor, which facts know nothing of. Below that, the path is the place in the YAML file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hw/spec/neuron/neuron_spec.hpp"
#include "hw/spec/shared/provenance.hpp"
#include "model/config/fields.hpp"

namespace foretell {

// Where the data are: systems/, devices/, cores/, sources.yaml and more. By default beside the
// program or what it was built from; the environment variable FORETELL_HW names another folder.
std::filesystem::path hw_folder();
// Paths inside the project as they are from its root, all others as they are.
std::string shown_path(const std::filesystem::path& path);

// One effective parameter of a loaded system.
struct Parameter {
  std::string path;    // "device.hbm.bandwidth"
  std::string value;   // "820 GB/s"
  std::string source;  // id of hw/sources.yaml and place, the factors file, or "--set"
  ValueKind kind = ValueKind::kAssumed;
  std::string why;
  std::string meaning;
  bool overridden = false;  // by another value than it had
  // What an override replaced, or what the machine has that one of the user's is taken for; ""
  // where that is not stated.
  std::string before;
  bool differs = false;                   // from the machine that one of the user's is taken for
  std::string use;                        // the chosen alternative, "" without any
  std::vector<Alternative> alternatives;  // what was published otherwise
  std::string interval80;                 // of a fitted factor, "" when unknown
};

struct LoadedSystem {
  NeuronSystemSpec spec;
  std::string spec_id;  // "inf2.xlarge@<content hash>" of the files, without overrides
  std::vector<Parameter> parameters;
  int assumed_values = 0;  // of kind assumed and not overridden
};

class DeviceFile;

// Parameters beside those of a system that overrides may name as well, as fitted factors are.
class FurtherParameters {
 public:
  virtual ~FurtherParameters() = default;
  // Which device the fields are of; called first. One of the user's that has none takes the id of
  // the one that it is like. UserError when there are none for it.
  virtual void choose(NeuronDeviceSpec& device) = 0;
  virtual void add_to(FieldList& list) = 0;
  // Fills in where a value that was not overridden is from.
  virtual void describe(Parameter& parameter) const = 0;
  // How they follow overrides of the device, but for paths in `given`. Paths that moved.
  virtual std::vector<std::string> follow(const NeuronDeviceSpec& published,
                                          const NeuronDeviceSpec& stated,
                                          const std::set<std::string>& given) = 0;
};

class Catalog {
 public:
  // UserError when a folder is not there or sources.yaml is wrong.
  explicit Catalog(std::filesystem::path hw = hw_folder());

  std::vector<std::string> systems() const;  // ids, sorted
  std::vector<std::string> devices() const;
  std::vector<std::string> cores() const;

  // Is this the name of one, or of several instances of one?
  bool has_system(std::string_view id) const;
  // The id as the data spell it, or the file as it is named; UserError with the nearest id and the
  // list. "trn1.32xlarge-x2" is two instances; UserError for those that have no network.
  std::string find_system(std::string_view id) const;

  // Reads, overrides ("device.hbm.bandwidth=1.6 TB/s") and checks a system. The id is
  // case-insensitive. All errors in one UserError.
  LoadedSystem load(std::string_view system, const std::vector<std::string>& set = {},
                    FurtherParameters* further = nullptr) const;

  const Bibliography& bibliography() const { return bibliography_; }

 private:
  std::filesystem::path file(std::string_view folder, std::string_view id) const;
  Node read_document(const std::filesystem::path& path, std::string& bytes) const;
  // The id under `key` ("device") of a document, which must be a file of `folder`, or the file that
  // is named there.
  std::string reference(const Node& root, const std::filesystem::path& path, const std::string& key,
                        const std::string& folder) const;
  NeuronSystemSpec read_spec(const std::string& id, std::map<std::string, Provenance>& provenance,
                             std::string& bytes) const;
  // Of a name that is not in the data: the instance, and how many; "": it says none.
  std::pair<std::string, std::int64_t> instances_called(std::string_view id) const;
  // What reading the files of a system adds to.
  struct Parts {
    std::map<std::string, Provenance>& provenance;
    std::string& bytes;
    Problems& problems;
  };
  template <class Part, class ToEffective>
  void read_part(const DeviceFile& values, const Node& root, const std::filesystem::path& path,
                 Part& part, const std::vector<std::string>& own_keys,
                 const ToEffective& to_effective, Parts& parts) const;
  void read_device(const std::string& name, NeuronDeviceSpec& device, Parts& parts) const;
  // The device that one of the user's is like, which it then names.
  static std::optional<NeuronDeviceSpec> find_likeness(NeuronSystemSpec& spec);

  std::filesystem::path hw_;
  Bibliography bibliography_;
};

}  // namespace foretell
