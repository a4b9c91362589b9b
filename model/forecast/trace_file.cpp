#include "model/forecast/trace_file.hpp"

#include <fstream>

#include "model/base/errors.hpp"
namespace foretell {

void write_trace_file(const std::string& path, const std::vector<TracedCall>& calls) {
  if (path.empty()) return;
  std::ofstream file(path, std::ios::binary);
  if (file) write_trace(file, calls);
  file.close();
  if (!file) throw UserError(path + ": the timeline cannot be written; is the disk full?");
}

}  // namespace foretell
