#include "model/program/file/instruction_keys.hpp"

#include <algorithm>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

std::vector<std::string> all_opcode_names() {
  std::vector<std::string> names;
  for (int o = 0; o < kOpcodeCount; ++o) {
    const auto opcode = static_cast<Opcode>(o);
    if (opcode != Opcode::kSemaphoreOnly) names.emplace_back(to_string(opcode));
  }
  return names;
}

std::vector<std::string> all_type_names() {
  std::vector<std::string> names;
  for (int t = 0; t < kElementTypeCount; ++t) {
    names.emplace_back(to_string(static_cast<ElementType>(t)));
  }
  return names;
}

std::size_t position(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  FORETELL_CHECK(found != names.end(), "a name that is none of the list");
  return static_cast<std::size_t>(found - names.begin());
}

bool has_alu_operator(Opcode opcode) {
  return opcode == Opcode::kTensorTensor || opcode == Opcode::kScalarTensorTensor ||
         opcode == Opcode::kTensorReduce;
}

}  // namespace

const std::vector<std::string>& opcode_names() {
  static const std::vector<std::string> kNames = all_opcode_names();
  return kNames;
}

Opcode opcode_named(const std::string& name) {
  return static_cast<Opcode>(position(opcode_names(), name));
}

const std::vector<std::string>& type_names() {
  static const std::vector<std::string> kNames = all_type_names();
  return kNames;
}

ElementType type_named(const std::string& name) {
  return static_cast<ElementType>(position(type_names(), name));
}

const char* aux_key(Opcode opcode) {
  switch (opcode) {
    case Opcode::kMultiplyMoving:
      return "stationary";
    case Opcode::kLocalGather:
      return "elements";
    case Opcode::kTopK:
      return "k";
    default:
      return nullptr;
  }
}

std::vector<std::string> keys_of(Engine engine, Opcode opcode) {
  std::vector<std::string> keys = {"take", "give", "operator"};
  if (opcode == Opcode::kSemaphoreOnly) return keys;
  keys.insert(keys.end(), {"type", "partitions"});
  if (engine == Engine::kTensor) {
    keys.emplace_back("tile");
    if (opcode != Opcode::kLoadStationary) keys.emplace_back("bank");
    if (opcode == Opcode::kMultiplyMoving) keys.emplace_back("onezero");
  } else {
    keys.insert(keys.end(), {"out", "reads", "writes", "dependent", "stride"});
  }
  if (has_alu_operator(opcode)) keys.emplace_back("alu");
  if (opcode == Opcode::kMemset) keys.emplace_back("fill");
  if (aux_key(opcode) != nullptr) keys.emplace_back(aux_key(opcode));
  return keys;
}

}  // namespace foretell
