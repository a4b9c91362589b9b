// The server with a script in place of the program: who may ask, what is refused, and that nothing
// is left running.
#include "model/app/explore/explore_server.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using asio::ip::tcp;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kBody = R"({"options": [["on", "inf2.xlarge"]]})";
constexpr const char* kSlow = R"({"options": [["on", "slow"]]})";

class ExploreServerTest : public testing::Test {
 protected:
  // Answers its words; "slow" writes its process number and stays; "wrong" is a mistake.
  ExploreServerTest() {
    script_ = folder_.write("program.sh", R"(#!/bin/sh
case "$*" in
  *slow*) echo $$ > ")" + folder_.file("process") +
                                              R"("; sleep 60 ;;
  *wrong*) echo "foretell: unknown system 'wrong'" >&2; exit 2 ;;
  *broken*) kill -9 $$ ;;
  report*) cp "$2" "$4" ;;
  *) echo "{\"words\": \"$*\"}" ;;
esac
)");
    fs::permissions(script_, fs::perms::owner_all);
  }
  ~ExploreServerTest() override {
    if (server_) server_->stop();
    if (thread_.joinable()) thread_.join();
  }

  void serve(ExploreSettings settings = {}) {
    settings.program = script_;
    settings.page = "<p>page</p>";
    server_ = std::make_unique<ExploreServer>(settings);
    const std::string url = server_->url();
    base_ = url.substr(url.find('/', std::string("http://").size()));
    thread_ = std::thread([this] { server_->run(); });
  }

  std::string host() const { return "127.0.0.1:" + std::to_string(server_->port()); }

  std::string text_of(const std::string& method, const std::string& target, const std::string& body,
                      const std::string& headers = "") const {
    std::ostringstream text;
    text << method << ' ' << target << " HTTP/1.1\r\n"
         << (headers.find("Host:") == std::string::npos ? "Host: " + host() + "\r\n" : "")
         << headers << "Content-Length: " << body.size() << "\r\n\r\n"
         << body;
    return text.str();
  }

  tcp::socket connected() {
    tcp::socket socket(io_);
    socket.connect({asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(server_->port())});
    return socket;
  }

  std::string send(const std::string& text) {
    tcp::socket socket = connected();
    boost::system::error_code error;
    asio::write(socket, asio::buffer(text), error);
    std::string answer;
    asio::read(socket, asio::dynamic_buffer(answer), error);
    return answer;
  }
  std::string post(const std::string& name, const std::string& body,
                   const std::string& headers = "") {
    return send(text_of("POST", base_ + name, body, headers));
  }

  // The process of a slow question, once it runs.
  pid_t slow_process() const {
    for (int i = 0; i < 500; ++i) {
      pid_t process = 0;
      if (std::ifstream(folder_.file("process")) >> process) return process;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return 0;
  }
  static bool ends(pid_t process) {
    for (int i = 0; i < 500; ++i) {
      if (kill(process, 0) != 0) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  TemporaryFolder folder_;
  std::string script_;
  std::unique_ptr<ExploreServer> server_;
  std::string base_;  // "/<token>/"
  std::thread thread_;
  asio::io_context io_;
};

TEST_F(ExploreServerTest, ServesThePageAndAnswersQuestions) {
  serve();
  EXPECT_THAT(send(text_of("GET", base_, "")),
              AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("page")));
  EXPECT_THAT(post("run", kBody),
              AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("run --format=json -q --on=inf2.xlarge"),
                    HasSubstr("no-store")));
  EXPECT_THAT(
      post("report", R"({"records": ["{\"schema\": 1}"]})"),
      AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("text/html"), HasSubstr("{\"schema\":1}")));
}

TEST_F(ExploreServerTest, MistakesAreSaidAndCrashesSurvived) {
  serve();
  EXPECT_THAT(
      post("run", R"({"options": [["on", "wrong"]]})"),
      AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("{\"error\":\"unknown system 'wrong'\"}")));
  EXPECT_THAT(post("run", R"({"options": [["on", "broken"]]})"), StartsWith("HTTP/1.1 500"));
  EXPECT_THAT(post("walk", kBody), AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("walk")));
  EXPECT_THAT(post("run", "{"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(send(text_of("GET", base_ + "run", "")), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(post("run", kBody), StartsWith("HTTP/1.1 200"));  // still there
}

TEST_F(ExploreServerTest, OnlyItsOwnPageMayAsk) {
  serve();
  EXPECT_THAT(send(text_of("POST", "/run", kBody)), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(send(text_of("POST", "/0123456789abcdef/run", kBody)), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(send(text_of("GET", "/", "")), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(post("run", kBody, "Origin: http://evil.example\r\n"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(post("run", kBody, "Host: evil.example\r\n"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(post("run", kBody, "Origin: http://" + host() + "\r\n"), StartsWith("HTTP/1.1 200"));
}

TEST_F(ExploreServerTest, AnAbandonedQuestionEnds) {
  serve();
  pid_t process = 0;
  {
    tcp::socket socket = connected();
    asio::write(socket, asio::buffer(text_of("POST", base_ + "run", kSlow)));
    process = slow_process();
    ASSERT_GT(process, 0);
  }
  EXPECT_TRUE(ends(process));
  EXPECT_THAT(post("run", kBody), StartsWith("HTTP/1.1 200"));
}

TEST_F(ExploreServerTest, TheEndEndsWhatRuns) {
  serve();
  tcp::socket socket = connected();
  asio::write(socket, asio::buffer(text_of("POST", base_ + "run", kSlow)));
  const pid_t process = slow_process();
  ASSERT_GT(process, 0);
  server_->stop();
  thread_.join();
  EXPECT_TRUE(ends(process));
}

TEST_F(ExploreServerTest, MoreThanItKeepsWaitingIsRefused) {
  ExploreSettings settings;
  settings.at_once = 1;
  settings.waiting = 1;
  serve(settings);
  tcp::socket first = connected();
  asio::write(first, asio::buffer(text_of("POST", base_ + "run", kSlow)));
  ASSERT_GT(slow_process(), 0);
  tcp::socket second = connected();
  asio::write(second, asio::buffer(text_of("POST", base_ + "run", kBody)));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_THAT(post("run", kBody), AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("too many")));
  first.close();  // then it is the second one's turn
  std::string answer;
  boost::system::error_code error;
  asio::read(second, asio::dynamic_buffer(answer), error);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
}

TEST_F(ExploreServerTest, AFloodLongBodiesAndSilenceDoNoHarm) {
  ExploreSettings settings;
  settings.idle_seconds = 0.3;
  serve(settings);
  std::vector<tcp::socket> silent;
  for (int i = 0; i < 20; ++i) silent.push_back(connected());
  for (int i = 0; i < 10'000; ++i) {
    tcp::socket socket = connected();
    boost::system::error_code error;
    asio::write(socket, asio::buffer(text_of("POST", "/wrong/run", kBody)), error);
  }
  const std::string claimed = "POST " + base_ + "run HTTP/1.1\r\nHost: " + host() +
                              "\r\nContent-Length: 99999999999\r\n\r\n";
  EXPECT_THAT(send(claimed), StartsWith("HTTP/1.1 413"));
  EXPECT_EQ(send("no HTTP at all\r\n\r\n"), "");
  std::string answer;
  boost::system::error_code error;
  asio::read(silent.front(), asio::dynamic_buffer(answer), error);  // closed after a while
  EXPECT_EQ(answer, "");
  EXPECT_THAT(post("run", kBody), StartsWith("HTTP/1.1 200"));
}

TEST_F(ExploreServerTest, ATakenPortSaysWhatToType) {
  serve();
  ExploreSettings settings;
  settings.port = server_->port();
  EXPECT_THAT(message_of<UserError>([&] { const ExploreServer second(settings); }),
              AllOf(HasSubstr("port " + std::to_string(server_->port())), HasSubstr("--port")));
}

}  // namespace
}  // namespace foretell
