// Where the value of a hardware parameter comes from.
//
// In hw/*.yaml a parameter is
//
//   bandwidth: {value: 820 GB/s, source: "A2:21", kind: documented}
//
// `source` is an id of hw/sources.yaml, with the line or figure after a colon. `kind` says how much
// the value is worth; `assumed` needs a `why`. Where publications conflict, all of them are listed
// and `use` names the one that counts:
//
//   bandwidth:
//     use: architecture-guide
//     alternatives:
//       architecture-guide: {value: 820 GB/s, source: "A2:21", kind: documented}
//       device-page: {value: 820 GiB/s, source: "I2:23", kind: documented}
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/config/document.hpp"
#include "model/config/fields.hpp"

namespace foretell {

enum class ValueKind {
  kDatasheet,   // product page or headline specification
  kDocumented,  // technical documentation
  kMeasured,    // derived from a published measurement
  kAssumed,     // not published; `why` says what the choice rests on
  kFitted,      // calib/factors
  kNeutral,     // a factor that changes nothing
  kOverride     // given by the user
};
std::string_view to_string(ValueKind kind);

// One published value, as written in the document.
struct SourcedValue {
  std::string value;
  std::string source;
  ValueKind kind = ValueKind::kAssumed;
  std::string why;
};

struct Alternative {
  std::string name;
  SourcedValue value;
};

struct Provenance {
  SourcedValue chosen;
  std::string use;                        // name of the chosen alternative, "" without any
  std::vector<Alternative> alternatives;  // all of them, the chosen one included
  bool set_as_it_is = false;              // the user gave the value that it has
};

// The number, from `min` to `max`, of an entry {value, source, kind, why} of a map. UserError with
// file:line.
double sourced_number(const Node& map, const std::string& key, double min, double max);

// The ids of hw/sources.yaml. Copies share them.
class Bibliography {
 public:
  static Bibliography load(const Node& document);
  // From a folder hw/; read once where inputs are kept (model/base/kept_inputs.hpp). UserError with
  // file:line.
  static Bibliography of(const std::filesystem::path& hw);

  // "" when `source` ("A2:21") names a known id, else what is wrong with it.
  std::string problem_with(std::string_view source) const;
  // "NeuronCore-v2 architecture, nki/…/trainium_inferentia2_arch.rst:21 (81ce03ae)". UserError for
  // an unknown id.
  std::string cite(std::string_view source) const;
  std::vector<std::string> ids() const;

 private:
  struct Source {
    std::string title;
    std::string location;
    std::string edition;
  };
  using Sources = std::map<std::string, Source>;
  std::shared_ptr<const Sources> sources_ = std::make_shared<Sources>();
};

// A leaf reader (see load_fields) that assigns the chosen value and notes where it comes from.
// Every alternative has to be a value that the field accepts, not only the chosen one.
class SourcedReader {
 public:
  SourcedReader(const Bibliography& bibliography, std::map<std::string, Provenance>& provenance)
      : bibliography_(bibliography), provenance_(provenance) {}

  void operator()(const Field& field, const Node& node, Problems& problems) const;

 private:
  void read_alternatives(const Field& field, const Node& node, Problems& problems) const;
  // False when something is wrong, which is then in `problems`.
  bool read_value(const Field& field, const std::string& path, const Node& node, Problems& problems,
                  SourcedValue& value) const;

  const Bibliography& bibliography_;
  std::map<std::string, Provenance>& provenance_;
};

}  // namespace foretell
