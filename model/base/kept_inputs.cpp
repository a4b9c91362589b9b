#include "model/base/kept_inputs.hpp"

namespace foretell {
namespace {

bool is_keeping = false;

}  // namespace

bool inputs_are_kept() { return is_keeping; }

void keep_inputs(bool keep) { is_keeping = keep; }

}  // namespace foretell
