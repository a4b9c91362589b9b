// The SQLite file that stores of records and of studies share: opening, schema, transactions.
//
// The schema has a number; a file with a lower one is brought up when it is opened to write, one
// with a higher one is refused. Write-ahead log: readers are welcome while somebody writes.
#pragma once

#include <memory>
#include <string>

struct sqlite3;
struct sqlite3_stmt;

namespace foretell {

enum class StoreAccess { kRead, kWrite };

class Database {
 public:
  // kWrite creates the file when there is none and tries a write, so that a path that cannot be
  // written is found now. ":memory:" is a store that nobody keeps. UserError: no such file, not a
  // database, another program's database, written by a newer version.
  Database(const std::string& path, StoreAccess access);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  using Statement = std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)>;
  Statement prepare(const char* sql) const;  // UserError when it is not possible

  void execute(const char* sql) const;
  int schema() const { return schema_; }  // of the file as it is now

  // Everything that `work` writes, or nothing of it.
  template <class Work>
  void transaction(const Work& work) {
    execute("BEGIN IMMEDIATE");
    try {
      work();
      execute("COMMIT");
    } catch (...) {
      roll_back();
      throw;
    }
  }

  // Steps a statement that returns no rows and makes it ready for the next use.
  void run(const Statement& statement) const;
  // The next row of a query; false at its end.
  bool next(const Statement& statement) const;
  void limit_pages(int pages) const;  // what the file may grow to, as a disk does that is full
  [[noreturn]] void fail(const std::string& doing) const;  // UserError with SQLite's reason

  const std::string& path() const { return path_; }

 private:
  int number(const char* sql) const;
  void check_schema(StoreAccess access);
  void add_metrics();  // columns for those that the file does not have yet
  void roll_back() const;

  std::string path_;
  sqlite3* database_ = nullptr;
  int schema_ = 0;
};

// Parameters and columns of statements. A text is bound where it lies: it has to outlive the step.
void bind_text(const Database::Statement& statement, int index, const std::string& text);
std::string text_column(const Database::Statement& statement, int column);

}  // namespace foretell
