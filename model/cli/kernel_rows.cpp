#include "model/cli/kernel_rows.hpp"

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/cli/request_fields.hpp"

namespace foretell {
namespace {

GemmRowOptions gemm_options(const KernelOptions& options, const std::vector<std::string>& set) {
  return {parse_l2_choice(options.l2), parse_launch(options.launch), parse_sustained(options.clock),
          set, options.held_out_device};
}

}  // namespace

NamedCells::NamedCells(const CsvRow& header) {
  for (std::size_t i = 0; i < header.size(); ++i) columns_[header[i]] = i;
}

std::string NamedCells::text(const CsvRow& row, const std::string& column) const {
  const auto found = columns_.find(column);
  return found == columns_.end() ? "" : std::string(trim(row[found->second]));
}

std::int64_t NamedCells::count(const CsvRow& row, const std::string& column, std::int64_t low,
                               std::int64_t high) const {
  return parse_count(column, text(row, column), low, high);
}

GemmTableRows::GemmTableRows(const CsvRow& header, const KernelOptions& options,
                             const std::vector<std::string>& set)
    : cells_(header), predictor_(gemm_options(options, set)) {}

GemmRow GemmTableRows::read(const CsvRow& row) const {
  GemmRow product;
  product.gpu = cells_.text(row, "gpu");
  product.framework = cells_.text(row, "framework");
  product.version = cells_.text(row, "version");
  product.dtype = cells_.text(row, "dtype");
  if (product.gpu.empty()) throw UserError("gpu: is empty; see `foretell list devices`");
  if (product.dtype.empty()) throw UserError("dtype: is empty; write bf16, fp8, int8 …");
  product.shape.m = cells_.count(row, "m", 1, kMaxGemmSide);
  product.shape.n = cells_.count(row, "n", 1, kMaxGemmSide);
  product.shape.k = cells_.count(row, "k", 1, kMaxGemmSide);
  return product;
}

std::vector<RowTime> GemmTableRows::answer(const std::vector<CsvRow>& rows) {
  std::vector<RowTime> times(rows.size());
  std::vector<GemmRow> products;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    try {
      products.push_back(read(rows[i]));
      places.push_back(i);
    } catch (const UserError& error) {
      times[i].error = error.what();
    }
  }
  const std::vector<RowTime> answers = predictor_.predict(products);
  for (std::size_t i = 0; i < answers.size(); ++i) times[places[i]] = answers[i];
  return times;
}

}  // namespace foretell
