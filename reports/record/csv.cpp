#include "reports/record/csv.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr int kEnd = -1;
constexpr std::size_t kRowBuffer = 1 << 16;
constexpr std::size_t kMaxRow = std::size_t{16} << 20;  // bytes
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

CsvReader::CsvReader(const std::string& path, Names names) : file_(path) {
  begin();
  if (!read_record(header_)) throw UserError(path + ": is empty; expected a header row");
  written_header_ = header_;
  std::map<std::string, std::string> seen;  // as it is written, by name
  for (std::string& name : header_) {
    const std::string written = name;
    name = trim(name);
    if (names == Names::kLowerCase) name = to_lower(name);
    const auto [before, is_new] = seen.emplace(name, written);
    if (name.empty() || is_new) continue;
    if (before->second == written)
      throw UserError(path + ":1: column '" + name + "' stands twice in the header");
    throw UserError(path + ":1: columns '" + before->second + "' and '" + written +
                    "' differ in capitals alone; rename one of them or leave it out");
  }
}

std::optional<std::size_t> CsvReader::column(std::string_view name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  if (found == header_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header_.begin());
}

bool CsvReader::next(CsvRow& row, std::string& problem) {
  problem.clear();
  if (!read_record(row)) return false;
  if (row.size() != header_.size()) {
    problem = path() + ":" + std::to_string(row_line_) + ": " + std::to_string(row.size()) +
              " cells, but the header has " + std::to_string(header_.size());
    row.resize(header_.size());
  }
  return true;
}

bool CsvReader::next(CsvRow& row) {
  std::string problem;
  const bool found = next(row, problem);
  if (!problem.empty()) throw UserError(problem);
  return found;
}

void CsvReader::fill() {
  buffer_.resize(kRowBuffer);
  buffer_.resize(file_.read(buffer_.data(), kRowBuffer));
  position_ = 0;
}

// Skips a byte-order mark, and looks what separates the columns.
void CsvReader::begin() {
  fill();
  if (starts_with(buffer_, kByteOrderMark)) position_ = kByteOrderMark.size();
  const std::size_t start = std::min(buffer_.find_first_not_of("\r\n", position_), buffer_.size());
  const std::size_t end = std::min(buffer_.find_first_of("\r\n", start), buffer_.size());
  const std::string_view line = std::string_view(buffer_).substr(start, end - start);
  if (line.find(',') != std::string_view::npos) return;
  for (const char other : {';', '\t'}) {
    if (line.find(other) != std::string_view::npos) separator_ = other;
  }
}

int CsvReader::get() {
  if (position_ == buffer_.size()) {
    fill();
    if (buffer_.empty()) return kEnd;
  }
  const int c = static_cast<unsigned char>(buffer_[position_++]);
  if (c == '\n') ++line_;
  return c;
}

// The rest of a line end that begins with CR: an LF, or nothing, as older spreadsheets write it.
void CsvReader::end_line() {
  const int next = get();
  if (next == '\n' || next == kEnd) return;
  --position_;
  ++line_;
}

// Reads one record; lines with nothing on them are skipped.
bool CsvReader::read_record(CsvRow& row) {
  row.clear();
  std::string cell;
  bool quoted = false;      // inside quotes
  bool was_quoted = false;  // the cell had quotes, so "" is a cell and not an empty line
  row_line_ = line_;
  const auto refuse = [this](const std::string& what) {
    throw UserError(path() + ":" + std::to_string(row_line_) + ": " + what);
  };
  std::size_t bytes = 0;
  for (int c = get();; c = get()) {
    if (c == 0) refuse("holds a zero byte; expected text, or text compressed by gzip");
    if (++bytes > kMaxRow) {
      refuse("the row is longer than " + std::to_string(kMaxRow >> 20) +
             " MiB; is a line end or a closing quote missing?");
    }
    if (quoted) {
      if (c == kEnd) refuse("a quoted cell is not closed");
      if (c != '"') {
        cell += static_cast<char>(c);
        continue;
      }
      c = get();
      if (c == '"') {
        cell += '"';
        continue;
      }
      quoted = false;
    }
    if (c == '"' && cell.empty() && !was_quoted) {
      quoted = was_quoted = true;
    } else if (c == separator_) {
      row.push_back(std::move(cell));
      cell.clear();
      was_quoted = false;
    } else if (c == '\n' || c == '\r' || c == kEnd) {
      if (c == '\r') end_line();
      if (!row.empty() || !cell.empty() || was_quoted) {
        row.push_back(std::move(cell));
        return true;
      }
      if (c == kEnd) return false;
      cell.clear();
      bytes = 0;
      row_line_ = line_;
    } else {
      cell += static_cast<char>(c);
    }
  }
}

std::string to_csv(const CsvRow& row) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) line += ',';
    const std::string& cell = row[i];
    if (cell.find_first_of(",\"\r\n") == std::string::npos) {
      // A row of one empty cell would read back as an empty line.
      line += cell.empty() && row.size() == 1 ? "\"\"" : cell;
      continue;
    }
    line += '"';
    for (const char c : cell) {
      if (c == '"') line += '"';
      line += c;
    }
    line += '"';
  }
  line += '\n';
  return line;
}

std::string to_text(double value) {
  FORETELL_CHECK(std::isfinite(value), "a number that is written must be finite");
  std::array<char, 32> buffer{};
  // Adding zero turns -0 into 0.
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value + 0.0);
  return std::string(buffer.data(), result.ptr);
}

}  // namespace foretell
