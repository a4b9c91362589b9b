// Area of the dies of a device and what it costs to make.
//
//   die = sms * (sm + array) * area of logic + (registers + shared memory + L2) * area of SRAM
//       + interfaces * (channel or stack) + base, which do not shrink
//
// Parts at 4 nm are fitted to published dies (calib/factors/area), processes are data
// (hw/process/nodes.yaml), counts those of the device with its overrides: memory that moves more
// bytes has more interfaces, unless its stacks are set. An unchanged device has
// the published area; a changed one adds what the parts differ by:
// area = published * parts(changed) / parts(published).
// A device of NeuronCores whose dies are not published has the sum of the parts that it states,
// each of the size that it has on published dies, on a process that is assumed (`unpublished` of
// hw/process/dies.yaml). What its dies hold beside them is not known: less than they have.
// A GPU of the user's that is like a device of the tables is that one, changed; another one has the
// sum of the parts that it states.
// Cost: wafer / (gross dies * yield) + memory + package. Gross dies pi r^2 / A - pi 2 r / sqrt(2
// A), yield (1 + A D / a)^-a of a negative binomial, of the rest a share is sold with fewer SMs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hw/spec/shared/catalog.hpp"
#include "model/base/energy_per.hpp"

namespace foretell {

// Of 16 bits per cycle, in the matrix unit that the factor `array` is of.
inline constexpr double kMultiplyAddsOfArray = 512;

struct AreaPart {
  std::string name;  // "SMs: matrix units", "L2", "memory interfaces", …
  double mm2 = 0;
};

struct DieArea {
  std::string chip;
  std::string node;
  std::string memory;
  bool is_published = true;
  bool is_of_another = false;   // the published dies of the device that it is like, changed
  std::vector<AreaPart> parts;  // add up to area_mm2
  double area_mm2 = 0;          // of all dies of the device
  int dies = 1;                 // more than one where the reticle does not hold it
  double reticle_mm2 = 0;
  double yield = 0;  // dies that are sold
  double die_usd = 0;
  double memory_usd = 0;
  double package_usd = 0;

  double cost_usd() const { return die_usd + memory_usd + package_usd; }
};

// What areas that are not published are made of.
std::string unpublished_area(const DieArea& area);

// What other processes and memories would change; "" leaves what the device has.
struct ProcessChange {
  std::string node;
  std::string memory;
};

// Nothing for a device whose dies are not in the tables, unless it is a GPU of the user's.
// `parameters`: of the device with its overrides; `like`: of one of the user's. UserError for a
// node or a memory that is not in the tables, with those that are.
std::optional<DieArea> die_area(const std::string& device, const std::vector<Parameter>& parameters,
                                const ProcessChange& change, const Likeness& like = {});

// Energies of the changed device against the one that it is: of a switched operation, of what
// leaks, and what is added to a byte of memory. 1 and 0 without a change. UserError as above,
// and for a device whose process is not known.
struct EnergyChange {
  double switched = 1;
  double leakage = 1;
  EnergyPerByte memory;

  bool changes() const { return switched != 1 || leakage != 1 || memory != EnergyPerByte(); }
};
EnergyChange energy_change(const std::string& device, const ProcessChange& change);

// What the process and the memory of a device say of its energies.
struct ProcessFacts {
  double energy = 1;   // of a switched operation at equal speed, against 7 nm
  EnergyPerByte byte;  // of the memory devices
};
// Nothing for a device whose dies are not in the tables.
std::optional<ProcessFacts> process_facts(const std::string& device);

}  // namespace foretell
