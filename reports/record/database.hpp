// The SQLite file that stores of records and of studies share: opening, schema, transactions.
//
// The schema has a number; a file with a lower one is brought up when it is opened to write, one
// with a higher one is refused. Write-ahead log: others read while one writes.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <string>

namespace foretell {

enum class StoreAccess { kRead, kWrite };

class Database {
 public:
  // kWrite creates the file when there is none and tries a write, so that a path that cannot be
  // written is found now. ":memory:" is a store that is not kept. UserError: no such file, not a
  // database, another program's database, written by a newer version.
  Database(const std::string& path, StoreAccess access);

  SQLite::Statement prepare(const std::string& sql) const;  // UserError when it is not possible

  void execute(const std::string& sql) const;
  int schema() const { return schema_; }  // of the file as it is now

  // Everything that `work` writes, or nothing of it.
  template <class Work>
  void transaction(const Work& work) {
    attempt(kWriting, [&] {
      SQLite::Transaction all(database_, SQLite::TransactionBehavior::IMMEDIATE);
      work();
      all.commit();
    });
  }

  // Steps a statement that returns no rows and makes it ready for the next use.
  void run(SQLite::Statement& statement) const;
  // The next row of a query; false at its end.
  bool next(SQLite::Statement& statement) const;
  void limit_pages(int pages) const;  // what the file may grow to, as a disk does that is full

  const std::string& path() const { return path_; }

 private:
  static constexpr const char* kReading = "cannot be read";
  static constexpr const char* kWriting = "cannot be written";

  static SQLite::Database open(const std::string& path, StoreAccess access);
  int number(const std::string& sql) const;
  void check_schema(StoreAccess access);
  void write_ahead() const;
  void add_metrics();  // columns for those that the file does not have yet

  // UserError with the reason of SQLite for what fails.
  template <class Work>
  auto attempt(const char* doing, const Work& work) const {
    try {
      return work();
    } catch (const SQLite::Exception& error) {
      fail(path_, doing, error);
    }
  }
  [[noreturn]] static void fail(const std::string& path, const char* doing,
                                const SQLite::Exception& error);

  std::string path_;
  mutable SQLite::Database database_;
  int schema_ = 0;
};

}  // namespace foretell
