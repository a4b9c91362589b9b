// What the GPUs of a group exchange in one kernel: rounds, one after another.
//
// Every rank does the same. In a round it waits for flags, moves its part through its own L2, then
// sends a message to each of the next `peers` ranks of its block at once. It is done with the round
// when its messages have left and those for it have arrived.
#pragma once

#include <vector>

#include "model/base/units.hpp"

namespace foretell {

struct LinkRound {
  int times = 1;              // rounds like this in a row
  Seconds latency;            // of flags, barriers and pipelines that fill
  Bytes local;                // through the L2 of the GPU
  BytesPerSecond local_rate;  // above zero when there are such bytes
  int peers = 1;              // 1: the neighbour in the ring
  Bytes message;              // to each of them
  BytesPerSecond link_rate;   // that the protocol reaches of the links of a GPU, one direction
  int block = 0;              // ranks in a row that exchange among themselves; 0: all
  int stride = 1;             // from a rank to its next one
  bool over_network = false;  // between nodes, else over the links of a node
};

struct LinkExchange {
  int ranks = 0;        // 0: the kernel exchanges nothing
  BytesPerSecond peak;  // of the links of a GPU, one direction
  std::vector<LinkRound> rounds;
  BytesPerSecond network;  // of a GPU to other nodes, one direction; 0: all are of one node
};

// What a GPU sends in all rounds, which is what it receives.
inline Bytes sent_bytes(const LinkExchange& exchange) {
  Bytes sum;
  for (const LinkRound& round : exchange.rounds) sum += round.message * round.peers * round.times;
  return sum;
}

}  // namespace foretell
