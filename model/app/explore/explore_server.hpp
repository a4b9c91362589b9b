// The local web server of `foretell explore`: one page and the commands that it asks for, each in a
// process of its own. Loopback alone; every address begins with a random token; a page of another
// origin gets nothing.
//
//   GET  /<token>/         the page
//   POST /<token>/run      a body of question_words(): the record of the command, or {"error": …}
//   POST /<token>/serve
//   POST /<token>/explain
//   POST /<token>/report   a body of records_to_report(): an HTML report
//
// A question whose connection is closed is ended. Status 400 is the asker's mistake, 403 a wrong
// token, host or origin, 413 a body of more than 32 MiB, 503 more questions than are kept waiting.
#pragma once

#include <memory>
#include <string>

namespace foretell {

struct ExploreSettings {
  std::string program;       // that answers, with a path
  std::string page;          // HTML
  int port = 0;              // 0: any that is free
  int at_once = 2;           // questions that are worked on
  int waiting = 16;          // … and that wait
  double idle_seconds = 30;  // after which a connection that says nothing is closed
};

class ExploreServer {
 public:
  // Listens. UserError when the port is taken or not permitted.
  explicit ExploreServer(ExploreSettings settings);
  ~ExploreServer();
  ExploreServer(const ExploreServer&) = delete;
  ExploreServer& operator=(const ExploreServer&) = delete;

  std::string url() const;  // "http://127.0.0.1:41233/<token>/"
  int port() const;

  // Serves until stop(), SIGINT or SIGTERM; ends whatever it started.
  void run();
  void stop();  // from any thread

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace foretell
