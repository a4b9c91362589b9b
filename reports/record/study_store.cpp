#include "reports/record/study_store.hpp"

#include <sqlite3.h>

#include <nlohmann/json.hpp>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

using Statement = Database::Statement;

void bind_number(const Statement& statement, int index, const std::optional<double>& value) {
  if (value) {
    sqlite3_bind_double(statement.get(), index, *value);
  } else {
    sqlite3_bind_null(statement.get(), index);
  }
}

// Numbers from the sixth place on, then what limits.
void bind_summary(const Statement& insert, int first, const RunSummary& summary) {
  for (const SummaryMetric& metric : summary_metrics())
    bind_number(insert, first++, value_of(metric, summary));
  bind_text(insert, first, summary.bottleneck);
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
  head.id = sqlite3_column_int64(select.get(), 0);
  head.name = text_column(select, 1);
  head.hash = text_column(select, 2);
  head.version = text_column(select, 3);
  head.points = static_cast<std::uint64_t>(sqlite3_column_int64(select.get(), 4));
  const auto keys = nlohmann::json::parse(text_column(select, 5), nullptr, false);
  if (!keys.is_array()) throw UserError(path + ": study '" + head.name + "' is damaged");
  for (const auto& key : keys) head.keys.push_back(key.get<std::string>());
  head.definition = text_column(select, 6);
  return head;
}

constexpr const char* kSelectStudies =
    "SELECT id, name, hash, version, points, keys, definition FROM study ORDER BY id";
constexpr const char* kSelectStudy =
    "SELECT id, name, hash, version, points, keys, definition FROM study WHERE hash = ?";

PointResult result_of(const Statement& select, int first, const std::string& path) {
  PointResult result;
  result.hash = text_column(select, first);
  result.status = text_column(select, first + 1);
  result.message = text_column(select, first + 2);
  result.context = text_column(select, first + 3);
  const std::string record = text_column(select, first + 4);
  if (!record.empty())
    result.record = run_record_from_json(record, path + ": point " + result.hash);
  return result;
}

}  // namespace

StudyStore::StudyStore(const std::string& path, StoreAccess access) : database_(path, access) {}

StudyHead StudyStore::begin(const StudyHead& head, bool& is_new) {
  StudyHead stored;
  database_.transaction([&] {
    const Statement select = database_.prepare(kSelectStudy);
    bind_text(select, 1, head.hash);
    is_new = !database_.next(select);
    if (!is_new) {
      stored = head_of(select, database_.path());
      return;
    }
    const Statement insert = database_.prepare(
        "INSERT INTO study (name, hash, version, points, keys, definition) VALUES (?,?,?,?,?,?)");
    const std::string keys = nlohmann::json(head.keys).dump();
    bind_text(insert, 1, head.name);
    bind_text(insert, 2, head.hash);
    bind_text(insert, 3, head.version);
    sqlite3_bind_int64(insert.get(), 4, static_cast<std::int64_t>(head.points));
    bind_text(insert, 5, keys);
    bind_text(insert, 6, head.definition);
    database_.run(insert);
    stored = head;
    const Statement id = database_.prepare("SELECT id FROM study WHERE hash = ?");
    bind_text(id, 1, head.hash);
    if (!database_.next(id)) database_.fail("cannot be read");
    stored.id = sqlite3_column_int64(id.get(), 0);
  });
  return stored;
}

std::vector<StudyHead> StudyStore::studies() const {
  std::vector<StudyHead> studies;
  constexpr int kWithStudies = 2;
  if (database_.schema() < kWithStudies) return studies;
  const Statement select = database_.prepare(kSelectStudies);
  while (database_.next(select)) studies.push_back(head_of(select, database_.path()));
  return studies;
}

std::vector<std::uint64_t> StudyStore::finished(const StudyHead& head) const {
  std::vector<std::uint64_t> finished;
  const Statement select = database_.prepare(
      "SELECT number FROM study_point LEFT JOIN point ON point.hash = study_point.hash "
      "WHERE study = ? AND (study_point.hash IS NULL OR status IN ('ok', 'error')) "
      "ORDER BY number");
  sqlite3_bind_int64(select.get(), 1, head.id);
  while (database_.next(select))
    finished.push_back(static_cast<std::uint64_t>(sqlite3_column_int64(select.get(), 0)));
  return finished;
}

std::optional<PointResult> StudyStore::find(const std::string& hash) const {
  const Statement select = database_.prepare(
      "SELECT hash, status, message, context, record FROM point "
      "WHERE hash = ? AND status IN ('ok', 'error')");
  bind_text(select, 1, hash);
  if (!database_.next(select)) return std::nullopt;
  return result_of(select, 0, database_.path());
}

const Statement& StudyStore::kept(Statement& statement, const std::string& sql) {
  if (statement == nullptr) {
    statement = database_.prepare(sql.c_str());
  } else {
    sqlite3_reset(statement.get());  // of a step that failed
  }
  return statement;
}

void StudyStore::add(const StudyHead& head, const std::vector<StudyPointRow>& rows,
                     const std::vector<PointResult>& results) {
  database_.transaction([&] {
    const Statement& point = kept(add_point_, insert_point());
    for (const PointResult& result : results) {
      sqlite3_clear_bindings(point.get());
      const std::string record = result.record ? to_json(*result.record) : "";
      bind_text(point, 1, result.hash);
      bind_text(point, 2, result.context);
      bind_text(point, 3, result.status);
      bind_text(point, 4, result.message);
      if (result.record) {
        bind_text(point, 5, record);
        bind_summary(point, 6, result.record->summary);
      }
      database_.run(point);
    }
    const Statement& row = kept(
        add_row_,
        "INSERT OR REPLACE INTO study_point (study, number, hash, skipped_by, inside, \"values\") "
        "VALUES (?,?,?,?,?,?)");
    for (const StudyPointRow& entry : rows) {
      sqlite3_clear_bindings(row.get());
      sqlite3_bind_int64(row.get(), 1, head.id);
      sqlite3_bind_int64(row.get(), 2, static_cast<std::int64_t>(entry.number));
      if (!entry.hash.empty()) bind_text(row, 3, entry.hash);
      bind_text(row, 4, entry.skipped_by);
      sqlite3_bind_int(row.get(), 5, entry.inside ? 1 : 0);
      bind_text(row, 6, entry.values);
      database_.run(row);
    }
  });
}

void StudyStore::read(const StudyHead& head,
                      const std::function<void(const StudyRow&)>& sink) const {
  const Statement select = database_.prepare(
      "SELECT number, study_point.hash, skipped_by, inside, \"values\", point.hash, status, "
      "message, context, record FROM study_point LEFT JOIN point ON point.hash = study_point.hash "
      "WHERE study = ? ORDER BY number");
  sqlite3_bind_int64(select.get(), 1, head.id);
  while (database_.next(select)) {
    StudyRow row;
    row.point.number = static_cast<std::uint64_t>(sqlite3_column_int64(select.get(), 0));
    row.point.hash = text_column(select, 1);
    row.point.skipped_by = text_column(select, 2);
    row.point.inside = sqlite3_column_int(select.get(), 3) != 0;
    row.point.values = text_column(select, 4);
    row.result = result_of(select, 5, database_.path());
    if (row.point.hash.empty()) row.result.status = "skipped";
    sink(row);
  }
}

}  // namespace foretell
