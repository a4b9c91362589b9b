#include "reports/render/serve_text.hpp"

#include <fmt/format.h>

#include "model/base/text.hpp"
#include "reports/render/folded_notes.hpp"
#include "reports/render/service_text.hpp"
#include "reports/render/si_format.hpp"

namespace foretell {
namespace {

constexpr double kMilli = 1e3;
constexpr double kGiga = 1e9;
constexpr double kShownShare = 0.005;

std::string row_of(const char* name, const ServeStatistic& one, const ServeSummary& summary,
                   const std::string& key) {
  std::string text = fmt::format("  {:<6}", name);
  for (const NamedStatistic& statistic : kServeStatistics) {
    text += fmt::format("{:>12.2f}", one.*statistic.value * kMilli);
  }
  const auto interval = summary.interval80.find(key);
  if (interval != summary.interval80.end()) {
    text += fmt::format("   mean {:.2f} to {:.2f}", interval->second.low * kMilli,
                        interval->second.high * kMilli);
  }
  return text + "\n";
}

// " (80 %: 0.382 to 0.533)", or nothing where there is none.
std::string interval_words(const ServeSummary& summary, const std::string& key) {
  const auto interval = summary.interval80.find(key);
  if (interval == summary.interval80.end()) return "";
  return fmt::format(" (80 %: {:.3g} to {:.3g})", interval->second.low, interval->second.high);
}

// "2.27 J per output token (80 %: 1.36 J to 3.63 J)".
std::string amount_words(const ServeSummary& summary, const std::optional<double>& value,
                         const char* key, const char* unit, const char* what) {
  std::string text = fmt::format("{} {}", si_format(value.value_or(0), unit), what);
  const auto interval = summary.interval80.find(key);
  if (interval != summary.interval80.end()) {
    text += fmt::format(" (80 %: {} to {})", si_format(interval->second.low, unit),
                        si_format(interval->second.high, unit));
  }
  return text;
}

std::string energy_lines(const ServeSummary& one) {
  if (!one.watts) return "";
  std::string text;
  if (one.joules_per_token && one.joules_per_request) {
    text = fmt::format(
        "  {}, {}\n",
        amount_words(one, one.joules_per_token, "joules_per_token", "J", "per output token"),
        amount_words(one, one.joules_per_request, "joules_per_request", "J", "per request"));
  }
  return text + fmt::format("  {}, {}\n",
                            amount_words(one, one.watts, "watts", "W", "of the boards"),
                            amount_words(one, one.wall_watts, "wall_watts", "W", "at the wall"));
}

std::string throughput_line(const ServeSummary& summary) {
  std::string text = fmt::format("  {:.1f} output tokens/s, {:.4g} requests/s",
                                 summary.output_tokens_per_s, summary.requests_per_s);
  const auto interval = summary.interval80.find("output_tokens_per_s");
  if (interval != summary.interval80.end()) {
    text += fmt::format(" (80 %: {:.1f} to {:.1f} tokens/s)", interval->second.low,
                        interval->second.high);
  }
  text += "\n";
  if (summary.cost_usd_per_million) {
    text +=
        fmt::format("  {:.3g} USD per million output tokens, on demand{}\n",
                    *summary.cost_usd_per_million, interval_words(summary, "cost_usd_per_million"));
  }
  text += energy_lines(summary);
  if (summary.usd_per_million_with_energy) {
    text += fmt::format("  {:.3g} USD per million output tokens with energy\n",
                        *summary.usd_per_million_with_energy);
  }
  if (summary.goodput_per_s) {
    text += fmt::format("  promise {}: {}; goodput {:.4g} requests/s{}\n", summary.slo,
                        summary.keeps_slo.value_or(false) ? "kept" : "broken",
                        *summary.goodput_per_s, interval_words(summary, "goodput_per_s"));
  }
  return text;
}

}  // namespace

std::string serve_text(const ServeRecord& record) {
  const ServeContext& context = record.context;
  const ServeSummary& summary = record.summary;
  std::vector<std::string> scenario;
  for (const auto& [name, value] : context.scenario) scenario.push_back(setting_words(name, value));
  std::string text = fmt::format("{} on {}, {}, {}\n  {}\n\n", context.workload, context.system,
                                 context.dtype, context.engine, join(scenario, ", "));
  if (summary.interrupted) text += "INTERRUPTED: what was simulated so far\n\n";
  text += fmt::format("  {:<6}", "ms");
  for (const NamedStatistic& one : kServeStatistics) text += fmt::format("{:>12}", one.name);
  text += "   80 %\n";
  text += row_of("TTFT", summary.ttft_s, summary, "ttft_s.mean");
  if (summary.batch_mean > 0) {  // answers have tokens after the first
    text += row_of("TPOT", summary.tpot_s, summary, "tpot_s.mean");
    text += row_of("ITL", summary.itl_s, summary, "itl_s.mean");
  }
  text += row_of("e2e", summary.e2e_s, summary, "e2e_s.mean");
  text += "\n" + throughput_line(summary);
  text += fmt::format(
      "  {} requests answered in {:.2f} s, {} steps (of {} simulated calls), {:.1f} sequences per "
      "decode step\n",
      summary.requests, summary.duration_s, summary.steps, summary.executed_steps,
      summary.batch_mean);
  const auto gb = [&summary](const char* name) {
    const auto found = summary.memory_bytes.find(name);
    return found == summary.memory_bytes.end() ? 0 : found->second / kGiga;
  };
  text += fmt::format(
      "  KV blocks {:.1f} % in use, {} preemptions; of {:.1f} GB: weights {:.1f}, activations "
      "{:.1f}, engine {:.1f}, KV blocks {:.1f}\n",
      100 * summary.kv_used_share, summary.preemptions, gb("capacity"), gb("weights"),
      gb("workspace"), gb("engine"), gb("kv_blocks"));
  text += "  binds: " + summary.binds + "\n";
  std::vector<std::string> shares;
  for (const auto& [name, share] : summary.time_shares) {
    if (share >= kShownShare) shares.push_back(fmt::format("{} {:.0f} %", name, 100 * share));
  }
  text += "  time of the workers: " + join(shares, ", ") + "\n";
  for (const std::string& note : folded_notes(context.notes)) text += "\nnote: " + note;
  if (!context.notes.empty()) text += "\n";
  return text;
}

}  // namespace foretell
