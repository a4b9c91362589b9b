// Options that a family of devices has no meaning for.
#pragma once

#include <fmt/format.h>

#include "model/app/request/prediction.hpp"
#include "model/base/errors.hpp"

namespace foretell {

// UserError "SYSTEM: OPTION WHY" when the option was given.
inline void refuse_option(const Request& request, bool given, std::string_view option,
                          std::string_view why) {
  if (given) throw UserError(fmt::format("{}: {} {}", request.system, option, why));
}

// The same of every field that the list says the family ("neuron", "gpu", "cpu") refuses.
inline void refuse_fields(const Request& request, std::string_view family) {
  for (const RequestField& field : request_fields()) {
    const std::string cell = cell_of(field, request);
    for (const FieldRefusal& refusal : field.refusals) {
      const bool given = refusal.word.empty()
                             ? !cell.empty() && (field.kind() != FieldKind::kCount || cell != "1")
                             : cell == refusal.word;
      const std::string word = refusal.word.empty() ? "" : " " + std::string(refusal.word);
      if (refusal.family == family)
        refuse_option(request, given, "--" + std::string(field.option) + word, refusal.why);
    }
  }
}

}  // namespace foretell
