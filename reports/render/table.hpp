// A table of text cells, rendered for a terminal, for a pipe or as Markdown.
#pragma once

#include <string>
#include <vector>

namespace foretell {

enum class Align { kLeft, kRight };

struct TableColumn {
  std::string title;
  Align align = Align::kLeft;
  bool whole = false;  // never cut, as numbers never are
};

struct Table {
  std::vector<TableColumn> columns;
  std::vector<std::vector<std::string>> rows;  // each as long as `columns`
};

// Plain text with two spaces between columns and a rule under the titles. A line is at most
// `max_width` characters wide (0: any width): the widest left-aligned columns are cut, with "~" as
// their last character. Numbers are never cut. Where that is not enough, every row is a block with
// a line per cell.
std::string render_text(const Table& table, int max_width = 0);
bool fits(const Table& table, int max_width);  // without blocks

// For terminals that know ANSI escapes: headings, the lines above a rule, bars of "#" at the end of
// a line, and notes.
std::string in_colour(const std::string& text);

std::string render_markdown(const Table& table);

// Columns in which every row says the same as the first, when there are at least two rows.
std::vector<std::size_t> constant_columns(const Table& table);

// The table without the given columns (ascending order).
Table without_columns(const Table& table, const std::vector<std::size_t>& columns);

}  // namespace foretell
