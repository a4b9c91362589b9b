// The serving engines in hw/engines.
//
// A file describes an engine from one release on, until the next file of that engine. "vllm" means
// its newest file, "vllm@0.6.3" the one that holds for that release.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hw/engines/engine_spec.hpp"
#include "hw/spec/shared/catalog.hpp"

namespace foretell {

struct LoadedEngine {
  EngineSpec spec;
  std::string spec_id;  // "vllm-0.8@<content hash>"
  std::vector<Parameter> parameters;
  int assumed_values = 0;
};

class EngineCatalog {
 public:
  explicit EngineCatalog(std::filesystem::path hw = hw_folder());

  std::vector<std::string> ids() const;      // of the files, sorted
  std::vector<std::string> engines() const;  // "vllm", "trtllm", …

  // The id of the newest file of an engine.
  std::string newest(std::string_view engine) const { return id_of(engine, ""); }

  // hw/engines/choice/default.yaml: on systems of this family of devices; "" for any.
  std::string default_engine(std::string_view family = "") const;

  // `name`: "" for the default of that family, an engine, "engine@release", the id of a file, or a
  // file of the user's own. `set`: "engine.host.per_step=1 ms". UserError: unknown names with the
  // nearest, a release before the first that is described, everything that is wrong with the file.
  LoadedEngine load(std::string_view name, const std::vector<std::string>& set = {},
                    std::string_view family = "") const;

 private:
  std::string id_of(std::string_view name, std::string_view family) const;

  std::filesystem::path hw_;
  Bibliography bibliography_;
};

// -1, 0, 1: is release `a` ("0.8.5.post1", "1.0.0rc3") older than, as old as, or newer than `b`?
// Numbers are compared one by one; what follows them does not count.
int compare_versions(std::string_view a, std::string_view b);

}  // namespace foretell
