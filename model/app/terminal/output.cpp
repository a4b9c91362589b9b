#include "model/app/terminal/output.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <string_view>

#include "model/app/terminal/options.hpp"
#include "model/base/errors.hpp"
#include "reports/render/table.hpp"

namespace foretell {
int terminal_width() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

std::string as_shown(const std::string& path, const std::string& text) {
  if (path != "-" || isatty(STDOUT_FILENO) == 0) return text;
  const std::string wrapped = wrap_prose(text, terminal_width());
  const char* terminal = std::getenv("TERM");
  const bool is_dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return is_dumb || std::getenv("NO_COLOR") != nullptr ? wrapped : in_colour(wrapped);
}

void add_format_option(CLI::App& command, OutputOptions& options) {
  add_option(command, "--format", options.format, "FORM", format_words());
  add_option(command, "-o,--output", options.output, "FILE",
             "file for the result (default: standard output)");
  take_format_of_ending(command, options.format);
}

void take_format_of_ending(CLI::App& command, std::string& format) {
  command.get_option("--output")->each([&command, &format](const std::string& path) {
    if (command.count("--format") == 0) format = format_by_ending(path, format);
  });
}

void add_store_option(CLI::App& command, OutputOptions& options) {
  add_option(command, "--store", options.store, "FILE", "also add the records to this SQLite file");
}

void add_energy_option(CLI::App& command, OutputOptions& options) {
  command.add_flag("--energy", options.energy,
                   "tables say where the joules go, too; records always do");
}

RecordOutput::RecordOutput(const OutputOptions& options)
    : format_(parse_format(options.format)), path_(options.output), output_(options.output) {
  if (!options.store.empty()) {
    store_ = std::make_unique<RecordStore>(options.store, RecordStore::Access::kWrite);
  }
}

void RecordOutput::deliver(const std::vector<RunRecord>& records, const std::string& table) {
  if (store_) store_->add(records);
  output_.write(format_ == Format::kTable ? as_shown(path_, table)
                                          : records_text(records, format_));
  output_.finish();
}

void RecordOutput::deliver_text(const std::vector<RunRecord>& records, const std::string& text) {
  if (store_) store_->add(records);
  output_.write(format_ == Format::kTable ? as_shown(path_, text) : text);
  output_.finish();
}

void write_text(const std::string& path, const std::string& text) {
  OutputFile output(path);
  output.write(as_shown(path, text));
  output.finish();
}

}  // namespace foretell
