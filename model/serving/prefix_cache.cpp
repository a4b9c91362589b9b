#include "model/serving/prefix_cache.hpp"

#include <algorithm>

#include "model/base/errors.hpp"

namespace foretell {

void PrefixCache::use(std::int64_t key) {
  Chain& chain = chains_[key];
  if (chain.users++ > 0 || chain.blocks == 0) return;
  idle_.erase(chain.place);
  evictable_ -= chain.blocks;
}

void PrefixCache::leave(std::int64_t key) {
  Chain& chain = chains_.at(key);
  FORETELL_CHECK(chain.users > 0, "a chain of KV blocks was left more often than used");
  if (--chain.users > 0) return;
  if (chain.blocks > 0) {
    chain.place = idle_.insert(idle_.end(), key);
    evictable_ += chain.blocks;
  }
  forget_if_empty(key);
}

void PrefixCache::forget_if_empty(std::int64_t key) {
  const auto found = chains_.find(key);
  const Chain& chain = found->second;
  if (chain.users == 0 && chain.blocks == 0 && on_host(chain) == 0) chains_.erase(found);
}

void PrefixCache::drop_from_host(std::int64_t key, std::int64_t blocks) {
  Chain& chain = chains_.at(key);
  chain.host_end -= blocks;
  host_used_ -= blocks;
  host_room_ += blocks;
  if (blocks > 0 && on_host(chain) == 0) on_host_.erase(chain.host_place);
}

// The last `blocks` of the chain leave the device: to the host, where those that went there first
// make room.
void PrefixCache::offload(std::int64_t key, Chain& chain, std::int64_t blocks) {
  while (host_room_ < blocks && !on_host_.empty() && on_host_.front() != key) {
    const std::int64_t oldest = on_host_.front();
    drop_from_host(oldest, std::min(blocks - host_room_, on_host(chains_.at(oldest))));
    forget_if_empty(oldest);
  }
  const std::int64_t before = on_host(chain);
  if (host_room_ < blocks) {  // a chain with a gap finds nothing beyond it
    drop_from_host(key, before);
    chain.blocks -= blocks;
    const std::int64_t kept = std::min(blocks, host_room_);
    chain.host_end = chain.blocks + kept;
    if (kept > 0) chain.host_place = on_host_.insert(on_host_.end(), key);
    host_room_ -= kept;
    host_used_ += kept;
    offloaded_ += kept;
    return;
  }
  chain.blocks -= blocks;
  if (before == 0) chain.host_place = on_host_.insert(on_host_.end(), key);
  host_room_ -= blocks;
  host_used_ += blocks;
  offloaded_ += blocks;
}

void PrefixCache::make_room(std::int64_t blocks) {
  while (pool_.free() < blocks && !idle_.empty()) {
    const std::int64_t key = idle_.front();
    Chain& chain = chains_.at(key);
    const std::int64_t gone = std::min(blocks - pool_.free(), chain.blocks);
    offload(key, chain, gone);
    pool_.give_back(gone);
    evictable_ -= gone;
    blocks_ -= gone;
    evicted_ += gone;
    if (chain.blocks > 0) continue;
    idle_.pop_front();
    forget_if_empty(key);
  }
}

// Up to `most` blocks after those on the device come back from the host; what is evicted for them
// may take their place there.
std::int64_t PrefixCache::load(std::int64_t key, std::int64_t most) {
  Chain& chain = chains_.at(key);
  const std::int64_t wanted = std::min(most, on_host(chain));
  if (wanted <= 0 || wanted > pool_.free() + evictable_) return 0;
  on_host_.erase(chain.host_place);  // the chain is in use and not dropped meanwhile
  host_used_ -= wanted;
  host_room_ += wanted;
  make_room(wanted);
  FORETELL_CHECK(pool_.take(wanted), "blocks that could be evicted were not");
  chain.blocks += wanted;
  blocks_ += wanted;
  if (on_host(chain) > 0) chain.host_place = on_host_.insert(on_host_.end(), key);
  return wanted;
}

// Blocks of the chain from its first on, at most `most`.
std::int64_t PrefixCache::find(std::int64_t key, std::int64_t most, Hit& hit) {
  const std::int64_t there = std::min(chains_.at(key).blocks, most);
  const std::int64_t loaded = there < most ? load(key, most - there) : 0;
  hit.blocks += there + loaded;
  hit.loaded += loaded;
  return there + loaded;
}

PrefixCache::Hit PrefixCache::acquire(const PrefixKeys& keys, std::int64_t most) {
  for (const PrefixKeys::Part& part : keys.opening) use(part.key);
  use(keys.own);
  Hit hit;
  for (const PrefixKeys::Part& part : keys.opening) {
    if (find(part.key, std::min(most - hit.blocks, part.blocks), hit) < part.blocks) return hit;
  }
  if (hit.blocks < most) find(keys.own, most - hit.blocks, hit);
  return hit;
}

// Blocks `from` to `to` of a chain, as far as they continue what it has.
std::int64_t PrefixCache::extend(std::int64_t key, std::int64_t from, std::int64_t to) {
  Chain& chain = chains_.at(key);
  if (from > chain.blocks || to <= chain.blocks) return 0;
  const std::int64_t added = to - chain.blocks;
  const std::int64_t doubled = std::min(added, on_host(chain));  // also in the host's memory
  if (doubled > 0) {
    host_used_ -= doubled;
    host_room_ += doubled;
  }
  const bool was_there = on_host(chain) > 0;
  chain.blocks = to;
  chain.host_end = std::max(chain.host_end, chain.blocks);
  if (was_there && on_host(chain) == 0) on_host_.erase(chain.host_place);
  blocks_ += added;
  return added;
}

std::int64_t PrefixCache::adopt_opening(const PrefixKeys& keys, std::int64_t hit,
                                        std::int64_t full) {
  std::int64_t added = 0;
  std::int64_t first = 0;  // block of the request with which the part begins
  for (const PrefixKeys::Part& part : keys.opening) {
    if (full <= first) break;
    added += extend(part.key, std::max<std::int64_t>(0, hit - first),
                    std::min(full - first, part.blocks));
    first += part.blocks;
  }
  return added;
}

std::int64_t PrefixCache::adopt(const PrefixKeys& keys, std::int64_t hit, std::int64_t full) {
  std::int64_t opening = 0;
  for (const PrefixKeys::Part& part : keys.opening) opening += part.blocks;
  return adopt_opening(keys, hit, full) +
         extend(keys.own, std::max<std::int64_t>(0, hit - opening), full - opening);
}

// The last part first, so that it is evicted before those without which it cannot be found.
void PrefixCache::release(const PrefixKeys& keys) {
  leave(keys.own);
  for (auto part = keys.opening.rbegin(); part != keys.opening.rend(); ++part) leave(part->key);
}

}  // namespace foretell
