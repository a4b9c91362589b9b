#include "model/app/request/resolve/compiled_lengths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "model/app/request/resolve/request_fields.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "workloads/import/workload.hpp"

namespace foretell {
namespace {

constexpr std::string_view kPromptBuckets = "context-encoding-buckets";
constexpr std::string_view kCacheBuckets = "token-generation-buckets";
constexpr std::int64_t kLongest = 1'000'000'000;

std::vector<std::int64_t> buckets_within(std::string_view what, std::string_view list,
                                         std::int64_t context) {
  if (list.empty()) return {};
  std::vector<std::int64_t> buckets = parse_buckets(what, list);
  if (buckets.back() > context) {
    throw UserError(
        fmt::format("{}: {} is beyond the longest context, {}; lower it, or raise --context", what,
                    buckets.back(), context));
  }
  return buckets;
}

// `counted` says what the positions are.
std::int64_t bucket_of(std::string_view what, const std::vector<std::int64_t>& buckets,
                       std::int64_t positions, std::string_view counted) {
  const auto bucket = std::lower_bound(buckets.begin(), buckets.end(), positions);
  if (bucket != buckets.end()) return *bucket;
  throw UserError(fmt::format("{}: the longest is {}, but {} {}; add a longer one", what,
                              buckets.back(), counted, positions));
}

}  // namespace

std::vector<std::int64_t> parse_buckets(std::string_view what, std::string_view list) {
  std::vector<std::int64_t> buckets;
  for (const std::string& word : split(list, ','))
    buckets.push_back(parse_count(what, word, 1, kLongest));
  std::sort(buckets.begin(), buckets.end());
  buckets.erase(std::unique(buckets.begin(), buckets.end()), buckets.end());
  return buckets;
}

CompiledLengths::CompiledLengths(const ResolvedWorkload& resolved, std::int64_t smallest)
    : context_(resolved.request.context), smallest_(smallest) {
  const Request& request = resolved.request;
  const bool states = !request.context_encoding_buckets.empty();
  if (request.input_len == 0) {
    if (states || !request.token_generation_buckets.empty()) {
      throw UserError(
          fmt::format("{} is about the generation of tokens; add --input-len and "
                      "--output-len, or leave it out",
                      states ? kPromptBuckets : kCacheBuckets));
    }
    return;
  }
  if (request.kv == "exact" && !request.token_generation_buckets.empty()) {
    throw UserError(fmt::format("{}: --kv exact reads no compiled length; leave one of them out",
                                kCacheBuckets));
  }
  prompts_ = buckets_within(kPromptBuckets, request.context_encoding_buckets, context_);
  caches_ = buckets_within(kCacheBuckets, request.token_generation_buckets, context_);
  prompt(request.input_len);
  cache(cached_positions(resolved));
}

std::int64_t CompiledLengths::prompt(std::int64_t tokens) const {
  if (prompts_.empty()) return bucketed_kv_len(tokens, context_, smallest_);
  return bucket_of(kPromptBuckets, prompts_, tokens, "tokens of a prompt are");
}

std::int64_t CompiledLengths::cache(std::int64_t positions) const {
  if (caches_.empty()) return bucketed_kv_len(positions, context_, smallest_);
  return bucket_of(kCacheBuckets, caches_, positions, "positions of the cache are");
}

}  // namespace foretell
