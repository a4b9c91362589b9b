#include "model/app/request/trace_file.hpp"

#include <fstream>

#include "model/base/errors.hpp"
#include "model/base/replaced_file.hpp"

namespace foretell {

void write_shown(const std::string& path, const KernelTraceWords& words,
                 const std::vector<std::pair<std::string, const ShownCall*>>& calls) {
  std::vector<TracedCall> programs;
  std::vector<KernelCall> kernels;
  for (const auto& [name, call] : calls) {
    programs.push_back({name, call->program, call->execution, call->details});
    kernels.push_back({name, call->kernels});
  }
  ReplacedFile whole(path);
  std::ofstream file(whole.writing_to(), std::ios::binary);
  if (file && words.device.empty()) write_trace(file, programs);
  if (file && !words.device.empty()) write_kernel_trace(file, words, kernels);
  file.close();
  if (!file || !whole.commit())
    throw UserError(path + ": the timeline cannot be written; is the disk full?");
}

}  // namespace foretell
