// How far predictions are from measurements on a chip that was not measured, as chips show that
// were: each is predicted with the factors of the others (calib/factors/gpu/transfer.yaml):
//
//   intervals:
//     - kernels: gemm                  # attention, collective, operator
//       generation: other              # than that of the nearest measured chip; or same
//       interval80: [0.85, 1.40]       # measured / predicted
//       rows: 3000
//       widened_by: 1.10               # so that it holds on a chip that did not make it
//       left_out: {a100-sxm: 0.80}     # share of the rows of each that the others' interval holds
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace foretell {

struct TransferInterval {
  std::string kernels;
  bool same_generation = false;
  double low = 1;
  double high = 1;
  std::size_t rows = 0;
  double widened_by = 1;
  std::map<std::string, double> left_out;
};

// UserError with file:line.
std::vector<TransferInterval> parse_transfer_intervals(const std::string& text,
                                                       const std::string& shown_as);
std::string transfer_intervals_text(const std::vector<TransferInterval>& intervals);

// Those that stand beside a folder of one kind of kernels (calib/factors/gpu/gemm); none without
// the file.
std::vector<TransferInterval> transfer_intervals_beside(const std::filesystem::path& folder);

// measured / predicted, low and high, of a set of factors on a chip of `architecture` when they
// come from the chip `from` and their own interval is `own`. Without an entry for chips so near the
// one for others; without that twice as wide as `own`. Never narrower than `own`: no chip that was
// not measured is predicted more surely than the one that was.
std::pair<double, double> interval80_on_another_chip(const std::vector<TransferInterval>& intervals,
                                                     const std::string& kernels,
                                                     const std::string& architecture,
                                                     const std::string& from,
                                                     std::pair<double, double> own);

}  // namespace foretell
