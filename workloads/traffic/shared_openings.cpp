#include "workloads/traffic/shared_openings.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace foretell {
namespace {

constexpr std::int64_t kLargestBlock = 4096;

// All prompts as one tree, a node per block.
class BlockTree {
 public:
  BlockTree() : nodes_(1) {}

  void add(const NumberedPrompt& prompt) {
    std::int32_t place = 0;
    for (const std::int64_t block : prompt.blocks) {
      const auto next = static_cast<std::int32_t>(nodes_.size());
      const auto [found, is_new] = places_.emplace(std::make_pair(place, block), next);
      if (is_new) {
        nodes_.emplace_back();
        ++nodes_[static_cast<std::size_t>(place)].children;
      }
      place = found->second;
      ++nodes_[static_cast<std::size_t>(place)].prompts;
    }
    ++nodes_[static_cast<std::size_t>(place)].ends;
  }

  // A chain has the number of its last node.
  std::vector<SharedPart> parts(const NumberedPrompt& prompt, std::int64_t block_tokens) const {
    std::vector<SharedPart> parts;
    std::int32_t place = 0;
    std::int64_t done = 0;  // tokens of the parts so far
    std::int64_t end = 0;
    for (const std::int64_t block : prompt.blocks) {
      place = places_.at({place, block});
      const Node& node = nodes_[static_cast<std::size_t>(place)];
      if (node.prompts < 2) break;
      end = std::min(end + block_tokens, prompt.tokens);
      if (node.children == 1 && node.ends == 0) continue;
      parts.push_back({place, static_cast<std::int32_t>(end - done)});
      done = end;
    }
    return parts;
  }

 private:
  struct Node {
    std::int32_t prompts = 0;  // that have this block
    std::int32_t children = 0;
    std::int32_t ends = 0;  // prompts whose last block it is
  };

  std::vector<Node> nodes_;
  std::map<std::pair<std::int32_t, std::int64_t>, std::int32_t> places_;  // after a node, a block
};

bool has_blocks_of(const NumberedPrompt& prompt, std::int64_t tokens) {
  const auto count = static_cast<std::int64_t>(prompt.blocks.size());
  const std::int64_t whole = prompt.tokens / tokens;
  return count == whole || count == whole + (prompt.tokens % tokens > 0 ? 1 : 0);
}

}  // namespace

std::int64_t tokens_per_block(const std::vector<NumberedPrompt>& prompts) {
  for (std::int64_t tokens = kLargestBlock; tokens > 0; tokens /= 2) {
    if (std::all_of(prompts.begin(), prompts.end(),
                    [&](const NumberedPrompt& one) { return has_blocks_of(one, tokens); })) {
      return tokens;
    }
  }
  return 0;
}

std::vector<std::vector<SharedPart>> shared_openings(const std::vector<NumberedPrompt>& prompts,
                                                     std::int64_t tokens_per_block) {
  BlockTree tree;
  for (const NumberedPrompt& prompt : prompts) tree.add(prompt);
  std::vector<std::vector<SharedPart>> openings;
  openings.reserve(prompts.size());
  for (const NumberedPrompt& prompt : prompts)
    openings.push_back(tree.parts(prompt, tokens_per_block));
  return openings;
}

}  // namespace foretell
