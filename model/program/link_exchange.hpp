// What the GPUs of a group exchange in one kernel: rounds, one after another.
//
// Every rank does the same. In a round it waits for flags, moves its part through its own L2, then
// sends all its messages at once, those within its node over the links and those to other nodes
// over the network. It is done with the round when its messages have left and those for it have
// arrived.
#pragma once

#include <vector>

#include "model/base/units.hpp"

namespace foretell {

// One to each of the next `peers` ranks of the sender's block.
struct LinkMessages {
  int peers = 0;        // 1: the neighbour in a ring; 0: nothing is sent
  Bytes each;           // to each of them
  BytesPerSecond rate;  // that the protocol reaches of a GPU, one direction
  int block = 0;        // ranks in a row that exchange among themselves; 0: all
  int stride = 1;       // from a rank to its next one

  Bytes bytes() const { return each * peers; }
  Seconds time() const { return peers > 0 ? bytes() / rate : Seconds(0); }
};

struct LinkRound {
  int times = 1;              // rounds like this in a row
  Seconds latency;            // of flags, barriers and pipelines that fill
  Bytes local;                // through the L2 of the GPU
  BytesPerSecond local_rate;  // above zero when there are such bytes
  LinkMessages links;         // within a node
  LinkMessages network;       // to other nodes
};

struct LinkExchange {
  int ranks = 0;        // 0: the kernel exchanges nothing
  BytesPerSecond peak;  // of the links of a GPU, one direction
  std::vector<LinkRound> rounds;
  BytesPerSecond network;  // of a GPU to other nodes, one direction; 0: all are of one node
  int sms = 0;             // of each GPU, that no thread blocks of others find a place on meanwhile
};

// What a GPU sends in all rounds, which is what it receives.
inline Bytes sent_bytes(const LinkExchange& exchange) {
  Bytes sum;
  for (const LinkRound& round : exchange.rounds) {
    sum += (round.links.bytes() + round.network.bytes()) * round.times;
  }
  return sum;
}

}  // namespace foretell
