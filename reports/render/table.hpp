// A table of text cells, rendered for a terminal, for a pipe or as Markdown.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace foretell {

enum class Align { kLeft, kRight };

struct TableColumn {
  std::string title;
  Align align = Align::kLeft;
  bool whole = false;     // never cut, as numbers never are
  std::size_t least = 8;  // characters that a cut column keeps
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

// Lines outside of tables that are longer than `max_width` (0: any width) go on in the next line,
// indented.
std::string wrap_prose(const std::string& text, int max_width);

// The table without the columns that can be spared, by their titles, one after the other, until it
// fits; `spared` gets those. Where that is not enough, as it is, for blocks.
Table spared_until_fits(const Table& table, const std::vector<std::string>& titles, int max_width,
                        std::vector<std::string>& spared);

// For terminals that know ANSI escapes: headings, the lines above a rule, bars of "#" at the end of
// a line, and notes.
std::string in_colour(const std::string& text);

std::string render_markdown(const Table& table);

// Foreign text within Markdown: no tag, link, emphasis, or heading comes of it, and it
// stays on its line.
std::string markdown_text(const std::string& text);

// Columns in which every row says the same as the first, when there are at least two rows.
std::vector<std::size_t> constant_columns(const Table& table);

// The table without the given columns (ascending order).
Table without_columns(const Table& table, const std::vector<std::size_t>& columns);

}  // namespace foretell
