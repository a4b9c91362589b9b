#include "model/base/errors.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

#include "model/base/names.hpp"
#include "model/base/text.hpp"

namespace foretell {

namespace {

// Lists longer than this are not printed: the message would hide its point.
constexpr std::size_t kMaxPrintedList = 24;

constexpr std::size_t kSlips = 1;  // edits of a slip of the keys

// Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

// The shortest candidate that is meant, the first of equally short ones; "" for none.
template <class Meant>
std::string shortest(const std::vector<std::string>& candidates, const Meant& is_meant) {
  std::string found;
  for (const std::string& candidate : candidates) {
    const bool is_shorter = found.empty() || candidate.size() < found.size();
    if (is_shorter && is_meant(candidate)) found = candidate;
  }
  return found;
}

// The shortest name that has the given one in it, at its beginning if there is one: "bert" finds
// "bert-base-uncased" rather than "albert-base".
std::string shortest_holding(const std::string& wanted,
                             const std::vector<std::string>& candidates) {
  constexpr std::size_t kTellingPart = 3;
  if (wanted.size() < kTellingPart) return "";
  const std::string begun = shortest(candidates, [&wanted](const std::string& candidate) {
    return starts_with(to_lower(candidate), wanted);
  });
  if (!begun.empty()) return begun;
  return shortest(candidates, [&wanted](const std::string& candidate) {
    return to_lower(candidate).find(wanted) != std::string::npos;
  });
}

// The name with the most words all of which are in the given one: "A100-SXM4-80GB" has "a100-sxm",
// "Llama-3.1-8B-Instruct" has "Llama-3.1-8B".
std::string longest_within(const std::string& wanted, const std::vector<std::string>& candidates) {
  const std::vector<std::string> given = words_of(wanted);
  const auto is_given = [&given](const std::string& word) {
    return std::any_of(given.begin(), given.end(),
                       [&word](const std::string& one) { return starts_with(one, word); });
  };
  std::string longest;
  std::size_t most = 1;  // one word alone is what many names have
  for (const std::string& candidate : candidates) {
    const std::vector<std::string> words = words_of(candidate);
    if (words.size() <= most || !std::all_of(words.begin(), words.end(), is_given)) continue;
    most = words.size();
    longest = candidate;
  }
  return longest;
}

// The shortest name whose first words, at least two, are the given ones: "bert-base" begins
// "bert-base-uncased".
std::string shortest_begun(const std::string& wanted, const std::vector<std::string>& candidates) {
  const std::vector<std::string> given = words_of(wanted);
  if (given.size() < 2) return "";
  return shortest(candidates, [&given](const std::string& candidate) {
    const std::vector<std::string> words = words_of(candidate);
    return words.size() >= given.size() && std::equal(given.begin(), given.end(), words.begin());
  });
}

std::string letters_of(std::string_view name) { return join(words_of(name), ""); }

// The shortest name that begins so but for what stands between its words: "llama3" begins
// "Llama-3-8B".
std::string shortest_spelt(std::string_view given, const std::vector<std::string>& candidates) {
  constexpr std::size_t kLeast = 4;  // letters that tell something
  const std::string letters = letters_of(given);
  if (letters.size() < kLeast) return "";
  return shortest(candidates, [&letters](const std::string& candidate) {
    return starts_with(letters_of(candidate), letters);
  });
}

// The shortest name that begins with the first two runs of the given one and has the others in
// their order: "h100x8" finds "h100-sxm-x8", "p5" finds "p5.4xlarge".
std::string shortest_skipping(std::string_view given, const std::vector<std::string>& candidates) {
  constexpr std::size_t kFirst = 2;
  const std::vector<std::string> wanted = runs_of(given);
  if (wanted.size() < kFirst) return "";
  return shortest(candidates, [&wanted](const std::string& candidate) {
    const std::vector<std::string> runs = runs_of(candidate);
    std::size_t found = 0;
    for (std::size_t i = 0; i < runs.size() && found < wanted.size(); ++i) {
      if (runs[i] == wanted[found]) {
        ++found;
      } else if (i < kFirst) {
        break;
      }
    }
    return found == wanted.size();
  });
}

// "; there are bert-base-cased and bert-base-uncased", the shortest first; "" for none.
std::string there_are(std::vector<std::string> names) {
  constexpr std::size_t kMaxPrinted = 8;
  if (names.empty()) return "";
  std::stable_sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return a.size() < b.size();  // the usual ones first
  });
  if (names.size() == 1) return "; there is " + names.front();
  std::string last = names.back();
  if (names.size() > kMaxPrinted) last = std::to_string(names.size() - kMaxPrinted) + " more";
  names.resize(std::min(names.size() - 1, kMaxPrinted));
  return "; there are " + join(names, ", ") + " and " + last;
}

// "; nearest is 'x'", or of a list that is not printed all that could be meant; "" for nothing.
std::string what_is_near(std::string_view given, const std::vector<std::string>& candidates,
                         bool is_listed) {
  const std::vector<std::string> begun = names_begun(given, candidates);
  if (!is_listed && begun.size() > 1) return there_are(begun);
  const std::string nearest = nearest_name(given, candidates);
  if (!nearest.empty()) return "; nearest is '" + nearest + "'";
  return is_listed ? "" : there_are(names_skipped_to(given, candidates));
}

// The command that lists what there is of a kind.
std::string where_to_look(std::string_view kind) {
  for (const char* listed : {"system", "device"}) {
    if (kind == listed) return "; `foretell list " + std::string(kind) + "s` shows all";
  }
  if (kind == "gpu") return "; `foretell list devices` shows all";
  return "";
}

}  // namespace

InternalError::InternalError(const char* file, int line, const std::string& what)
    : std::logic_error(std::string(file) + ":" + std::to_string(line) + ": " + what) {}

std::string nearest_name(std::string_view given, const std::vector<std::string>& candidates) {
  const std::string wanted = to_lower(given);
  // A third of the name may be wrong; more than that is another name.
  std::size_t best = std::max<std::size_t>(1, wanted.size() / 3) + 1;
  std::string nearest;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(wanted, to_lower(candidate));
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  const bool numbered = !wanted.empty() && std::isdigit(static_cast<unsigned char>(wanted.back()));
  const std::string skipping = shortest_skipping(wanted, candidates);
  if (numbered && !skipping.empty()) return skipping;  // a number is rarely a slip
  if (!nearest.empty() && best <= kSlips) return nearest;
  const std::string within = longest_within(wanted, candidates);
  if (!within.empty()) return within;
  const std::string begun = shortest_begun(wanted, candidates);
  if (!begun.empty()) return begun;
  const std::string spelt = shortest_spelt(wanted, candidates);
  if (!spelt.empty()) return spelt;
  if (!skipping.empty()) return skipping;
  return nearest.empty() ? shortest_holding(wanted, candidates) : nearest;
}

std::vector<std::string> nearest_names(std::string_view given,
                                       const std::vector<std::string>& candidates,
                                       std::size_t most) {
  const std::string wanted = to_lower(given);
  const std::string nearest = nearest_name(given, candidates);
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& candidate : candidates) {
    const bool is_first = !nearest.empty() && candidate == nearest;
    ranked.emplace_back(is_first ? 0 : edit_distance(wanted, to_lower(candidate)), candidate);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(most, ranked.size()); ++i) names.push_back(ranked[i].second);
  return names;
}

bool is_slip_of(std::string_view given, std::string_view name) {
  constexpr std::size_t kTelling = 4;
  return std::min(given.size(), name.size()) >= kTelling &&
         edit_distance(to_lower(given), to_lower(name)) == kSlips;
}

UserError unknown_name(std::string_view kind, std::string_view given,
                       const std::vector<std::string>& candidates) {
  std::string message = "unknown " + std::string(kind) + " '" + std::string(given) + "'";
  const bool is_listed = !candidates.empty() && candidates.size() <= kMaxPrintedList;
  message += what_is_near(given, candidates, is_listed);
  if (is_listed) message += "; there are: " + join(candidates, ", ");
  return UserError(message + where_to_look(kind));
}

}  // namespace foretell
