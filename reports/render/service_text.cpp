#include "reports/render/service_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "model/base/text.hpp"
#include "reports/render/folded_notes.hpp"
#include "reports/render/si_format.hpp"
#include "reports/render/table.hpp"

namespace foretell {
namespace {

constexpr std::size_t kTimelineRows = 20;
const std::array<const char*, 6> kLoadKeys = {"rate",     "concurrency", "offline",
                                              "requests", "trace",       "warm_up"};

bool is_load_key(const std::string& name) {
  return std::find(kLoadKeys.begin(), kLoadKeys.end(), name) != kLoadKeys.end();
}

std::string stated(const ServeContext& context, const std::string& name) {
  for (const auto& [key, value] : context.scenario) {
    if (key == name) return value;
  }
  return "";
}

std::string time_text(double seconds) { return si_format(seconds, "s"); }

std::string optional_text(const std::optional<double>& value, const char* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : "-";
}

// What tells services apart beside their load: texts that are not the same in all of them.
std::vector<std::pair<std::string, std::string>> traits_of(const ServeRecord& service) {
  const ServeContext& context = service.context;
  std::vector<std::pair<std::string, std::string>> traits = {
      {"workload", context.workload}, {"system", context.system}, {"dtype", context.dtype},
      {"KV cache", context.kv_dtype}, {"engine", context.engine}, {"set", join(context.set, ", ")}};
  for (const auto& entry : context.scenario) {
    if (!is_load_key(entry.first)) traits.push_back(entry);
  }
  return traits;
}

std::string trait(const ServeRecord& service, const std::string& name) {
  for (const auto& [key, value] : traits_of(service)) {
    if (key == name) return value;
  }
  return "";
}

struct Traits {
  std::vector<std::string> common;   // "input_len 1024"
  std::vector<std::string> varying;  // names
};

Traits split_traits(const std::vector<ServeRecord>& services) {
  std::vector<std::string> names;
  for (const ServeRecord& service : services) {
    for (const auto& entry : traits_of(service)) {
      if (std::find(names.begin(), names.end(), entry.first) == names.end())
        names.push_back(entry.first);
    }
  }
  Traits traits;
  for (const std::string& name : names) {
    std::set<std::string> values;
    for (const ServeRecord& service : services) values.insert(trait(service, name));
    if (values.size() > 1) {
      traits.varying.push_back(name);
    } else if (!values.begin()->empty()) {
      traits.common.push_back(setting_words(name, *values.begin()));
    }
  }
  return traits;
}

std::string promise_word(const ServeSummary& summary) {
  if (!summary.keeps_slo) return "-";
  return *summary.keeps_slo ? "kept" : "broken";
}

Table table_of(const std::vector<ServeRecord>& services, const Traits& traits) {
  const auto right = [](const char* title) { return TableColumn{title, Align::kRight}; };
  Table table;
  for (const std::string& name : traits.varying) table.columns.push_back({name});
  table.columns.push_back({"load"});
  for (const char* title : {"tokens/s", "80 %", "requests/s", "TTFT", "TTFT p99", "TPOT",
                            "TPOT p99", "e2e p99", "batch", "KV used", "USD/million", "J/token"})
    table.columns.push_back(right(title));
  table.columns.push_back({"promise"});
  table.columns.push_back(right("goodput/s"));
  for (const ServeRecord& service : services) {
    const ServeSummary& summary = service.summary;
    std::vector<std::string> row;
    for (const std::string& name : traits.varying) row.push_back(trait(service, name));
    row.push_back(load_words(service.context));
    const auto range = summary.interval80.find("output_tokens_per_s");
    const std::vector<std::string> numbers = {
        fmt::format("{:.1f}", summary.output_tokens_per_s),
        range == summary.interval80.end()
            ? "-"
            : fmt::format("{:.0f} to {:.0f}", range->second.low, range->second.high),
        fmt::format("{:.4g}", summary.requests_per_s),
        time_text(summary.ttft_s.mean),
        time_text(summary.ttft_s.p99),
        time_text(summary.tpot_s.mean),
        time_text(summary.tpot_s.p99),
        time_text(summary.e2e_s.p99),
        fmt::format("{:.1f}", summary.batch_mean),
        fmt::format("{:.1f} %", 100 * summary.kv_used_share),
        optional_text(summary.cost_usd_per_million, "{:.3g}"),
        optional_text(summary.joules_per_token, "{:.3g}"),
        promise_word(summary),
        optional_text(summary.goodput_per_s, "{:.4g}")};
    row.insert(row.end(), numbers.begin(), numbers.end());
    table.rows.push_back(std::move(row));
  }
  std::vector<std::size_t> unused;  // columns without a number
  for (std::size_t at = traits.varying.size() + 1; at < table.columns.size(); ++at) {
    if (std::all_of(table.rows.begin(), table.rows.end(),
                    [at](const std::vector<std::string>& row) { return row[at] == "-"; }))
      unused.push_back(at);
  }
  return without_columns(table, unused);
}

Table distribution_table(const ServeRecord& service) {
  const std::vector<double>& shares = serve_shares();
  Table table;
  table.columns = {{"share of requests"}};
  for (const auto& [name, times] : service.distributions)
    table.columns.push_back({name.substr(0, name.size() - 2), Align::kRight});
  for (const double share : {0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0}) {
    const auto place = std::find(shares.begin(), shares.end(), share);
    if (place == shares.end()) continue;
    std::vector<std::string> row = {fmt::format("{:g} %", 100 * share)};
    for (const auto& entry : service.distributions)
      row.push_back(time_text(entry.second[static_cast<std::size_t>(place - shares.begin())]));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table timeline_table(const ServeRecord& service) {
  Table table;
  table.columns = {{"from"},
                   {"running", Align::kRight},
                   {"waiting", Align::kRight},
                   {"batch", Align::kRight},
                   {"KV used", Align::kRight},
                   {"tokens/s", Align::kRight}};
  for (const ServeSecond& one : thinned(service.timeline, kTimelineRows)) {
    table.rows.push_back({fmt::format("{:g} s", one.second), fmt::format("{:.1f}", one.running),
                          fmt::format("{:.1f}", one.waiting), fmt::format("{:.1f}", one.batch),
                          fmt::format("{:.1f} %", 100 * one.kv_used_share),
                          fmt::format("{:.0f}", one.output_tokens_per_s)});
  }
  return table;
}

std::string one_answer(const ServeRecord& service) {
  const ServeSummary& summary = service.summary;
  return fmt::format(
      "{} on {} under {}: {} output tokens/s, first token after {} on average (99 %: {}), {} per "
      "token (99 %: {}).",
      service.context.workload, service.context.system, load_words(service.context),
      count_format(std::round(summary.output_tokens_per_s)), time_text(summary.ttft_s.mean),
      time_text(summary.ttft_s.p99), time_text(summary.tpot_s.mean), time_text(summary.tpot_s.p99));
}

std::string promise_sentence(const ServeRecord& service) {
  const ServeSummary& summary = service.summary;
  return fmt::format("The promise {} is {}; goodput {:.4g} requests/s.", summary.slo,
                     summary.keeps_slo.value_or(false) ? "kept" : "broken",
                     summary.goodput_per_s.value_or(0));
}

bool is_faster(const ServeRecord* a, const ServeRecord* b) {
  return a->summary.output_tokens_per_s < b->summary.output_tokens_per_s;
}

// Among several: the fastest that keeps its promise, or the fastest.
std::string best_answer(const std::vector<ServeRecord>& services) {
  std::vector<const ServeRecord*> all;
  std::vector<const ServeRecord*> kept;
  for (const ServeRecord& service : services) {
    all.push_back(&service);
    if (service.summary.keeps_slo.value_or(false)) kept.push_back(&service);
  }
  const bool promised = std::any_of(services.begin(), services.end(), [](const ServeRecord& one) {
    return one.summary.keeps_slo.has_value();
  });
  const std::vector<const ServeRecord*>& among = kept.empty() ? all : kept;
  const std::string most = one_answer(**std::max_element(among.begin(), among.end(), is_faster));
  if (!promised) return "Most tokens: " + most;
  if (kept.empty())
    return fmt::format("No load of {} keeps its promise. Most tokens: {}", services.size(), most);
  return fmt::format("{} of {} loads keep their promise. Most tokens of these: {}", kept.size(),
                     services.size(), most);
}

// The services that a note is of, by the trait that tells them apart: "fp8", "16 users, 64 users";
// "" of all of them.
std::string owners_of(const std::vector<ServeRecord>& services, const std::string& note,
                      const std::vector<std::string>& varying) {
  const auto has = [&note](const ServeRecord& service) {
    const std::vector<std::string>& own = service.context.notes;
    return std::find(own.begin(), own.end(), note) != own.end();
  };
  if (std::all_of(services.begin(), services.end(), has)) return "";
  std::vector<std::string> names = {"load"};
  names.insert(names.end(), varying.begin(), varying.end());
  const auto value_of = [](const ServeRecord& service, const std::string& name) {
    return name == "load" ? load_words(service.context) : trait(service, name);
  };
  for (const std::string& name : names) {
    std::vector<std::string> with;
    std::set<std::string> without;
    for (const ServeRecord& service : services) {
      const std::string value = value_of(service, name);
      if (!has(service)) {
        without.insert(value);
      } else if (std::find(with.begin(), with.end(), value) == with.end()) {
        with.push_back(value);
      }
    }
    if (std::none_of(with.begin(), with.end(),
                     [&](const std::string& value) { return without.count(value) > 0; }))
      return join(with, ", ");
  }
  std::vector<std::string> each;
  for (const ServeRecord& service : services) {
    if (!has(service)) continue;
    std::vector<std::string> words;
    for (const std::string& name : varying) words.push_back(trait(service, name));
    words.push_back(load_words(service.context));
    each.push_back(join(words, " "));
  }
  return join(each, ", ");
}

// Every note once, with the services that it is of.
std::vector<std::string> notes_of(const std::vector<ServeRecord>& services) {
  if (services.size() == 1) return folded_notes(services.front().context.notes);
  const std::vector<std::string> varying = split_traits(services).varying;
  std::vector<std::string> notes;
  for (const ServeRecord& service : services) {
    for (const std::string& note : service.context.notes) {
      const std::string owners = owners_of(services, note, varying);
      const std::string said = owners.empty() ? note : owners + ": " + note;
      if (std::find(notes.begin(), notes.end(), said) == notes.end()) notes.push_back(said);
    }
  }
  return folded_notes(notes);
}

}  // namespace

std::string load_words(const ServeContext& context) {
  if (const std::string rate = stated(context, "rate"); !rate.empty()) {
    const std::string arrivals = stated(context, "arrivals");
    return rate + " requests/s" +
           (arrivals.empty() || arrivals == "poisson" ? "" : ", " + arrivals);
  }
  if (const std::string users = stated(context, "concurrency"); !users.empty())
    return users + (users == "1" ? " user" : " users");
  if (const std::string offline = stated(context, "offline"); !offline.empty())
    return offline + " requests at once";
  const std::string every = stated(context, "every");
  return (every.empty() ? "the requests of " : "one of " + every + " requests of ") +
         stated(context, "trace");
}

std::string setting_words(const std::string& name, const std::string& value) {
  static const std::map<std::string, const char*> kUnits = {{"rate", " requests/s"},
                                                            {"input_len", " tokens"},
                                                            {"output_len", " tokens"},
                                                            {"chunk", " tokens"}};
  const auto unit = kUnits.find(name);
  const bool is_word = value.find_first_of("0123456789") == std::string::npos;  // of a trace, off
  return name + " " + value + (unit == kUnits.end() || is_word ? "" : unit->second);
}

std::string service_title(const std::vector<ServeRecord>& services) {
  std::set<std::string> workloads;
  std::set<std::string> systems;
  for (const ServeRecord& service : services) {
    workloads.insert(service.context.workload);
    systems.insert(service.context.system);
  }
  const auto named = [](const std::set<std::string>& names, const char* many) {
    return names.size() == 1 ? *names.begin() : fmt::format("{} {}", names.size(), many);
  };
  return "Serving " + named(workloads, "networks") + " on " + named(systems, "systems");
}

std::vector<std::string> services_answer(const std::vector<ServeRecord>& services) {
  if (services.empty()) return {};
  if (services.size() > 1) return {best_answer(services)};
  const ServeRecord& one = services.front();
  std::vector<std::string> answer = {one_answer(one)};
  if (one.summary.keeps_slo) answer.push_back(promise_sentence(one));
  if (one.summary.cost_usd_per_million) {
    answer.push_back(fmt::format("{:.3g} USD per million output tokens, on demand.",
                                 *one.summary.cost_usd_per_million));
  }
  answer.push_back("It waits most for: " + one.summary.binds + ".");
  return answer;
}

std::vector<ServeSecond> thinned(const std::vector<ServeSecond>& timeline, std::size_t most) {
  if (timeline.size() <= most || most == 0) return timeline;
  const std::size_t width = (timeline.size() + most - 1) / most;
  std::vector<ServeSecond> out;
  for (std::size_t begin = 0; begin < timeline.size(); begin += width) {
    const std::size_t end = std::min(begin + width, timeline.size());
    const auto count = static_cast<double>(end - begin);
    ServeSecond mean;
    mean.second = timeline[begin].second;
    for (std::size_t i = begin; i < end; ++i) {
      mean.running += timeline[i].running / count;
      mean.waiting += timeline[i].waiting / count;
      mean.kv_used_share += timeline[i].kv_used_share / count;
      mean.output_tokens_per_s += timeline[i].output_tokens_per_s / count;
      mean.batch += timeline[i].batch / count;
    }
    out.push_back(mean);
  }
  return out;
}

std::string services_text(const std::vector<ServeRecord>& services, int max_width) {
  const Traits traits = split_traits(services);
  std::string text = join(services_answer(services), "\n") + "\n\n  " + join(traits.common, ", ") +
                     "\n\n" + render_text(table_of(services, traits), max_width);
  if (services.size() == 1) {
    const ServeRecord& one = services.front();
    if (!one.distributions.empty()) text += "\n" + render_text(distribution_table(one), max_width);
    text += "\n" + render_text(timeline_table(one), max_width);
  }
  for (const std::string& note : notes_of(services)) text += "\nnote: " + note;
  return text + "\n";
}

std::string services_markdown(const std::string& title, const std::vector<ServeRecord>& services) {
  const Traits traits = split_traits(services);
  std::string text = title.empty() ? "" : "# " + markdown_text(title) + "\n\n";
  for (const std::string& sentence : services_answer(services))
    text += markdown_text(sentence) + "\n\n";
  text += markdown_text(join(traits.common, ", ")) + "\n\n";
  text += render_markdown(table_of(services, traits));
  if (services.size() == 1) {
    const ServeRecord& one = services.front();
    if (!one.distributions.empty())
      text += "\n## How times are distributed\n\n" + render_markdown(distribution_table(one));
    text += "\n## Over time\n\n" + render_markdown(timeline_table(one));
  }
  const std::vector<std::string> notes = notes_of(services);
  if (!notes.empty()) text += "\n";
  for (const std::string& note : notes) text += "- " + markdown_text(note) + "\n";
  return text;
}

}  // namespace foretell
