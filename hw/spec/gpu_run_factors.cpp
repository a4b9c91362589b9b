#include "hw/spec/gpu_run_factors.hpp"

#include "model/config/document.hpp"

namespace foretell {
namespace {
const Range<Seconds> kLaunch{Seconds(0), Seconds(1e-3)};
}  // namespace

void fields(FieldList& list, GpuRunFactors& factors) {
  list.value("stream_gap", factors.stream_gap, kLaunch,
             "Between two kernels of a stream, beyond that in a graph.");
  list.value("stream_issue", factors.stream_issue, kLaunch,
             "Time of the host to launch a kernel into a stream.");
  list.value("sustained_clock", factors.sustained_clock, {0.1, 1},
             "Share of the boost clock that is left when the matrix pipe is always at work.");
}

GpuRunFactors load_gpu_run_factors(const CatalogPaths& paths) {
  const std::filesystem::path path = paths.factors / "gpu" / "run.yaml";
  const Node root = parse_document(read_text_file(path), path.string());
  root.only_keys({"factors"}, "");
  GpuRunFactors factors;
  FieldList list;
  fields(list, factors);
  Problems problems;
  load_fields(root.required("factors", ""), list, {}, read_plain_value, problems);
  problems.throw_if_any();
  return factors;
}

}  // namespace foretell
