#include "model/app/request/resolve/step_tokens.hpp"

#include "hw/engines/engine_catalog.hpp"

namespace foretell {

std::int64_t tokens_of_step(std::string_view family) {
  return EngineCatalog().load("", {}, family).spec.limits.max_tokens;
}

}  // namespace foretell
