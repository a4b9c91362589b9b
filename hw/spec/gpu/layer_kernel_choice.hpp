// hw/kernels/layers/choice.yaml: which measured kernels time the layers of a network, by operation,
// library and type. Names of tables alone; calib/factors has their numbers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/config/document.hpp"

namespace foretell {

struct LayerTypeChoice {
  std::string compute;                 // as a policy names it: "bf16"
  std::string weights;                 // "mxfp4"
  std::string type;                    // of layer_kernel_facts.hpp
  std::vector<std::string> tables;     // last words of tables, the best first
  std::vector<std::string> libraries;  // that choose so; none: all
  std::string pipe;                    // … on chips that have one for this type; "": on all
};

struct LayerOperationChoice {
  std::string operation;             // "latent tokens"
  std::string library;               // "sglang"
  std::string tables_of;             // another library, whose tables hold the same kernels
  std::vector<std::string> kernels;  // middle words of tables, the best first
  std::int64_t most_tokens = 0;      // that it takes; 0: any number
  std::int64_t sms = 0;              // that an exchange takes; 0: all
  bool exchanged = true;             // also for tokens that an exchange has brought
  bool spread = true;                // also where each GPU holds some of the experts
};

class LayerKernelChoice {
 public:
  LayerKernelChoice();  // reads the file; UserError with file:line

  // What a library calls on a chip with these pipes, by type. Null when no tables have such
  // products.
  const LayerTypeChoice* type(const std::string& compute, const std::string& weights,
                              const std::string& library,
                              const std::map<std::string, double>& pipes) const;

  // The kernels of an operation, those of `library` first.
  std::vector<const LayerOperationChoice*> kernels(const std::string& operation,
                                                   const std::string& library) const;

 private:
  void read_operation(const Node& node);

  std::vector<std::string> stands_in_;
  std::vector<LayerTypeChoice> types_;
  std::vector<LayerOperationChoice> operations_;
};

}  // namespace foretell
