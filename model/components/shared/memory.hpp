// What stands at the end of a memory socket: HBM, L2 or DRAM, ours or a foreign one.
//
// Initiators speak the TLM-2.0 base protocol with it and nothing more: valid payloads (address,
// data, length, streaming width), b_transport with annotated delay, or nb_transport. Any base
// protocol target takes the place of ours: a class derived from Memory that gives its socket, and a
// name for it by which `device.hbm.model` (of a CPU `device.dram.model`) finds it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "hw/spec/neuron/neuron_spec.hpp"
#include "model/components/shared/execution.hpp"

namespace foretell {

class Memory : public sc_core::sc_module {
 public:
  using Target =
      tlm::tlm_base_target_socket_b<32, tlm::tlm_fw_transport_if<>, tlm::tlm_bw_transport_if<>>;

  explicit Memory(const sc_core::sc_module_name& name) : sc_module(name) {}

  virtual Target& target() = 0;  // takes any number of initiators, or as many as there are
  // What passed, where the memory counts it.
  virtual std::uint64_t read_bytes() const { return 0; }
  virtual std::uint64_t written_bytes() const { return 0; }
  virtual Ticks busy() const { return 0; }
  // Where its time went, as modules; paths after `prefix`.
  virtual void add_activity(const std::string& /*prefix*/,
                            std::vector<ModuleActivity>& /*modules*/) const {}
};

using MemoryFactory = std::function<std::unique_ptr<Memory>(const char* name, const HbmSpec& spec)>;

// From now on `model` names this memory.
void register_memory(const std::string& model, MemoryFactory factory);

// The memory that spec.model names. UserError that says so with `key` when there is none, or when
// the model of banks lacks its timings.
std::unique_ptr<Memory> make_memory(const char* name, const HbmSpec& spec,
                                    const std::string& key = "device.hbm.model");

}  // namespace foretell
