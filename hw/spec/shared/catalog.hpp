// The data in hw/ and calib/factors/: which systems and devices there are, and a system with all
// its effective parameters.
//
// A parameter has one path everywhere: `--set`, studies, `show`, records. `system.…` is the
// instance, `device.…` every device of it, `core.…` every core, `link.…` every link, `factors.…` a
// fitted factor. Below that, the path is the place in the YAML file.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hw/spec/neuron/neuron_spec.hpp"
#include "hw/spec/shared/factors_file.hpp"
#include "hw/spec/shared/provenance.hpp"

namespace foretell {

// Where the data are. By default what the program was built from; the environment variables
// FORETELL_HW and FORETELL_FACTORS name other folders.
struct CatalogPaths {
  std::filesystem::path hw;       // holds systems/, devices/, cores/ and sources.yaml
  std::filesystem::path factors;  // holds <device>.yaml
};
CatalogPaths default_catalog_paths();

// One effective parameter of a loaded system.
struct Parameter {
  std::string path;    // "device.hbm.bandwidth"
  std::string value;   // "820 GB/s"
  std::string source;  // id of hw/sources.yaml and place, the factors file, or "--set"
  ValueKind kind = ValueKind::kAssumed;
  std::string why;
  std::string meaning;
  bool overridden = false;
  std::string use;                        // the chosen alternative, "" without any
  std::vector<Alternative> alternatives;  // what was published otherwise
  std::string interval80;                 // of a fitted factor, "" when unknown
};

struct LoadOptions {
  std::vector<std::string> set;  // "device.hbm.bandwidth=1.6 TB/s"
  // "": the file of the device in the factors folder, or none when it has no file;
  // "none": published facts alone; otherwise a file.
  std::string factors;
};

struct LoadedSystem {
  NeuronSystemSpec spec;
  NeuronFactors factors;
  std::string spec_id;         // "inf2.xlarge@<content hash>" of the files, without overrides
  std::string factors_id;      // "inferentia2@<content hash>" or "none"
  std::string factors_status;  // "provisional", "fitted", or "none"
  std::vector<Parameter> parameters;
  int assumed_values = 0;  // of kind assumed and not overridden
};

class Catalog {
 public:
  // UserError when a folder is not there or sources.yaml is wrong.
  explicit Catalog(CatalogPaths paths = default_catalog_paths());

  std::vector<std::string> systems() const;  // ids, sorted
  std::vector<std::string> devices() const;
  std::vector<std::string> cores() const;
  std::vector<std::string> factor_files() const;  // device ids that have one

  // The id as the data spell it, or the file as it is named; UserError with the nearest id and the
  // list.
  std::string find_system(std::string_view id) const;

  // Reads, overrides and checks a system. The id is case-insensitive. All errors in one UserError.
  LoadedSystem load(std::string_view system, const LoadOptions& options = {}) const;

  const Bibliography& bibliography() const { return bibliography_; }

 private:
  std::string shown(const std::filesystem::path& path) const;
  std::filesystem::path file(std::string_view folder, std::string_view id) const;
  Node read_document(const std::filesystem::path& path, std::string& bytes) const;
  // The id under `key` ("device") of a document, which must be a file of `folder`, or the file that
  // is named there.
  std::string reference(const Node& root, const std::filesystem::path& path, const std::string& key,
                        const std::string& folder) const;
  NeuronSystemSpec read_spec(const std::string& id, std::map<std::string, Provenance>& provenance,
                             std::string& bytes) const;
  FactorsFile read_factors(const std::string& device, const std::string& request) const;

  CatalogPaths paths_;
  Bibliography bibliography_;
};

}  // namespace foretell
