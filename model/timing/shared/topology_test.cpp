#include "model/timing/shared/topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "model/testing/neuron_exemplar.hpp"

namespace foretell {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

std::vector<int> degrees(const Topology& topology) {
  std::vector<int> out(static_cast<std::size_t>(topology.devices()), 0);
  for (const LinkEnds& ends : topology.links()) ++out[static_cast<std::size_t>(ends.from)];
  return out;
}

// Links on the way from each device of the ring to the next.
std::vector<int> hops(const Topology& topology, int count) {
  const std::vector<int> ring = topology.ring(count);
  std::vector<int> links;
  for (std::size_t p = 0; p < ring.size(); ++p) {
    links.push_back(topology.distance(ring[p], ring[(p + 1) % ring.size()]));
  }
  return links;
}

TEST(Topology, NeighboursAreThoseOfTheInstance) {
  EXPECT_THAT(degrees(Topology("ring", 12)), Each(2));
  EXPECT_THAT(degrees(Topology("torus-4x4", 16)), Each(4));
  EXPECT_THAT(degrees(Topology("chain", 6)), ElementsAre(1, 2, 2, 2, 2, 1));
  EXPECT_THAT(degrees(Topology("ring", 2)), ElementsAre(1, 1));  // not two links to one neighbour
  EXPECT_TRUE(Topology("none", 1).links().empty());
}

TEST(Topology, EveryLinkHasBothDirectionsAndExistsOnce) {
  for (const Topology& topology :
       {Topology("ring", 12), Topology("torus-4x4", 16), Topology("chain", 6)}) {
    std::set<std::pair<int, int>> ends;
    for (const LinkEnds& link : topology.links()) ends.insert({link.from, link.to});
    EXPECT_EQ(ends.size(), topology.links().size());
    for (const auto& [from, to] : ends) EXPECT_EQ(ends.count({to, from}), 1U);
  }
}

TEST(Topology, WaysAreShortest) {
  const Topology ring("ring", 12);
  const Topology chain("chain", 12);
  const Topology torus("torus-4x4", 16);
  for (int a = 0; a < 12; ++a) {
    for (int b = 0; b < 12; ++b) {
      const int apart = std::abs(a - b);
      EXPECT_EQ(ring.distance(a, b), std::min(apart, 12 - apart));
      EXPECT_EQ(chain.distance(a, b), apart);
    }
  }
  for (int a = 0; a < 16; ++a) {
    for (int b = 0; b < 16; ++b) {
      const int rows = std::abs(a / 4 - b / 4);
      const int columns = std::abs(a % 4 - b % 4);
      EXPECT_EQ(torus.distance(a, b), std::min(rows, 4 - rows) + std::min(columns, 4 - columns));
    }
  }
}

TEST(Topology, DevicesOfOneInstanceDontMeetInTheNetwork) {
  const NeuronSystemSpec two = exemplar_instances(exemplar_inf2_ring(), 2);
  const Topology topology(two, 2);
  EXPECT_EQ(topology.devices(), 24);
  EXPECT_EQ(topology.places(), 25);
  EXPECT_EQ(topology.distance(0, 6), 6);
  EXPECT_EQ(topology.distance(0, 12), 2);
  EXPECT_EQ(topology.distance(5, 23), 2);
  EXPECT_EQ(Topology(two, 1).places(), 12);
  EXPECT_THAT(hops(topology, 24), ::testing::Contains(2).Times(2));
}

TEST(Topology, ARingOfInstancesLinksDevicesOfOnePlace) {
  NeuronSystemSpec four = exemplar_instances(exemplar_trn1_torus(), 4);
  four.neighbour_bandwidth = BytesPerSecond(40e9);
  const Topology topology(four, 3);  // the fourth passes on what the third has for the first
  EXPECT_EQ(topology.devices(), 64);
  EXPECT_EQ(topology.places(), 64);
  EXPECT_THAT(degrees(topology), Each(6));
  EXPECT_EQ(topology.distance(1, 17), 1);
  EXPECT_EQ(topology.distance(1, 49), 1);
  EXPECT_EQ(topology.distance(1, 33), 2);
  EXPECT_EQ(topology.distance(1, 18), 2);
  EXPECT_EQ(RankPlacement(four, 96).device(64), 32);
}

TEST(Topology, ARingOfRanksVisitsEveryDeviceOnce) {
  for (const auto& [topology, count] : {std::pair(Topology("ring", 12), 12),
                                        {Topology("ring", 12), 6},
                                        {Topology("chain", 6), 6},
                                        {Topology("chain", 6), 5},
                                        {Topology("torus-4x4", 16), 16},
                                        {Topology("torus-4x4", 16), 4},
                                        {Topology("torus-4x4", 16), 1},
                                        {Topology("none", 1), 1}}) {
    std::vector<int> ring = topology.ring(count);
    std::sort(ring.begin(), ring.end());
    EXPECT_EQ(ring.size(), static_cast<std::size_t>(count));
    EXPECT_EQ(std::adjacent_find(ring.begin(), ring.end()), ring.end());
  }
}

TEST(Topology, ClosedRingsPassOneLinkPerStep) {
  EXPECT_THAT(hops(Topology("ring", 12), 12), Each(1));
  EXPECT_THAT(hops(Topology("torus-4x4", 16), 16), Each(1));
  EXPECT_THAT(hops(Topology("torus-4x4", 16), 8), Each(1));
  EXPECT_THAT(hops(Topology("torus-4x4", 16), 4), Each(1));  // a row and its wrap-around link
  EXPECT_THAT(hops(Topology("chain", 6), 2), Each(1));
}

TEST(Topology, OnAnOpenChainNoStepPassesMoreThanTwoLinksAndNoTwoShareOne) {
  EXPECT_THAT(Topology("chain", 6).ring(6), ElementsAre(0, 2, 4, 5, 3, 1));
  for (const auto& [topology, count] : {std::pair(Topology("chain", 6), 6),
                                        {Topology("chain", 6), 5},
                                        {Topology("ring", 12), 6},
                                        {Topology("ring", 12), 4}}) {
    EXPECT_THAT(hops(topology, count), Each(::testing::Le(2)));
    const std::vector<int> ring = topology.ring(count);
    std::map<int, int> uses;
    for (std::size_t p = 0; p < ring.size(); ++p) {
      const int to = ring[(p + 1) % ring.size()];
      for (int device = ring[p]; device != to;) {
        const int link = topology.next_link(device, to);
        ++uses[link];
        device = topology.links()[static_cast<std::size_t>(link)].to;
      }
    }
    for (const auto& [link, count_of_link] : uses) EXPECT_EQ(count_of_link, 1) << link;
  }
}

TEST(RankPlacement, NeighbouringRanksFillADeviceBeforeTheNext) {
  const RankPlacement placement(exemplar_inf2_ring(), 24);
  EXPECT_EQ(placement.cores_per_device(), 2);
  EXPECT_EQ(placement.devices().size(), 12U);
  EXPECT_EQ(placement.device(0), placement.device(1));
  EXPECT_EQ(placement.device(23), 11);
  const RankPlacement pair(exemplar_inf2(), 2);
  EXPECT_THAT(pair.devices(), ElementsAre(0));
}

}  // namespace
}  // namespace foretell
