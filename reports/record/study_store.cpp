#include "reports/record/study_store.hpp"

#include <nlohmann/json.hpp>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

using SQLite::Statement;

std::string text_of(const Statement& row, int column) { return row.getColumn(column).getString(); }
std::uint64_t count_of(const Statement& row, int column) {
  return static_cast<std::uint64_t>(row.getColumn(column).getInt64());
}

// Numbers from the sixth place on, then what limits.
void bind_summary(Statement& insert, int first, const RunSummary& summary) {
  for (const SummaryMetric& metric : summary_metrics()) {
    if (const std::optional<double> value = value_of(metric, summary)) insert.bind(first, *value);
    ++first;
  }
  insert.bind(first, summary.bottleneck);
}

// A good result is never replaced: another study may have stored it meanwhile.
std::string insert_point() {
  std::vector<std::string> columns = {"status", "message", "record"};
  for (const SummaryMetric& metric : summary_metrics()) columns.emplace_back(metric.field);
  columns.emplace_back("bottleneck");
  const std::string all = join(columns, ", ");
  std::string marks;
  for (std::size_t i = 0; i < columns.size() + 2; ++i) marks += i == 0 ? "?" : ",?";
  return "INSERT INTO point (hash, context, " + all + ") VALUES (" + marks +
         ") ON CONFLICT (hash) DO UPDATE SET (" + all + ") = (excluded." +
         join(columns, ", excluded.") + ") WHERE point.status NOT IN ('ok', 'error')";
}

StudyHead head_of(const Statement& select, const std::string& path) {
  StudyHead head;
  head.id = select.getColumn(0).getInt64();
  head.name = text_of(select, 1);
  head.hash = text_of(select, 2);
  head.version = text_of(select, 3);
  head.points = count_of(select, 4);
  const auto keys = nlohmann::json::parse(text_of(select, 5), nullptr, false);
  if (!keys.is_array()) throw UserError(path + ": study '" + head.name + "' is damaged");
  for (const auto& key : keys) head.keys.push_back(key.get<std::string>());
  head.definition = text_of(select, 6);
  return head;
}

constexpr const char* kSelectStudies =
    "SELECT id, name, hash, version, points, keys, definition FROM study ORDER BY id";
constexpr const char* kSelectStudy =
    "SELECT id, name, hash, version, points, keys, definition FROM study WHERE hash = ?";

PointResult result_of(const Statement& select, int first, const std::string& path) {
  PointResult result;
  result.hash = text_of(select, first);
  result.status = text_of(select, first + 1);
  result.message = text_of(select, first + 2);
  result.context = text_of(select, first + 3);
  const std::string record = text_of(select, first + 4);
  if (!record.empty())
    result.record = run_record_from_json(record, path + ": point " + result.hash);
  return result;
}

}  // namespace

StudyStore::StudyStore(const std::string& path, StoreAccess access) : database_(path, access) {}

StudyHead StudyStore::begin(const StudyHead& head, bool& is_new) {
  StudyHead stored;
  database_.transaction([&] {
    Statement select = database_.prepare(kSelectStudy);
    select.bind(1, head.hash);
    is_new = !database_.next(select);
    if (!is_new) {
      stored = head_of(select, database_.path());
      return;
    }
    Statement insert = database_.prepare(
        "INSERT INTO study (name, hash, version, points, keys, definition) VALUES (?,?,?,?,?,?)");
    const std::string keys = nlohmann::json(head.keys).dump();
    insert.bind(1, head.name);
    insert.bind(2, head.hash);
    insert.bind(3, head.version);
    insert.bind(4, static_cast<std::int64_t>(head.points));
    insert.bind(5, keys);
    insert.bind(6, head.definition);
    database_.run(insert);
    stored = head;
    Statement id = database_.prepare("SELECT id FROM study WHERE hash = ?");
    id.bind(1, head.hash);
    database_.next(id);
    stored.id = id.getColumn(0).getInt64();
  });
  return stored;
}

std::vector<StudyHead> StudyStore::studies() const {
  std::vector<StudyHead> studies;
  constexpr int kWithStudies = 2;
  if (database_.schema() < kWithStudies) return studies;
  Statement select = database_.prepare(kSelectStudies);
  while (database_.next(select)) studies.push_back(head_of(select, database_.path()));
  return studies;
}

std::vector<std::uint64_t> StudyStore::finished(const StudyHead& head) const {
  std::vector<std::uint64_t> finished;
  Statement select = database_.prepare(
      "SELECT number FROM study_point LEFT JOIN point ON point.hash = study_point.hash WHERE study "
      "= ? AND (study_point.hash IS NULL OR status IN ('ok', 'error')) ORDER BY number");
  select.bind(1, head.id);
  while (database_.next(select)) finished.push_back(count_of(select, 0));
  return finished;
}

std::optional<PointResult> StudyStore::find(const std::string& hash) const {
  Statement select = database_.prepare(
      "SELECT hash, status, message, context, record FROM point "
      "WHERE hash = ? AND status IN ('ok', 'error')");
  select.bind(1, hash);
  if (!database_.next(select)) return std::nullopt;
  return result_of(select, 0, database_.path());
}

SQLite::Statement& StudyStore::kept(std::optional<SQLite::Statement>& statement,
                                    const std::string& sql) {
  if (!statement) {
    statement.emplace(database_.prepare(sql));
  } else {
    statement->tryReset();  // of a step that failed
  }
  return *statement;
}

void StudyStore::add(const StudyHead& head, const std::vector<StudyPointRow>& rows,
                     const std::vector<PointResult>& results) {
  database_.transaction([&] {
    Statement& point = kept(add_point_, insert_point());
    for (const PointResult& result : results) {
      point.clearBindings();
      const std::string record = result.record ? to_json(*result.record) : "";
      point.bind(1, result.hash);
      point.bind(2, result.context);
      point.bind(3, result.status);
      point.bind(4, result.message);
      if (result.record) {
        point.bind(5, record);
        bind_summary(point, 6, result.record->summary);
      }
      database_.run(point);
    }
    Statement& row = kept(
        add_row_,
        "INSERT OR REPLACE INTO study_point (study, number, hash, skipped_by, inside, \"values\") "
        "VALUES (?,?,?,?,?,?)");
    for (const StudyPointRow& entry : rows) {
      row.clearBindings();
      row.bind(1, head.id);
      row.bind(2, static_cast<std::int64_t>(entry.number));
      if (!entry.hash.empty()) row.bind(3, entry.hash);
      row.bind(4, entry.skipped_by);
      row.bind(5, entry.inside ? 1 : 0);
      row.bind(6, entry.values);
      database_.run(row);
    }
  });
}

void StudyStore::read(const StudyHead& head,
                      const std::function<void(const StudyRow&)>& sink) const {
  Statement select = database_.prepare(
      "SELECT number, study_point.hash, skipped_by, inside, \"values\", point.hash, status, "
      "message, context, record FROM study_point LEFT JOIN point ON point.hash = study_point.hash "
      "WHERE study = ? ORDER BY number");
  select.bind(1, head.id);
  while (database_.next(select)) {
    StudyRow row;
    row.point.number = count_of(select, 0);
    row.point.hash = text_of(select, 1);
    row.point.skipped_by = text_of(select, 2);
    row.point.inside = select.getColumn(3).getInt() != 0;
    row.point.values = text_of(select, 4);
    row.result = result_of(select, 5, database_.path());
    if (row.point.hash.empty()) row.result.status = "skipped";
    sink(row);
  }
}

}  // namespace foretell
