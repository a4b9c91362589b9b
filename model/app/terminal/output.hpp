// Where the result of a command goes and in which form.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/app/terminal/session.hpp"
#include "reports/record/run_record.hpp"
#include "reports/record/store.hpp"
#include "reports/record/text_file.hpp"
#include "reports/render/output_format.hpp"

namespace CLI {
class App;
}

namespace foretell {

struct OutputOptions {
  std::string format = "table";
  std::string output = "-";
  std::string store;
  bool energy = false;  // tables say where the joules go
};

// --format and -o, whose ending says the form where --format does not.
void add_format_option(CLI::App& command, OutputOptions& options);
// The same for a command that has both options.
void take_format_of_ending(CLI::App& command, std::string& format);
void add_store_option(CLI::App& command, OutputOptions& options);   // --store
void add_energy_option(CLI::App& command, OutputOptions& options);  // --energy

// Opens the output and the store at once, so that a path that cannot be written is found before
// the work; deliver() writes.
class RecordOutput {
 public:
  explicit RecordOutput(const OutputOptions& options);

  Format format() const { return format_; }
  // `table` is the text for Format::kTable; see records_text() for the others.
  void deliver(const std::vector<RunRecord>& records, const std::string& table);
  // `text` in place of the records, whatever the format.
  void deliver_text(const std::vector<RunRecord>& records, const std::string& text);

 private:
  Format format_;
  std::string path_;
  OutputFile output_;
  std::unique_ptr<RecordStore> store_;
};

// Columns of the terminal on standard output; 0 when it is none.
int terminal_width();

// Text for people as it is written to `path`: on a terminal ("-") long lines of prose are wrapped
// and there are colours, unless NO_COLOR is set or the terminal knows none.
std::string as_shown(const std::string& path, const std::string& text);

// Writes text to a file or standard output, checked.
void write_text(const std::string& path, const std::string& text);

}  // namespace foretell
