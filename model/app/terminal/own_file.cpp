#include "model/app/terminal/own_file.hpp"

#include <filesystem>

#include "model/base/errors.hpp"

namespace foretell {

void check_own_file(const std::string& trace, const OutputOptions& output) {
  namespace fs = std::filesystem;
  for (const std::string& file : {output.output, output.store}) {
    if (trace.empty() || file.empty() || fs::weakly_canonical(trace) != fs::weakly_canonical(file))
      continue;
    throw UserError("--trace: " + trace + " is where the result goes; name another file");
  }
}

}  // namespace foretell
