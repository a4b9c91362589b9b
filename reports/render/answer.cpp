#include "reports/render/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "model/base/text.hpp"
#include "reports/render/record_cells.hpp"
#include "reports/render/si_format.hpp"

namespace foretell {
namespace {

using Records = std::vector<const RunRecord*>;
using Names = std::map<std::string, std::string>;
constexpr std::size_t kNamedChanges = 6;
constexpr std::size_t kNamedNetworks = 12;

bool is_promise(const RunRecord& record) {
  const std::string ending = "-datasheet";
  const std::string& dtype = record.context.dtype;
  return dtype.size() > ending.size() &&
         dtype.compare(dtype.size() - ending.size(), ending.size(), ending) == 0;
}

// Without promises, unless there is nothing else.
Records usable(const std::vector<RunRecord>& records) {
  Records real;
  Records all;
  for (const RunRecord& record : records) {
    all.push_back(&record);
    if (!is_promise(record)) real.push_back(&record);
  }
  return real.empty() ? all : real;
}

double throughput_of(const RunRecord& record) { return record.summary.throughput; }

// The first of the best records; null of none.
const RunRecord* least(const Records& records,
                       const std::function<std::optional<double>(const RunRecord&)>& value) {
  const RunRecord* best = nullptr;
  for (const RunRecord* record : records) {
    const std::optional<double> own = value(*record);
    if (own && (best == nullptr || *own < *value(*best))) best = record;
  }
  return best;
}

const RunRecord* fastest(const Records& records) {
  return least(records, [](const RunRecord& r) { return std::optional(-throughput_of(r)); });
}

const RunRecord* cheapest(const Records& records) {
  return least(records, [](const RunRecord& r) { return r.summary.cost_usd_per_million; });
}

const RunRecord* quickest(const Records& records) {
  return least(records, [](const RunRecord& r) { return std::optional(r.summary.latency_s); });
}

std::string rate_text(const RunRecord& record) {
  const double value = throughput_of(record);
  const std::string number =
      value >= 1000 ? count_format(std::round(value)) : plain_format(value, 4);
  return number + " " + record.summary.throughput_unit;
}

std::string usd_text(double usd) {
  return usd < 1 ? fmt::format("${:.3f}", usd) : fmt::format("${:.2f}", usd);
}

// "batch 8, sequence length 128": what is asked for, not how it is run.
std::string question_text(const Scenario& scenario) {
  return scenario_words(scenario, ScenarioWords::kQuestion);
}

std::string where_text(const RunRecord& record) {
  std::string text = record.context.system + " in " + record.context.dtype;
  if (record.context.scenario.batch > 0)
    text += fmt::format(" with batch {}", record.context.scenario.batch);
  return text;
}

std::string lead_sentence(const RunRecord& best, std::size_t count) {
  const std::string question = question_text(best.context.scenario);
  const std::string what = best.context.workload + (question.empty() ? "" : " (" + question + ")");
  std::string text =
      count == 1 ? fmt::format("{} runs {} in {} at", best.context.system, what, best.context.dtype)
                 : fmt::format("Of {} predictions the fastest is {} in {} on {}:",
                               count_format(static_cast<double>(count)), what, best.context.dtype,
                               best.context.system);
  text +=
      fmt::format(" {}, {} per request", rate_text(best), si_format(best.summary.latency_s, "s"));
  if (best.summary.cost_usd_per_million) {
    text += fmt::format(", for {} per million {}", usd_text(*best.summary.cost_usd_per_million),
                        counted_thing(best.summary.throughput_unit));
  }
  if (!best.context.set.empty()) text += ", with " + join(best.context.set, ", ");
  if (!best.summary.bottleneck.empty()) text += "; the limit is the " + best.summary.bottleneck;
  return text + ".";
}

// "NeuronCore", "GPU" or "CPU".
std::string kind_of(const RunRecord& record) {
  if (!record.machine) return "";
  const std::string& part = record.machine->part;
  return part.find("core") != std::string::npos ? "CPU" : part;
}

std::string kind_words(const RunRecord& record) {
  const std::string kind = kind_of(record);
  return kind == "NeuronCore" ? record.machine->device : kind == "GPU" ? "GPUs" : "CPUs";
}

bool is_one_question(const Records& records) {
  return std::all_of(records.begin(), records.end(), [&](const RunRecord* record) {
    return record->context.workload == records.front()->context.workload &&
           record->summary.throughput_unit == records.front()->summary.throughput_unit;
  });
}

// Bits of what is multiplied; 0 for narrow storage with wide arithmetic.
int arithmetic_bits(const RunRecord& record) {
  const std::string& dtype = record.context.dtype;
  if (dtype.find("-weights") != std::string::npos) return 0;
  for (const auto& [bits, names] :
       {std::pair(8, std::vector{"int8", "fp8"}), std::pair(16, std::vector{"bf16", "fp16"}),
        std::pair(32, std::vector{"fp32", "tf32"})}) {
    for (const char* name : names) {
      if (starts_with(dtype, name)) return bits;
    }
  }
  return 0;
}

// Half the width of the interval of its cost, as a difference of logarithms.
double cost_margin(const RunRecord& record) {
  const auto found = record.summary.interval80.find("throughput");
  if (found == record.summary.interval80.end() || !(found->second.low > 0)) return 0;
  return std::log(found->second.high / found->second.low) / 2;
}

double cost_of(const RunRecord& record) { return *record.summary.cost_usd_per_million; }

// The cheapest of each kind of machine, the cheapest kind first.
Records cheapest_of_kinds(const std::map<std::string, Records>& kinds) {
  Records best;
  for (const auto& [kind, own] : kinds) best.push_back(cheapest(own));
  std::sort(best.begin(), best.end(),
            [](const RunRecord* a, const RunRecord* b) { return cost_of(*a) < cost_of(*b); });
  return best;
}

std::map<std::string, Records> priced_kinds(const Records& records) {
  std::map<std::string, Records> kinds;
  for (const RunRecord* record : records) {
    if (!kind_of(*record).empty() && record->summary.cost_usd_per_million)
      kinds[kind_of(*record)].push_back(record);
  }
  return kinds;
}

// "1.15 times as much, too close to call"
std::string ratio_text(const RunRecord& record, const RunRecord& least) {
  const double ratio = cost_of(record) / cost_of(least);
  const bool close = std::log(ratio) < std::hypot(cost_margin(record), cost_margin(least));
  return plain_format(ratio) + " times as much" + (close ? ", too close to call" : "");
}

// Which kind of machine is cheapest, the same by width of the arithmetic, and a sentence per kind.
void add_kinds(const Records& records, std::vector<std::string>& answer) {
  const std::map<std::string, Records> kinds = priced_kinds(records);
  if (kinds.size() < 2) return;
  const Records best = cheapest_of_kinds(kinds);
  const RunRecord& least = *best.front();
  std::vector<std::string> others;
  for (std::size_t i = 1; i < best.size(); ++i)
    others.push_back(kind_words(*best[i]) + " " + ratio_text(*best[i], least));
  answer.push_back(fmt::format("By cost: {}, {} at {} per million {}; {}.", kind_words(least),
                               where_text(least), usd_text(cost_of(least)),
                               counted_thing(least.summary.throughput_unit), join(others, "; ")));
  for (const int bits : {8, 16, 32}) {
    Records own;
    std::copy_if(records.begin(), records.end(), std::back_inserter(own),
                 [bits](const RunRecord* record) { return arithmetic_bits(*record) == bits; });
    const std::map<std::string, Records> same = priced_kinds(own);
    if (same.size() < 2 || own.size() == records.size()) continue;
    std::vector<std::string> parts;
    for (const RunRecord* record : cheapest_of_kinds(same)) {
      parts.push_back(fmt::format("{} {} ({})", kind_words(*record), usd_text(cost_of(*record)),
                                  where_text(*record)));
    }
    answer.push_back(fmt::format("In {} bits: {}.", bits, join(parts, ", ")));
  }
  std::map<std::string, Records> all;
  for (const RunRecord* record : records) {
    if (!kind_of(*record).empty()) all[kind_of(*record)].push_back(record);
  }
  const auto tell_quickest = [&](const std::string& kind, const char* besides) {
    const RunRecord* quick = quickest(all.at(kind));
    answer.push_back(fmt::format("{}{}: the shortest latency is {} on {}.", kind_words(*quick),
                                 besides, si_format(quick->summary.latency_s, "s"),
                                 where_text(*quick)));
  };
  for (const RunRecord* record : best) tell_quickest(kind_of(*record), "");
  for (const auto& entry : all) {
    if (kinds.count(entry.first) == 0) tell_quickest(entry.first, ", without a price here");
  }
}

void add_extremes(const Records& records, std::vector<std::string>& answer) {
  const RunRecord* best = fastest(records);
  if (quickest(records) == best && (cheapest(records) == best || cheapest(records) == nullptr))
    return;  // said already
  std::vector<std::string> parts;
  if (const RunRecord* cheap = cheapest(records)) {
    parts.push_back(fmt::format("the cheapest is {} at {} per million {}", where_text(*cheap),
                                usd_text(*cheap->summary.cost_usd_per_million),
                                counted_thing(cheap->summary.throughput_unit)));
  }
  const RunRecord* quick = quickest(records);
  parts.push_back(fmt::format("the shortest latency is {} on {}",
                              si_format(quick->summary.latency_s, "s"), where_text(*quick)));
  std::string text = join(parts, "; ") + ".";
  text.front() = 'T';
  answer.push_back(text);
}

// Everything that is equal between a machine as shipped and a changed one.
std::string question_key(const RunRecord& record) {
  const RunContext& c = record.context;
  return c.system + '\n' + c.workload + '\n' + c.dtype + '\n' + question_text(c.scenario);
}

struct Change {
  std::string set;
  std::size_t parts = 0;  // parameters that it changes
  double gain = 0;        // of throughput
};

std::string change_text(const Change& change) {
  return fmt::format("{} gives ×{}", change.set, plain_format(change.gain));
}

// What the overrides of a record are called, else themselves.
std::string name_of_set(const RunRecord& record, const Names& names) {
  const std::string set = join(record.context.set, ", ");
  const auto found = names.find(set);
  return found == names.end() ? set : found->second;
}

// What each change of the hardware gains over the fastest machine as shipped.
void add_changes(const Records& records, const Names& names, std::vector<std::string>& answer) {
  Records shipped;
  std::copy_if(records.begin(), records.end(), std::back_inserter(shipped),
               [](const RunRecord* record) { return record->context.set.empty(); });
  if (shipped.empty() || shipped.size() == records.size()) return;
  std::map<std::string, const RunRecord*> bases;
  for (const RunRecord* base : shipped) bases.emplace(question_key(*base), base);
  const RunRecord* base = fastest(shipped);
  std::vector<Change> changes;  // of this one
  double most = 0;              // of all
  const RunRecord* most_changed = nullptr;
  for (const RunRecord* record : records) {
    const auto found = bases.find(question_key(*record));
    if (record->context.set.empty() || found == bases.end()) continue;
    const double gain = throughput_of(*record) / throughput_of(*found->second);
    if (gain > most) {
      most = gain;
      most_changed = record;
    }
    if (found->second == base)
      changes.push_back({name_of_set(*record, names), record->context.set.size(), gain});
  }
  if (most_changed == nullptr || changes.empty()) return;
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.gain > b.gain; });
  std::vector<std::string> named;
  for (const Change& change : changes) {
    if (named.size() < kNamedChanges) named.push_back(change_text(change));
  }
  answer.push_back(fmt::format(
      "{} makes it twice as fast: the most is ×{}, on {}, by {}.",
      most >= 2 ? "A change of the hardware" : "No change of the hardware that was tried",
      plain_format(most), where_text(*most_changed), name_of_set(*most_changed, names)));
  answer.push_back(fmt::format("On {}, which makes {} as shipped: {}.", where_text(*base),
                               rate_text(*base), join(named, "; ")));
}

// "path" and "value" of an override.
std::pair<std::string, std::string> assignment(const std::string& set) {
  const std::size_t equals = set.find('=');
  if (equals == std::string::npos) return {set, ""};
  return {set.substr(0, equals), set.substr(equals + 1)};
}

// Without a machine as shipped: for every parameter that varies what its last value gives over its
// first one, with all else equal.
void add_levers(const Records& records, std::vector<std::string>& answer) {
  std::vector<std::string> paths;                          // in the order of the first record
  std::map<std::string, std::vector<std::string>> values;  // by path, in the order of the study
  for (const RunRecord* record : records) {
    if (record->context.set.empty()) return;
    for (const std::string& set : record->context.set) {
      const auto [path, value] = assignment(set);
      std::vector<std::string>& known = values[path];
      if (known.empty()) paths.push_back(path);
      if (std::find(known.begin(), known.end(), value) == known.end()) known.push_back(value);
    }
  }
  for (const std::string& path : paths) {
    const std::string first = path + "=" + values[path].front();
    const std::string last = path + "=" + values[path].back();
    if (first == last) continue;
    std::map<std::string, std::pair<double, double>> pairs;  // by all else: throughput of both
    for (const RunRecord* record : records) {
      std::string rest = question_key(*record);
      for (const std::string& set : record->context.set) {
        if (assignment(set).first != path) rest += '\n' + set;
      }
      const std::vector<std::string>& sets = record->context.set;
      const auto has = [&sets](const std::string& set) {
        return std::find(sets.begin(), sets.end(), set) != sets.end();
      };
      if (has(first)) pairs[rest].first = throughput_of(*record);
      if (has(last)) pairs[rest].second = throughput_of(*record);
    }
    double least = std::numeric_limits<double>::infinity();
    double most = 0;
    for (const auto& [rest, both] : pairs) {
      if (!(both.first > 0 && both.second > 0)) continue;
      least = std::min(least, both.second / both.first);
      most = std::max(most, both.second / both.first);
    }
    if (most == 0) continue;
    const std::string low = fmt::format("{:.2f}", least);
    const std::string high = fmt::format("{:.2f}", most);
    answer.push_back(fmt::format("{} instead of {}, all else equal: throughput ×{}{}.", last,
                                 values[path].front(), low, low == high ? "" : " to ×" + high));
  }
}

void add_claims(const std::vector<JudgedClaim>& claims, std::vector<std::string>& answer) {
  std::map<std::string, std::vector<std::string>> by_verdict;
  for (const JudgedClaim& judged : claims) {
    const Judgement& j = judged.judgement;
    std::string text = judged.claim.says;
    if (!j.predicted.empty() && j.verdict != kCannotBeJudged) {
      text +=
          fmt::format(": {}{}{}", j.predicted, j.needs.empty() ? "" : " where it needs " + j.needs,
                      j.close ? ", the limit inside the 80 % interval" : "");
    } else if (!j.why.empty()) {
      text += " (" + j.why + ")";
    }
    by_verdict[j.verdict].push_back(text);
  }
  const auto count = [&](const char* verdict) { return by_verdict[verdict].size(); };
  const auto counted = [&](const char* verdict) {
    const auto close = std::count_if(claims.begin(), claims.end(), [verdict](const auto& judged) {
      return judged.judgement.verdict == verdict && judged.judgement.close;
    });
    return std::to_string(count(verdict)) +
           (close > 0 ? fmt::format(" ({} too close to call)", close) : "");
  };
  answer.push_back(fmt::format(
      "Of {} claims, predictions support {}, contradict {}, and cannot judge {}.", claims.size(),
      counted(kSupported), counted(kNotSupported), count(kCannotBeJudged)));
  const std::pair<const char*, const char*> leads[] = {{kSupported, "Supported: "},
                                                       {kNotSupported, "Not supported: "},
                                                       {kCannotBeJudged, "Cannot be judged: "}};
  for (const auto& [verdict, lead] : leads) {
    if (count(verdict) > 0) answer.push_back(lead + join(by_verdict[verdict], "; ") + ".");
  }
}

// Networks are not ranked against one another: a sentence for each.
std::vector<std::string> answers_by_network(const Records& records) {
  std::vector<std::string> names;
  std::map<std::string, Records> networks;
  for (const RunRecord* record : records) {
    const std::string name = record->context.workload + '\n' + record->summary.throughput_unit;
    Records& own = networks[name];
    if (own.empty()) names.push_back(name);
    own.push_back(record);
  }
  std::vector<std::string> answer = {
      fmt::format("{} predictions, which are of {} questions; the fastest of each:",
                  count_format(static_cast<double>(records.size())), names.size())};
  for (std::size_t i = 0; i < names.size() && i < kNamedNetworks; ++i) {
    const Records& own = networks[names[i]];
    answer.push_back(lead_sentence(*fastest(own), own.size()));
  }
  if (names.size() > kNamedNetworks)
    answer.push_back(fmt::format("{} more stand in the table.", names.size() - kNamedNetworks));
  return answer;
}

}  // namespace

std::vector<std::string> answer_of(const ReportContent& content) {
  std::vector<std::string> answer;
  const Records records = usable(content.records);
  if (!records.empty()) add_changes(records, content.names, answer);
  add_levers(records, answer);
  if (!content.claims.empty()) add_claims(content.claims, answer);
  if (records.empty() && !content.problems.empty()) {
    answer.push_back(
        content.problems.size() == 1
            ? "Nothing could be predicted, for one reason."
            : fmt::format("Nothing could be predicted, for {} reasons.", content.problems.size()));
  }
  if (!answer.empty() || records.empty()) return answer;
  if (!is_one_question(records)) return answers_by_network(records);
  add_kinds(records, answer);
  const bool by_kind = !answer.empty();
  answer.push_back(lead_sentence(*fastest(records), content.records.size()));
  if (records.size() > 1 && !by_kind) add_extremes(records, answer);
  return answer;
}

}  // namespace foretell
