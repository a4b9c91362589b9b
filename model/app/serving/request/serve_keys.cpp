#include "model/app/serving/request/serve_keys.hpp"

#include <algorithm>

#include "model/app/request/request_fields.hpp"
#include "model/app/serving/request/promise.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kMaxClients = 1'000'000;
constexpr std::int64_t kMaxRequests = 100'000'000;
constexpr std::int64_t kMaxStepTokens = 1 << 20;
constexpr std::int64_t kMaxReplicas = 10'000;

using Name = std::string_view;
using Text = std::string;

struct ServeKey {
  const char* key;
  void (*set)(ServeRequest& request, Name name, const Text& text);
};

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

using R = ServeRequest;
constexpr ServeKey kKeys[] = {
    {"concurrency", set_count_of<&R::concurrency, 1, kMaxClients>},
    {"rate", set_rate},
    {"trace", set_text_of<&R::trace>},
    {"offline", set_count_of<&R::offline, 1, kMaxRequests>},
    {"start", set_text_of<&R::start>},
    {"arrivals", set_text_of<&R::arrivals>},
    {"every", set_count_of<&R::trace_every, 1, kMaxRequests>},
    {"requests", set_count_of<&R::requests, 1, kMaxRequests>},
    {"warm_up", set_count_of<&R::warm_up, 0, kMaxRequests>},
    {"engine", set_text_of<&R::engine>},
    {"max_batch", set_count_of<&R::max_batch, 1, kMaxClients>},
    {"max_tokens", set_count_of<&R::max_tokens, 1, kMaxStepTokens>},
    {"kv_fraction", set_share_of<&R::kv_fraction>},
    {"chunk", set_chunk},
    {"prefix_cache", set_share_of<&R::prefix_share>},
    {"speculate", set_text_of<&R::speculate>},
    {"dp", set_count_of<&R::dp, 1, kMaxReplicas>},
    {"attention_dp", set_count_of<&R::attention_dp, 1, kMaxReplicas>},
    {"router", set_text_of<&R::router>},
    {"prefill", set_text_of<&R::prefill>},
    {"decode", set_text_of<&R::decode>},
    {"decode_on", set_text_of<&R::decode_system>},
    {"link", set_text_of<&R::link_rate>},
    {"slo", set_slo},
};
constexpr std::size_t kLoadKeyCount = 4;  // the first ones

}  // namespace

const std::vector<std::string>& serve_keys() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const ServeKey& one : kKeys) names.emplace_back(one.key);
    return names;
  }();
  return kNames;
}

bool is_load_key(std::string_view key) {
  return std::any_of(kKeys, kKeys + kLoadKeyCount,
                     [key](const ServeKey& one) { return key == one.key; });
}

bool set_serve_key(ServeRequest& request, std::string_view key, std::string_view name,
                   const std::string& text) {
  for (const ServeKey& one : kKeys) {
    if (key != one.key) continue;
    if (!text.empty()) one.set(request, name, text);
    return true;
  }
  return false;
}

}  // namespace foretell
