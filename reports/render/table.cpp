#include "reports/render/table.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowest = 8;  // characters of a cell in a block

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

std::string cut(const std::string& text, std::size_t width) {
  if (width_of(text) <= width) return text;
  std::string kept;
  std::size_t count = 0;
  for (const char c : text) {
    if (!continues_character(c) && ++count == width) break;
    kept += c;
  }
  return kept + "~";
}

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::size_t used = width_of(text);
  const std::string space(width > used ? width - used : 0, ' ');
  return align == Align::kLeft ? text + space : space + text;
}

void check_shape(const Table& table) {
  for (const auto& row : table.rows) {
    FORETELL_CHECK(row.size() == table.columns.size(), "a table row needs a cell per column");
  }
}

std::vector<std::size_t> natural_widths(const Table& table) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    std::size_t width = width_of(table.columns[i].title);
    for (const auto& row : table.rows) width = std::max(width, width_of(row[i]));
    widths.push_back(width);
  }
  return widths;
}

std::size_t total_width(const std::vector<std::size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), (widths.size() - 1) * kGap);
}

// Takes characters from the widest text column, one at a time, until the line fits.
void shrink(const Table& table, std::size_t max_width, std::vector<std::size_t>& widths) {
  while (total_width(widths) > max_width) {
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const bool may_shrink = !table.columns[i].whole && table.columns[i].align == Align::kLeft &&
                              widths[i] > table.columns[i].least;
      if (may_shrink && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
    }
    if (widest == widths.size()) return;  // only numbers are left
    --widths[widest];
  }
}

std::string text_line(const Table& table, const std::vector<std::string>& cells,
                      const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line.append(kGap, ' ');
    line += padded(cut(cells[i], widths[i]), widths[i], table.columns[i].align);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string markdown_line(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + markdown_text(cell) + " |";
  return line + "\n";
}

std::vector<std::string> titles(const Table& table) {
  std::vector<std::string> result;
  for (const TableColumn& column : table.columns) result.push_back(column.title);
  return result;
}

// A line per cell, a block per row.
std::string blocks(const Table& table, std::size_t max_width) {
  std::size_t title = 0;
  for (const TableColumn& column : table.columns) title = std::max(title, width_of(column.title));
  const std::size_t room =
      std::max(kNarrowest, max_width > title + kGap ? max_width - title - kGap : 0);
  std::string text;
  for (const auto& row : table.rows) {
    if (!text.empty()) text += '\n';
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool whole = table.columns[i].whole || table.columns[i].align == Align::kRight;
      text += padded(table.columns[i].title, title + kGap, Align::kLeft) +
              (whole ? row[i] : cut(row[i], room)) + "\n";
    }
  }
  return text;
}

}  // namespace

bool fits(const Table& table, int max_width) {
  if (max_width <= 0 || table.columns.empty()) return true;
  std::vector<std::size_t> widths = natural_widths(table);
  shrink(table, static_cast<std::size_t>(max_width), widths);
  return total_width(widths) <= static_cast<std::size_t>(max_width);
}

std::string render_text(const Table& table, int max_width) {
  check_shape(table);
  if (table.columns.empty()) return "";
  if (!fits(table, max_width)) return blocks(table, static_cast<std::size_t>(max_width));
  std::vector<std::size_t> widths = natural_widths(table);
  if (max_width > 0) shrink(table, static_cast<std::size_t>(max_width), widths);
  std::vector<std::string> rule;
  for (const std::size_t width : widths) rule.emplace_back(width, '-');
  std::string text = text_line(table, titles(table), widths) + text_line(table, rule, widths);
  for (const auto& row : table.rows) text += text_line(table, row, widths);
  return text;
}

namespace {

bool is_rule(const std::string& line) {
  return line.size() > 1 && line.front() == '-' &&
         line.find_first_not_of("- ") == std::string::npos;
}

std::string wrap_line(const std::string& line, std::size_t max_width) {
  constexpr const char* kIndent = "  ";
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  std::string wrapped;
  std::string current = line.substr(0, begin);
  bool is_first = true;  // of its line
  for (const std::string& word : split(line.substr(begin), ' ')) {
    if (!is_first && width_of(current) + 1 + width_of(word) > max_width) {
      wrapped += current + "\n";
      current = kIndent + word;
    } else {
      current += (is_first ? "" : " ") + word;
    }
    is_first = false;
  }
  return wrapped + current;
}

}  // namespace

std::string wrap_prose(const std::string& text, int max_width) {
  if (max_width <= 0) return text;
  std::vector<std::string> lines = split(text, '\n');
  bool in_table = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool is_title = i + 1 < lines.size() && is_rule(lines[i + 1]);
    in_table = is_title || (in_table && !lines[i].empty());
    if (!in_table && width_of(lines[i]) > static_cast<std::size_t>(max_width))
      lines[i] = wrap_line(lines[i], static_cast<std::size_t>(max_width));
  }
  return join(lines, "\n");
}

Table spared_until_fits(const Table& table, const std::vector<std::string>& titles, int max_width,
                        std::vector<std::string>& spared) {
  Table narrow = table;
  for (const std::string& title : titles) {
    if (fits(narrow, max_width)) break;
    const auto column =
        std::find_if(narrow.columns.begin(), narrow.columns.end(),
                     [&title](const TableColumn& known) { return known.title == title; });
    if (column == narrow.columns.end()) continue;
    narrow = without_columns(narrow, {static_cast<std::size_t>(column - narrow.columns.begin())});
    spared.push_back(title);
  }
  if (fits(narrow, max_width)) return narrow;
  spared.clear();
  return table;
}

std::string in_colour(const std::string& text) {
  constexpr const char* kHeading = "\x1b[1;36m";
  constexpr const char* kFaint = "\x1b[2m";
  constexpr const char* kBar = "\x1b[32m";
  constexpr const char* kNote = "\x1b[33m";
  constexpr const char* kNormal = "\x1b[0m";
  const auto coloured = [&](const std::string& line, const char* colour) {
    return colour + line + kNormal;
  };
  std::vector<std::string> lines = split(text, '\n');
  bool in_table = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string& line = lines[i];
    if (is_rule(line)) {
      if (i > 0 && !lines[i - 1].empty()) lines[i - 1] = coloured(lines[i - 1], kHeading);
      line = coloured(line, kFaint);
      in_table = true;
    } else if (line.empty()) {
      in_table = false;
    } else if (starts_with(line, "note: ")) {
      line = coloured("note:", kNote) + line.substr(5);
    } else if (in_table && (line.back() == '#' || line.back() == '|')) {
      const std::size_t before = line.find_last_not_of("#|");
      const std::size_t begin = before == std::string::npos ? 0 : before + 1;
      line = line.substr(0, begin) + coloured(line.substr(begin), kBar);
    }
  }
  return join(lines, "\n");
}

std::string markdown_text(const std::string& text) {
  // An underscore or a "#" inside a word means nothing.
  constexpr std::string_view kMeaning = "\\`*[]<|";
  std::string safe;
  for (const char c : text) {
    if (kMeaning.find(c) != std::string_view::npos) safe += '\\';
    safe += c == '\n' || c == '\r' ? ' ' : c;
  }
  return safe;
}

std::string render_markdown(const Table& table) {
  check_shape(table);
  if (table.columns.empty()) return "";
  std::string text = markdown_line(titles(table)) + "|";
  for (const TableColumn& column : table.columns) {
    text += column.align == Align::kRight ? " ---: |" : " --- |";
  }
  text += "\n";
  for (const auto& row : table.rows) text += markdown_line(row);
  return text;
}

std::vector<std::size_t> constant_columns(const Table& table) {
  std::vector<std::size_t> constant;
  if (table.rows.size() < 2) return constant;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool same = std::all_of(table.rows.begin(), table.rows.end(),
                                  [&](const auto& row) { return row[i] == table.rows.front()[i]; });
    if (same) constant.push_back(i);
  }
  return constant;
}

Table without_columns(const Table& table, const std::vector<std::size_t>& columns) {
  const auto is_kept = [&columns](std::size_t i) {
    return !std::binary_search(columns.begin(), columns.end(), i);
  };
  Table result;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (is_kept(i)) result.columns.push_back(table.columns[i]);
  }
  for (const auto& row : table.rows) {
    auto& kept = result.rows.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (is_kept(i)) kept.push_back(row[i]);
    }
  }
  return result;
}

}  // namespace foretell
