#include "model/app/explore/explore_server.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "model/app/explore/child_command.hpp"
#include "model/app/explore/question.hpp"
#include "model/base/errors.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;
using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

constexpr std::size_t kMaxBody = 32U << 20U;
constexpr std::size_t kMaxHeader = 16U << 10U;
constexpr int kMaxConnections = 128;
constexpr int kTokenBytes = 16;

std::string random_token() {
  std::random_device random;  // the system's
  std::string token;
  for (int i = 0; i < kTokenBytes; ++i) token += fmt::format("{:02x}", random() & 0xffU);
  return token;
}

// What a message of the program says, without its name.
std::string plain_message(std::string messages) {
  const std::string name = "foretell: ";
  if (messages.rfind(name, 0) == 0) messages.erase(0, name.size());
  while (!messages.empty() && messages.back() == '\n') messages.pop_back();
  return messages.empty() ? "the prediction ended without a word; is there enough memory?"
                          : messages;
}

// A folder for one report, removed with it.
class ReportFolder {
 public:
  ReportFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "foretell-explore-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw UserError("no temporary folder for the report");
    path_ = pattern;
  }
  ~ReportFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ReportFolder(const ReportFolder&) = delete;
  ReportFolder& operator=(const ReportFolder&) = delete;

  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

class ExploreServer::Impl {
 public:
  class Connection;

  explicit Impl(ExploreSettings settings)
      : settings_(std::move(settings)),
        token_(random_token()),
        acceptor_(io_),
        signals_(io_, SIGINT, SIGTERM) {
    const tcp::endpoint place(asio::ip::address_v4::loopback(),
                              static_cast<std::uint16_t>(settings_.port));
    boost::system::error_code error;
    acceptor_.open(place.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(place, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      throw UserError(fmt::format(
          "port {}: {}; another program, perhaps another `foretell explore`, has it: name another "
          "one, or leave out --port for one that is free",
          settings_.port, error.message()));
    }
  }

  int port() const { return acceptor_.local_endpoint().port(); }
  std::string url() const { return fmt::format("http://127.0.0.1:{}/{}/", port(), token_); }

  void run() {
    signals_.async_wait([this](const boost::system::error_code& error, int) {
      if (!error) io_.stop();
    });
    accept();
    io_.run();
    end();
  }
  void stop() {
    asio::post(io_, [this] { io_.stop(); });
  }

  asio::io_context& io() { return io_; }
  const ExploreSettings& settings() const { return settings_; }
  const std::string& token() const { return token_; }
  void opened() { ++connections_; }
  void closed() { --connections_; }

  // Runs a question now or when another one has ended; false when too many wait.
  bool take(const std::shared_ptr<Connection>& asker);
  void finished(const std::shared_ptr<Connection>& asker);

 private:
  void accept();
  void end();

  ExploreSettings settings_;
  std::string token_;
  int connections_ = 0;  // before the context, whose end closes the last ones
  asio::io_context io_{1};
  tcp::acceptor acceptor_;
  asio::signal_set signals_;
  std::set<std::shared_ptr<Connection>> working_;
  std::deque<std::shared_ptr<Connection>> waiting_;
};

// One request and its answer.
class ExploreServer::Impl::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Impl& server, tcp::socket socket) : server_(server), stream_(std::move(socket)) {
    server_.opened();
  }
  ~Connection() { server_.closed(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start() {
    parser_.body_limit(kMaxBody);
    parser_.header_limit(kMaxHeader);
    expire();
    http::async_read(stream_, buffer_, parser_,
                     [self = shared_from_this()](const beast::error_code& error, std::size_t) {
                       self->asked(error);
                     });
  }

  void refuse_all() {
    answer(http::status::service_unavailable, error_json("too many questions at once; ask again"));
  }

  // Begins the work; the server calls it when it is this question's turn.
  void work() {
    child_ = std::make_shared<ChildCommand>(server_.io());
    child_->start(server_.settings().program, words_,
                  [self = shared_from_this()](const ChildResult& result) { self->done(result); });
  }

  void stop() {
    if (child_) child_->stop();
    child_ = nullptr;
    boost::system::error_code ignored;
    stream_.socket().close(ignored);
  }

 private:
  void expire() {
    stream_.expires_after(
        std::chrono::milliseconds(static_cast<int>(server_.settings().idle_seconds * 1e3)));
  }

  void asked(const beast::error_code& error) {
    if (error == http::error::body_limit) {
      return answer(http::status::payload_too_large, error_json("the question is too long"));
    }
    if (error) return;  // closed, silent for too long, or no HTTP
    request_ = parser_.release();
    try {
      route();
    } catch (const UserError& mistake) {
      answer(http::status::bad_request, error_json(mistake.what()));
    }
  }

  bool may_ask() const {
    const std::string host(request_[http::field::host]);
    const int port = server_.port();
    if (host != fmt::format("127.0.0.1:{}", port) && host != fmt::format("localhost:{}", port)) {
      return false;
    }
    const auto origin = request_.find(http::field::origin);
    return origin == request_.end() || origin->value() == "http://" + host;
  }

  void route() {
    const std::string target(request_.target());
    const std::string mine = "/" + server_.token() + "/";
    if (!may_ask() || target.rfind(mine, 0) != 0) {
      return answer(http::status::forbidden,
                    error_json("open the address that `foretell explore` printed"));
    }
    const std::string name = target.substr(mine.size());
    if (name.empty() && request_.method() == http::verb::get) {
      return answer(http::status::ok, server_.settings().page, "text/html; charset=utf-8");
    }
    if (request_.method() != http::verb::post) {
      return answer(http::status::not_found, error_json("there is no such page"));
    }
    if (name == "report") {
      folder_.emplace();
      std::ofstream(folder_->file("records.jsonl")) << records_to_report(request_.body());
      words_ = {"report", folder_->file("records.jsonl"), "-o", folder_->file("report.html"), "-q"};
    } else {
      words_ = question_words(name, request_.body());
    }
    if (!server_.take(shared_from_this())) return refuse_all();
    watch();
  }

  // The browser has gone: the work for its answer ends.
  void watch() {
    stream_.expires_never();
    stream_.socket().async_wait(
        tcp::socket::wait_read,
        [self = shared_from_this()](const beast::error_code& error) { self->readable(error); });
  }

  void readable(const beast::error_code& error) {
    if (error || answered_) return;
    char byte = 0;
    const ssize_t count = recv(stream_.socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (count > 0) return;  // more was sent than one question: not listened to
    stop();
    server_.finished(shared_from_this());
  }

  void done(const ChildResult& result) {
    child_ = nullptr;
    if (result.code != 0 && result.code != 1) {
      const bool mistake = result.code == 2;
      answer(mistake ? http::status::bad_request : http::status::internal_server_error,
             error_json(plain_message(result.messages)));
    } else if (folder_) {
      answer(http::status::ok, read_text_file(folder_->file("report.html")),
             "text/html; charset=utf-8");
    } else {
      answer(http::status::ok, result.output);
    }
    server_.finished(shared_from_this());
  }

  void answer(http::status status, std::string body,
              const char* type = "application/json; charset=utf-8") {
    answered_ = true;
    response_.result(status);
    response_.version(11);
    response_.keep_alive(false);
    response_.set(http::field::content_type, type);
    response_.set(http::field::cache_control, "no-store");
    response_.set("X-Content-Type-Options", "nosniff");
    response_.set("X-Frame-Options", "DENY");
    response_.set("Referrer-Policy", "no-referrer");
    response_.body() = std::move(body);
    response_.prepare_payload();
    expire();
    http::async_write(stream_, response_,
                      [self = shared_from_this()](const beast::error_code&, std::size_t) {
                        boost::system::error_code ignored;
                        self->stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
                        self->stream_.socket().close(ignored);
                      });
  }

  Impl& server_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  http::request_parser<http::string_body> parser_;
  Request request_;
  Response response_;
  bool answered_ = false;
  std::vector<std::string> words_;
  std::optional<ReportFolder> folder_;
  std::shared_ptr<ChildCommand> child_;
};

void ExploreServer::Impl::accept() {
  acceptor_.async_accept([this](const boost::system::error_code& error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (!error) {
      const bool full = connections_ >= kMaxConnections;
      const auto connection = std::make_shared<Connection>(*this, std::move(socket));
      full ? connection->refuse_all() : connection->start();
    }
    accept();
  });
}

bool ExploreServer::Impl::take(const std::shared_ptr<Connection>& asker) {
  if (static_cast<int>(working_.size()) < settings_.at_once) {
    working_.insert(asker);
    asker->work();
    return true;
  }
  if (static_cast<int>(waiting_.size()) >= settings_.waiting) return false;
  waiting_.push_back(asker);
  return true;
}

void ExploreServer::Impl::finished(const std::shared_ptr<Connection>& asker) {
  if (working_.erase(asker) == 0) {
    waiting_.erase(std::remove(waiting_.begin(), waiting_.end(), asker), waiting_.end());
    return;
  }
  if (waiting_.empty()) return;
  const std::shared_ptr<Connection> next = waiting_.front();
  waiting_.pop_front();
  working_.insert(next);
  next->work();
}

void ExploreServer::Impl::end() {
  for (const auto& connection : working_) connection->stop();
  working_.clear();
  waiting_.clear();
}

ExploreServer::ExploreServer(ExploreSettings settings)
    : impl_(std::make_unique<Impl>(std::move(settings))) {}
ExploreServer::~ExploreServer() = default;

std::string ExploreServer::url() const { return impl_->url(); }
int ExploreServer::port() const { return impl_->port(); }
void ExploreServer::run() { impl_->run(); }
void ExploreServer::stop() { impl_->stop(); }

}  // namespace foretell
