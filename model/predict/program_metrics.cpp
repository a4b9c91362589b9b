#include "model/predict/program_metrics.hpp"

#include <algorithm>

#include "model/system/critical_path.hpp"

namespace foretell {
namespace {

struct Span {
  Ticks begin = -1;
  Ticks end = 0;
  std::vector<Ticks> busy;  // by stream
  double bytes = 0;
};

double bytes_of(const Stream& stream, std::size_t index) {
  const auto* transfers = std::get_if<std::vector<Transfer>>(&stream.work);
  if (transfers == nullptr) return 0;
  const Transfer& transfer = (*transfers)[index];
  return transfer.direction == TransferDirection::kOnChip ? 0
                                                          : static_cast<double>(transfer.bytes());
}

std::vector<Span> spans_of(const Program& program, const ProgramExecution& execution) {
  std::vector<Span> spans(program.operators.size());
  for (Span& span : spans) span.busy.resize(program.streams.size());
  for (std::size_t s = 0; s < program.streams.size(); ++s) {
    for (std::size_t i = 0; i < execution.entries[s].size(); ++i) {
      const std::int32_t op = program.links(s, i).op;
      if (op < 0) continue;
      Span& span = spans[static_cast<std::size_t>(op)];
      const EntryTimes& entry = execution.entries[s][i];
      span.begin = span.begin < 0 ? entry.begin : std::min(span.begin, entry.begin);
      span.end = std::max(span.end, entry.end);
      span.busy[s] += entry.end - entry.begin;
      span.bytes += bytes_of(program.streams[s], i);
    }
  }
  return spans;
}

// What of the critical path is an operator's; "" for nothing.
std::string critical_of(const CriticalTimes& times) {
  const bool is_on_it = std::any_of(times.begin(), times.end(), [](Ticks t) { return t > 0; });
  return is_on_it ? to_string(largest(times)) : "";
}

}  // namespace

std::vector<OperatorMetrics> operators_of(const Program& program,
                                          const ProgramExecution& execution) {
  const CriticalPath path = critical_path(program, execution);
  const std::vector<Span> spans = spans_of(program, execution);
  std::vector<OperatorMetrics> operators;
  for (std::size_t o = 0; o < spans.size(); ++o) {
    const Span& span = spans[o];
    if (span.begin < 0) continue;
    const auto busiest = static_cast<std::size_t>(
        std::max_element(span.busy.begin(), span.busy.end()) - span.busy.begin());
    OperatorMetrics op;
    op.name = program.operators[o];
    op.op = program.streams[busiest].name;
    op.engine = op.op;
    op.start = to_seconds(span.begin);
    op.duration = to_seconds(span.end - span.begin);
    op.bytes = Bytes(span.bytes) + execution.operators[o].dram;
    op.critical = critical_of(path.by_operator[o]);
    operators.push_back(std::move(op));
  }
  return operators;
}

}  // namespace foretell
