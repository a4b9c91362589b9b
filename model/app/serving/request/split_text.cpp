#include "model/app/serving/request/split_text.hpp"

#include <fmt/format.h>

#include <set>

#include "model/app/request/resolve/request_fields.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kMaxWorkers = 10'000;
constexpr std::int64_t kMaxDrafts = 64;
constexpr std::int64_t kMaxOfSplit = 1 << 20;

}  // namespace

WorkerSplit parse_split(std::string_view option, std::string_view text) {
  WorkerSplit split_of;
  for (const std::string& part : split(text, ',')) {
    const auto [name, value] = parse_pair(option, part, "NUMBER, as in tp=4,workers=2");
    const std::string where = fmt::format("{} {}", option, name);
    if (name == "tp") {
      split_of.tp = static_cast<int>(parse_count(where, value, 1, kMaxWorkers));
    } else if (name == "pp") {
      split_of.pp = static_cast<int>(parse_count(where, value, 1, kMaxWorkers));
    } else if (name == "workers") {
      split_of.workers = static_cast<int>(parse_count(where, value, 1, kMaxWorkers));
    } else if (name == "ep") {
      split_of.ep = static_cast<int>(parse_count(where, value, 1, kMaxWorkers));
    } else if (name == "moe-tp") {
      split_of.moe_tp = static_cast<int>(parse_count(where, value, 1, kMaxWorkers));
    } else if (name == "attention-dp") {
      split_of.attention_dp = static_cast<int>(parse_count(where, value, 1, kMaxWorkers));
    } else if (name == "batch") {
      split_of.max_sequences = parse_count(where, value, 1, kMaxOfSplit);
    } else if (name == "tokens") {
      split_of.max_tokens = parse_count(where, value, 1, kMaxOfSplit);
    } else {
      throw UserError(fmt::format(
          "{}: {}", option,
          unknown_name("part of a split", name,
                       {"tp", "pp", "workers", "attention-dp", "ep", "moe-tp", "batch", "tokens"})
              .what()));
    }
  }
  return split_of;
}

Speculation parse_speculation(std::string_view text) {
  Speculation speculation;
  const std::vector<std::string> parts = split(text, ',');
  if (parts.size() < 2) {
    throw UserError(fmt::format(
        "--speculate '{}': is a number of guesses and how many of them are right, as in "
        "3,acceptance=0.7 or 7,acceptance=0.7,draft=Llama-3.2-1B",
        text));
  }
  speculation.drafts = parse_count("--speculate", parts[0], 1, kMaxDrafts);
  std::set<std::string> named;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto [name, value] = parse_pair("--speculate", parts[i], "VALUE, as in acceptance=0.7");
    if (!named.insert(name).second || value.empty()) {
      throw UserError(fmt::format("--speculate {}: is {}", name,
                                  value.empty() ? "empty; name a value" : "stated twice"));
    }
    if (name == "acceptance") {
      speculation.acceptance = parse_positive("--speculate acceptance", value, 1);
    } else if (name == "draft") {
      speculation.draft = value;
    } else if (name == "tp") {
      speculation.tp = static_cast<int>(parse_count("--speculate tp", value, 1, kMaxWorkers));
    } else {
      throw UserError(
          fmt::format("--speculate: {}",
                      unknown_name("part of it", name, {"acceptance", "draft", "tp"}).what()));
    }
  }
  if (speculation.tp > 0 && speculation.draft.empty()) {
    throw UserError("--speculate tp: is of a draft network; name it, as in draft=Llama-3.2-1B");
  }
  if (speculation.acceptance > 0) return speculation;
  throw UserError(fmt::format(
      "--speculate '{}': does not say how many guesses are right, as in 3,acceptance=0.7", text));
}

void check_drafted_workers(const Speculation& speculation, bool separate) {
  if (speculation.draft.empty() || !separate) return;
  throw UserError(
      "--speculate draft: is simulated on workers that do prompts and answers; leave --prefill and "
      "--decode out, or the draft network");
}

}  // namespace foretell
