#include "model/components/shared/memory.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/components/shared/memory_server.hpp"

namespace foretell {
namespace {

std::map<std::string, MemoryFactory>& factories() {
  static std::map<std::string, MemoryFactory> registered;
  return registered;
}

}  // namespace

void register_memory(const std::string& model, MemoryFactory factory) {
  factories()[model] = std::move(factory);
}

std::unique_ptr<Memory> make_memory(const char* name, const HbmSpec& spec, const std::string& key) {
  if (spec.model.empty() || spec.model == kRateModel || spec.model == kBankModel)
    return std::make_unique<MemoryServer>(name, spec);
  const auto found = factories().find(spec.model);
  if (found != factories().end()) return found->second(name, spec);
  std::vector<std::string> known = {kRateModel, kBankModel};
  for (const auto& entry : factories()) known.push_back(entry.first);
  throw UserError(
      fmt::format("{}: '{}' is no memory; allowed are {}", key, spec.model, join(known, ", ")));
}

}  // namespace foretell
