#include "model/app/serving/request/serve_keys.hpp"

#include <algorithm>

#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/serving/request/promise.hpp"
#include "model/app/serving/request/serve_parts.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {

Router parse_router(const std::string& name) {
  if (name == "round-robin") return Router::kRoundRobin;
  if (name == "least-loaded") return Router::kMinLoaded;
  if (name == "prefix-aware") return Router::kPrefixAware;
  throw unknown_name("router", name, {"round-robin", "least-loaded", "prefix-aware"});
}

namespace {

constexpr std::int64_t kMaxClients = 1'000'000;
constexpr std::int64_t kMaxRequests = 100'000'000;
constexpr std::int64_t kMaxStepTokens = 1 << 20;
constexpr std::int64_t kMaxReplicas = 10'000;

using Name = std::string_view;
using Text = std::string;

template <auto kMember, std::int64_t kLow, std::int64_t kHigh>
void set_count_of(ServeRequest& request, Name name, const Text& text) {
  using Number = std::decay_t<decltype(request.*kMember)>;
  request.*kMember = static_cast<Number>(parse_count(name, text, kLow, kHigh));
}

template <auto kMember>
void set_share_of(ServeRequest& request, Name name, const Text& text) {
  request.*kMember = parse_positive(name, text, 1);
}

template <auto kMember>
void set_text_of(ServeRequest& request, Name /*name*/, const Text& text) {
  request.*kMember = std::string(trim(text));
}

void set_rate(ServeRequest& request, Name name, const Text& text) {
  request.rate = parse_positive(name, text, kMaxRate);
}

void set_chunk(ServeRequest& request, Name name, const Text& text) {
  if (text != "off") parse_count(name, text, 1, kMaxStepTokens);
  request.chunk = text;
}

void set_slo(ServeRequest& request, Name /*name*/, const Text& text) {
  parse_promises(text);
  request.slo = text;
}

void set_router(ServeRequest& request, Name /*name*/, const Text& text) {
  request.router = std::string(trim(text));
  parse_router(request.router);
}

using R = ServeRequest;
constexpr std::size_t kLoadKeyCount = 4;  // the first ones

}  // namespace

const std::vector<ServeKey>& serve_keys() {
  static const std::vector<ServeKey> kKeys = {
      {"concurrency", "N",
       "closed loop: this many clients, each sends its next request when it has its answer", true,
       set_count_of<&R::concurrency, 1, kMaxClients>},
      {"rate", "R", "open loop: requests per second", true, set_rate},
      {"trace", "FILE",
       "CSV with arrival_s, input_len, output_len, or JSON lines with arrival_time, input_toks, "
       "output_toks; or a published trace as it is: Azure, BurstGPT, Mooncake, Bailian",
       false, set_text_of<&R::trace>},
      {"offline", "N", "this many requests, all at once", false,
       set_count_of<&R::offline, 1, kMaxRequests>},
      {"start", "WORD",
       "of the clients: together, or staggered: each at the first token of the one before", false,
       set_text_of<&R::start>},
      {"arrivals", "WORD", "of --rate: poisson, uniform, gamma:CV or burst:N (default: poisson)",
       false, set_text_of<&R::arrivals>},
      {"every", "N", "of the trace the first of every N requests: the share of one of N machines",
       false, set_count_of<&R::trace_every, 1, kMaxRequests>},
      {"requests", "N", "requests in all (default: 10 per client, 1000 of a rate, all of a trace)",
       false, set_count_of<&R::requests, 1, kMaxRequests>},
      {"warm_up", "N", "this many of the first count in no statistic (default: 0)", false,
       set_count_of<&R::warm_up, 0, kMaxRequests>},
      {"engine", "NAME[@RELEASE]",
       "serving engine of hw/engines by name, NAME@RELEASE, or a file like those there (default: "
       "hw/engines/choice)",
       true, set_text_of<&R::engine>},
      {"max_batch", "N", "most sequences at one time (default: the engine's)", true,
       set_count_of<&R::max_batch, 1, kMaxClients>},
      {"max_tokens", "N", "most tokens in a step (default: the engine's)", true,
       set_count_of<&R::max_tokens, 1, kMaxStepTokens>},
      {"kv_fraction", "SHARE", "share of the memory for the engine or its KV blocks", false,
       set_share_of<&R::kv_fraction>},
      {"chunk", "N|off", "tokens of a step that prompts are cut to, or 'off'", true, set_chunk},
      {"prefix_cache", "SHARE", "share of every prompt that is found in the cache", false,
       set_share_of<&R::prefix_share>},
      {"speculate", "N,acceptance=P[,draft=NETWORK[,tp=N]]",
       "guesses per step, how many are right, and the network that guesses on the same devices "
       "(without one guesses take no time), as in 7,acceptance=0.7,draft=Llama-3.2-1B",
       false, set_text_of<&R::speculate>},
      {"dp", "N", "copies, each a worker (default: 1; a plan searches)", false,
       set_count_of<&R::dp, 1, kMaxReplicas>},
      {"attention_dp", "N",
       "groups of --tp devices of a worker that schedule apart, step together and share its "
       "experts (default: 1; a plan searches)",
       false, set_count_of<&R::attention_dp, 1, kMaxReplicas>},
      {"router", "WORD",
       "between workers: round-robin, least-loaded or prefix-aware (default: round-robin)", false,
       set_router},
      {"prefill", "SPLIT", "separate workers for prompts, as in 'tp=4,workers=2'", false,
       set_text_of<&R::prefill>},
      {"decode", "SPLIT", "separate workers for answers, as in 'tp=8,workers=1'", false,
       set_text_of<&R::decode>},
      {"decode_on", "SYSTEM", "system of these (default: that of --on)", false,
       set_text_of<&R::decode_system>},
      {"link", "RATE",
       "rate at which KV caches move, as in '50 GB/s' (default: the links of the system)", false,
       set_text_of<&R::link_rate>},
      {"slo", "PROMISES", "promises, as in 'ttft.p99<=1s,tpot.p99<=40ms'", false, set_slo},
  };
  return kKeys;
}

void add_service_names(FieldNames& names) {
  for (const ServeKey& known : serve_keys()) {
    std::string option = known.key;
    std::replace(option.begin(), option.end(), '_', '-');
    names.emplace(std::move(option), known.key);
  }
}

bool is_load_key(std::string_view key) {
  const std::vector<ServeKey>& keys = serve_keys();
  return std::any_of(keys.begin(), keys.begin() + kLoadKeyCount,
                     [key](const ServeKey& one) { return key == one.key; });
}

bool set_serve_key(ServeRequest& request, std::string_view key, std::string_view name,
                   const std::string& text) {
  for (const ServeKey& one : serve_keys()) {
    if (key != one.key) continue;
    if (!text.empty()) one.set(request, name, text);
    return true;
  }
  return false;
}

}  // namespace foretell
