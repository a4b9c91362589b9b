// What the ranks of a sweep say to one another. Bytes are those of Boost.Serialization: all ranks
// run one build on machines of one kind.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/app/workers/task_worker.hpp"

namespace foretell {

struct SweepMessage {
  enum class Kind {
    kReady,    // to rank 0: room for this many tasks
    kTasks,    // from rank 0: numbers
    kAnswers,  // to rank 0
    kDone,     // from rank 0: no more
    kBye       // to rank 0: the last message
  };
  Kind kind = Kind::kBye;
  std::uint64_t room = 0;
  std::vector<std::uint64_t> numbers;
  std::vector<TaskAnswer> answers;
};

std::string to_bytes(const SweepMessage& message);
// InternalError for what is no message.
SweepMessage message_from(const std::string& bytes);

}  // namespace foretell
