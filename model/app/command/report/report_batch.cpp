#include "model/app/command/report/report_batch.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "model/app/command/report/report_input.hpp"
#include "model/app/command/report/report_output.hpp"
#include "model/app/terminal/output.hpp"
#include "model/app/terminal/progress.hpp"
#include "model/app/workers/worker_pool.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "reports/render/html_report.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;
using Document = nlohmann::json;

const std::set<std::string>& endings() {
  static const std::set<std::string> kEndings = {".yaml", ".yml", ".sqlite", ".jsonl", ".json"};
  return kEndings;
}

std::vector<fs::path> inputs_of(const std::string& folder) {
  std::error_code error;
  std::vector<fs::path> inputs;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string ending = to_lower(entry.path().extension().string());
    if (entry.is_regular_file() && endings().count(ending) > 0) inputs.push_back(entry.path());
  }
  if (error) throw UserError(folder + ": " + error.message());
  if (inputs.empty()) {
    throw UserError(folder +
                    ": nothing to report; expected files that end in .yaml, .sqlite, "
                    ".jsonl or .json");
  }
  std::sort(inputs.begin(), inputs.end());
  return inputs;
}

// "a.jsonl" becomes "a.html", or "a.jsonl.html" beside an "a.yaml".
std::vector<std::string> page_names(const std::vector<fs::path>& inputs) {
  std::multiset<std::string> stems;
  for (const fs::path& input : inputs) stems.insert(input.stem().string());
  std::vector<std::string> names;
  for (const fs::path& input : inputs) {
    const std::string stem = input.stem().string();
    const bool alone = stems.count(stem) == 1 && stem != "index";
    names.push_back((alone ? stem : input.filename().string()) + ".html");
  }
  return names;
}

std::string claims_text(const std::vector<JudgedClaim>& claims) {
  if (claims.empty()) return "";
  const auto supported = std::count_if(claims.begin(), claims.end(), [](const JudgedClaim& judged) {
    return judged.judgement.verdict == kSupported;
  });
  return std::to_string(supported) + " of " + std::to_string(claims.size()) + " supported";
}

std::string problems_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " reason" : " reasons") + " why some are missing";
}

// A page that is there is whole, also after a run that was killed.
void write_whole(const fs::path& path, const std::string& text) {
  const fs::path part = path.string() + ".part";
  write_text(part.string(), text);
  std::error_code error;
  fs::rename(part, path, error);
  if (error) throw UserError(path.string() + ": " + error.message());
}

// Writes one page, and the same as Markdown; what the index says of it, as JSON.
std::string write_page(const fs::path& input, const fs::path& output, const Session& session) {
  Document entry = {{"title", input.filename().string()},
                    {"file", ""},
                    {"records", 0},
                    {"claims", ""},
                    {"problem", ""}};
  try {
    const ReportContent content = read_report(input.string(), 1, session);
    write_whole(output, html_report(content));
    fs::path beside = output;
    write_whole(beside.replace_extension(".md"), rendered(content, Format::kMarkdown, 0));
    entry["title"] = content.title;
    entry["file"] = output.filename().string();
    entry["records"] = content.records.size();
    entry["claims"] = claims_text(content.claims);
    if (!content.problems.empty()) {
      entry["problem"] = content.records.empty() ? "not predicted: " + content.problems.front()
                                                 : problems_text(content.problems.size());
    }
  } catch (const UserError& error) {
    entry["problem"] = error.what();
  }
  return entry.dump(-1, ' ', false, Document::error_handler_t::replace);
}

IndexEntry entry_of(const TaskOutcome& outcome, const fs::path& input) {
  IndexEntry entry;
  entry.title = input.filename().string();
  if (!outcome.finished) {
    entry.problem = outcome.text;
    return entry;
  }
  const Document json = Document::parse(outcome.text);
  entry.title = json.at("title").get<std::string>();
  entry.file = json.at("file").get<std::string>();
  entry.records = json.at("records").get<std::size_t>();
  entry.claims = json.at("claims").get<std::string>();
  entry.problem = json.at("problem").get<std::string>();
  return entry;
}

}  // namespace

int report_batch(const std::string& input, const std::string& output, int jobs,
                 const Session& session) {
  const std::vector<fs::path> inputs = inputs_of(input);
  check_page();
  const std::vector<std::string> names = page_names(inputs);
  std::error_code error;
  fs::create_directories(output, error);
  if (error) throw UserError(output + ": cannot be made: " + error.message());
  const std::string index = (fs::path(output) / "index.html").string();
  OutputFile file(index);
  ReportContent content;
  content.title = "Reports";
  {
    Progress progress(session, "reporting");
    Session quiet = session;
    quiet.quiet = true;  // one bar is enough
    const auto task = [&](std::size_t i) {
      return write_page(inputs[i], fs::path(output) / names[i], quiet);
    };
    const auto outcomes = run_forked(inputs.size(), jobs, task, [&](std::size_t done) {
      progress.update(static_cast<double>(done) / static_cast<double>(inputs.size()));
    });
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      content.index.push_back(entry_of(outcomes[i], inputs[i]));
    }
  }
  file.write(html_report(content));
  file.finish();
  std::size_t failed = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!content.index[i].file.empty()) continue;
    ++failed;
    session.say("foretell: no report of " + inputs[i].string() + ": " + content.index[i].problem);
  }
  session.say("foretell: " + std::to_string(inputs.size() - failed) + " reports, " + index);
  return failed == 0 ? kSuccess : kOutsideTolerance;
}

}  // namespace foretell
