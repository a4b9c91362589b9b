// KV blocks of what was computed, kept until their room is needed.
//
// Tokens that several requests have in common form a chain of full blocks: a part of the opening
// that requests share, the turns of a session, or what one request alone computed. A block can be
// found again as long as all before it can. Blocks that no request uses are evicted in the order in
// which they were last used, of one chain the last block first (vLLM's free queue, the leaves of
// SGLang's tree). With memory of the host they move there and come back when they are found.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <vector>

#include "model/serving/block_pool.hpp"

namespace foretell {

// The chains that a request is made of, in the order of its tokens: those of its opening, each with
// the blocks that the request has of it, and then its own, which may grow.
struct PrefixKeys {
  struct Part {
    std::int64_t key = 0;
    std::int64_t blocks = 0;
  };
  std::vector<Part> opening;
  std::int64_t own = -1;  // of its session, or of the request alone
};

class PrefixCache {
 public:
  // Takes blocks from the pool, which outlives it. `host_blocks`: of the host's memory; 0: none.
  PrefixCache(BlockPool& pool, std::int64_t host_blocks) : pool_(pool), host_room_(host_blocks) {}

  struct Hit {
    std::int64_t blocks = 0;  // of the beginning of the request
    std::int64_t loaded = 0;  // of these, that came from the host
  };
  // At most `most` blocks from the beginning; they stay until release(). Loading evicts others, and
  // is left out where there is no room.
  Hit acquire(const PrefixKeys& keys, std::int64_t most);
  // A request has computed its blocks up to `full`, `hit` of which acquire() gave. Those of its own
  // `blocks` that continue a chain become part of it; returns how many did.
  std::int64_t adopt(const PrefixKeys& keys, std::int64_t hit, std::int64_t full);
  // The same for the opening alone, which others may find while the request runs. They stay until
  // its release().
  std::int64_t adopt_opening(const PrefixKeys& keys, std::int64_t hit, std::int64_t full);
  // The request leaves; once for every acquire().
  void release(const PrefixKeys& keys);

  // Evicts until this many blocks of the pool are free, or nothing is left to evict.
  void make_room(std::int64_t blocks);

  std::int64_t evictable() const { return evictable_; }  // unused blocks
  std::int64_t blocks() const { return blocks_; }        // all of the cache on the device
  std::int64_t host_blocks() const { return host_used_; }
  std::int64_t evicted() const { return evicted_; }      // so far
  std::int64_t offloaded() const { return offloaded_; }  // of these, that went to the host

 private:
  struct Chain {
    std::int64_t blocks = 0;    // on the device, from the first on
    std::int64_t host_end = 0;  // those from `blocks` up to this one are in the host's memory
    std::int64_t users = 0;
    std::list<std::int64_t>::iterator place;       // in idle_, when it has blocks and no user
    std::list<std::int64_t>::iterator host_place;  // in on_host_, when it has blocks there
  };

  void use(std::int64_t key);
  void leave(std::int64_t key);
  std::int64_t on_host(const Chain& chain) const { return chain.host_end - chain.blocks; }
  std::int64_t load(std::int64_t key, std::int64_t most);
  std::int64_t find(std::int64_t key, std::int64_t most, Hit& hit);
  std::int64_t extend(std::int64_t key, std::int64_t from, std::int64_t to);
  void offload(std::int64_t key, Chain& chain, std::int64_t blocks);
  void drop_from_host(std::int64_t key, std::int64_t blocks);
  void forget_if_empty(std::int64_t key);

  BlockPool& pool_;
  std::map<std::int64_t, Chain> chains_;
  std::list<std::int64_t> idle_;     // unused chains, the longest unused first
  std::list<std::int64_t> on_host_;  // likewise, by when they went there
  std::int64_t host_room_;           // free blocks there
  std::int64_t host_used_ = 0;
  std::int64_t evictable_ = 0;
  std::int64_t blocks_ = 0;
  std::int64_t evicted_ = 0;
  std::int64_t offloaded_ = 0;
};

}  // namespace foretell
