// How the values of a study vary: lists, ranges, values that change together, random samples.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace foretell {

struct Node;
class Problems;

// One direction in which a study varies: rows of values, one value per key. A list or a range has
// one key; keys of a `zip` change together; a random sample has a row per sample.
struct StudyAxis {
  std::vector<std::string> keys;
  std::vector<std::vector<std::string>> rows;
};

// The values of one key: a single value, a list, or one of
//   {range: [820 GB/s, 3.2 TB/s], steps: 4}      equal differences, both ends included
//   {range: [64, 512], step: 64}                 from the first end on, up to the second
//   {log_range: [1 GHz, 4 GHz], steps: 3}        equal ratios
// Ends that are whole numbers without unit give whole numbers (repeated ones once).
// What is wrong goes to `problems`; nothing is returned then.
std::vector<std::string> read_values(const Node& node, const std::string& key, Problems& problems);

// Keys of one mapping that change together: equally long lists.
StudyAxis read_zip(const Node& node, Problems& problems);

// {points: 100, seed: 7, vary: {KEY: {range: […]}, KEY: {log_range: […]}, KEY: [list]}}: a Latin
// hypercube: each key has a value in each of `points` equal strata of its range. The same seed
// gives the same points on every machine.
StudyAxis read_random(const Node& node, Problems& problems);

// "input-len" is the same key as "input_len", "seq_len" as "seq"; paths stay as they are.
std::string canonical_key(const std::string& key);

inline constexpr std::int64_t kMaxPoints = 10'000'000;  // that one study may have

}  // namespace foretell
