// Organisation and timings of a standard of stacked memory (hw/memories/<id>.yaml), for the
// bank-level model of device memory.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/base/units.hpp"
#include "model/config/fields.hpp"

namespace foretell {

struct MemoryTimings {
  std::string id;            // "hbm3"
  int channels = 0;          // of a stack
  int pseudo_channels = 0;   // of a channel
  int banks = 0;             // of a pseudo-channel
  Bytes burst;               // of one column access
  Bytes row;                 // of a bank
  Bytes interleave;          // neighbouring addresses on one pseudo-channel
  Seconds row_cycle;         // tRC: from opening a row to opening another one of the same bank
  Seconds activates;         // tRRD: from opening a row to opening one of another bank
  Seconds four_activates;    // tFAW: in which no more than four rows are opened
  Seconds read_to_write;     // gap of the bus
  Seconds write_to_read;     // likewise
  Bytes turn_batch;          // of a pseudo-channel, before the bus turns for those who wait
  Seconds refresh_interval;  // tREFI
  // tRFC in ns by what a channel holds: "8_Gb".
  std::map<std::string, double> refresh_time;
};

void fields(FieldList& list, MemoryTimings& timings);

// tRFC of a channel that holds this many gigabits, between the densities that are known on a
// straight line; beyond them the nearest one.
Seconds refresh_time(const MemoryTimings& timings, double gigabits);

// By id or by the name of a file. UserError that names `key` and what is allowed.
MemoryTimings load_memory_timings(const std::string& standard, const std::string& key);

}  // namespace foretell
