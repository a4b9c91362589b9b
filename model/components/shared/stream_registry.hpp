// Which module executes a stream, by the executor and the kind of the stream: the list that a new
// kind of device adds its rows to.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "model/components/shared/executor.hpp"

namespace foretell {

struct StreamRow {
  std::string_view executor;  // Executor::kind()
  StreamKind kind;
  std::unique_ptr<StreamModule> (*make)(Executor& executor, std::size_t stream);
};

const std::vector<StreamRow>& stream_registry();

// Gives every stream of the executor's program its module. UserError for a stream that the executor
// does not run; it names those that it does.
void attach_modules(Executor& executor, const std::vector<StreamRow>& rows = stream_registry());

}  // namespace foretell
