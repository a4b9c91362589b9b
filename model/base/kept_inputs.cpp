#include "model/base/kept_inputs.hpp"

#include "model/base/errors.hpp"

namespace foretell {
namespace {

Kept* innermost_kept = nullptr;

}  // namespace

Kept::Kept() : outer_(innermost_kept) { innermost_kept = this; }

Kept::~Kept() { innermost_kept = outer_; }

Kept* Kept::innermost() { return innermost_kept; }

Kept& require_kept() {
  FORETELL_CHECK(innermost_kept != nullptr, "what is kept has no owner: make a Kept first");
  return *innermost_kept;
}

bool inputs_are_kept() { return innermost_kept != nullptr && innermost_kept->keeps_inputs_; }

void keep_inputs(bool keep) { require_kept().keeps_inputs_ = keep; }

}  // namespace foretell
