#include "model/app/request/trace_file.hpp"

#include <fstream>

#include "model/base/errors.hpp"
#include "model/base/replaced_file.hpp"

namespace foretell {

void write_trace_file(const std::string& path, const std::vector<TracedCall>& calls) {
  if (path.empty()) return;
  ReplacedFile whole(path);
  std::ofstream file(whole.writing_to(), std::ios::binary);
  if (file) write_trace(file, calls);
  file.close();
  if (!file || !whole.commit())
    throw UserError(path + ": the timeline cannot be written; is the disk full?");
}

}  // namespace foretell
