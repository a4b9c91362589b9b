#include "model/app/serving/steps/served_network.hpp"

#include "model/base/errors.hpp"

namespace foretell {

void check_served(const ModelConfig& model) {
  if (model.family == Family::kDecoder && !scores_texts(model)) return;
  if (model.family == Family::kEncoderDecoder) {
    throw UserError(model.name +
                    ": has an encoder and a decoder, and only decoders are served token by token; "
                    "`foretell run` answers batches of its requests, --in-flight says how many "
                    "wait");
  }
  throw UserError(model.name +
                  ": generates no tokens, and services are of networks that do; `foretell run` "
                  "answers batches of its requests, --in-flight says how many wait");
}

}  // namespace foretell
