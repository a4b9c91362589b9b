#include "model/testing/toy_npu/spec/toy_spec.hpp"

#include "hw/spec/neuron/neuron_fields.hpp"
#include "hw/spec/shared/data_folder.hpp"
#include "hw/spec/shared/overrides.hpp"
#include "hw/spec/shared/parameter_list.hpp"
#include "model/base/errors.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

using namespace literals;

constexpr const char* kArray = "npu_array";

}  // namespace

void fields(FieldList& list, ToyArraySpec& spec) {
  list.value("clock", spec.clock, {Hertz(1e6), Hertz(1e10)}, "Clock of the array.");
  list.count("rows", spec.rows, {1, 4096}, "Rows of the array.");
  list.count("columns", spec.columns, {1, 4096}, "Columns of the array.");
}

void fields(FieldList& list, ToyNpuSpec& spec) {
  list.group(kArray, spec.array);
  list.value("sram", spec.sram, {Bytes(1024), Bytes(1e12)}, "Memory that feeds the array.");
  list.group("hbm", spec.hbm);
}

namespace {

struct ToySystem {
  ToyNpuSpec& device;
};

void fields(FieldList& list, ToySystem& system) { list.group("device", system.device); }

}  // namespace

std::vector<std::string> toy_systems() { return {"toy-npu"}; }

bool is_toy_system(std::string_view id) {
  if (!is_file_name(id)) return id == toy_systems().front();
  return load_document(std::string(id)).find(kArray) != nullptr;
}

LoadedToyNpu load_toy_npu(const std::string& id, const std::vector<std::string>& set) {
  LoadedToyNpu loaded;
  Problems problems;
  if (is_file_name(id)) {
    loaded.spec.id = name_in_file(id);
    FieldList of_file;
    fields(of_file, loaded.spec);
    load_fields(load_document(id), of_file, {"id"}, read_plain_value, problems);
    problems.throw_if_any();
  }
  FieldList list;
  ToySystem system{loaded.spec};
  fields(list, system);
  std::map<std::string, Provenance> provenance;
  const auto overridden = apply_overrides(list, set, provenance, problems);
  problems.throw_if_any();
  loaded.parameters = parameters_of(list, provenance, overridden);
  return loaded;
}

}  // namespace foretell
