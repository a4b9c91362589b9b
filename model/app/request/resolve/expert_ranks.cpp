#include "model/app/request/resolve/expert_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "model/base/errors.hpp"
#include "model/base/limited_text.hpp"
#include "model/base/text.hpp"
#include "workloads/ir/routing.hpp"

namespace foretell {
namespace {

// A name, or a file with one load per line.
std::string routing_of(const std::string& asked) {
  constexpr std::size_t kMaxLoads = 4096;
  std::ifstream file(asked);
  if (!file) return to_string(parse_routing(asked));
  std::string loads;
  std::size_t count = 0;
  for (const std::string& line : split(read_limited(file, asked), '\n')) {
    const std::string word(trim(line));
    if (count == kMaxLoads) break;
    if (word.empty() || word.front() == '#') continue;
    loads += (count++ == 0 ? "loads:" : ",") + word;
  }
  if (count == 0) throw UserError("experts: " + asked + " holds no load; write one per line");
  return to_string(parse_routing(loads));
}

// "leave --ep and --redundant-experts out": those about experts that are given.
std::string leave_out(const Request& request) {
  std::vector<std::string> given;
  if (request.ep > 0) given.emplace_back("--ep");
  if (request.moe_tp > 0) given.emplace_back("--moe-tp");
  if (request.attention_dp > 0) given.emplace_back("--attention-dp");
  if (request.redundant_experts > 0) given.emplace_back("--redundant-experts");
  return "leave " + join(given, " and ") + " out";
}

// More copies than each group can have of each expert, or none to choose from, say nothing.
void check_redundant_experts(const ModelConfig& model, const Request& request) {
  const std::int64_t extra = request.redundant_experts;
  if (extra == 0) return;
  if (model.experts == 0) throw UserError(model.name + ": has no experts; " + leave_out(request));
  if (request.ep <= 1) {
    throw UserError(model.name +
                    ": --redundant-experts are held by groups beside the experts that each "
                    "has; give --ep above 1, or leave it out");
  }
  const std::int64_t most = model.experts * (request.ep - 1);
  if (extra > most) {
    throw UserError(fmt::format(
        "{}: {} redundant experts are more than {}: a copy of each of its {} experts on each of {} "
        "groups; lower --redundant-experts",
        model.name, extra, most, model.experts, request.ep));
  }
  if ((model.experts + extra) % request.ep == 0) return;
  const std::int64_t less = extra - (model.experts + extra) % request.ep;
  throw UserError(fmt::format(
      "{}: {} experts and {} redundant ones do not divide among {} groups; --redundant-experts can "
      "be {}{}",
      model.name, model.experts, extra, request.ep, less > 0 ? fmt::format("{} or ", less) : "",
      less + request.ep));
}

}  // namespace

void resolve_expert_ranks(const ModelConfig& model, std::string_view parts, Request& request) {
  if (!request.experts.empty() && model.experts == 0)
    throw UserError(model.name + ": has no experts; leave --experts out");
  if (!request.experts.empty()) request.experts = routing_of(request.experts);
  const bool asks = request.ep + request.moe_tp + request.attention_dp > 0;
  if (!asks) return check_redundant_experts(model, request);
  if (model.parts_of_decoder.empty()) {
    throw UserError(model.name + ": is no decoder made of layers of experts; " +
                    leave_out(request));
  }
  if (model.experts == 0 && request.ep + request.moe_tp > 0) {
    throw UserError(model.name + ": has no experts; " + leave_out(request));
  }
  const int ranks = request.tp * std::max(1, request.attention_dp);
  if (request.ep == 0) request.ep = request.moe_tp > 0 ? std::max(1, ranks / request.moe_tp) : 1;
  if (request.moe_tp > 0 && request.ep * request.moe_tp != ranks) {
    throw UserError(fmt::format(
        "{}: --ep {} times --moe-tp {} must be the {} {} of a copy (--tp times --attention-dp)",
        model.name, request.ep, request.moe_tp, ranks, parts));
  }
  if (request.batch < request.attention_dp) {
    throw UserError(fmt::format("{}: --attention-dp {} needs as many sequences; raise --batch",
                                model.name, request.attention_dp));
  }
  check_redundant_experts(model, request);
}

}  // namespace foretell
