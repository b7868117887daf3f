#include "engine/mongo/connection.h"

#include <mongoc/mongoc.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/limits.h"
#include "engine/base/thread_safety.h"
#include "engine/error_labels.h"

namespace gridmount::mongo {
namespace {

constexpr ErrorCode kWriteConcernFailed{64};
constexpr std::chrono::milliseconds kCommitRetryInterval{50};
// The time limit for a new connection is this part of the time that a call waits for a server, so
// that a call can try several times. kConnectTimeoutMax is libmongoc's default.
constexpr int kConnectTimeoutPart = 10;
constexpr std::chrono::milliseconds kConnectTimeoutMin{1'000};
constexpr std::chrono::milliseconds kConnectTimeoutMax{10'000};

// libmongoc starts before main() in every program that links it, and keeps its counters in a file
// in /dev/shm. A killed process leaves the file behind, and a later process with the same pid
// prints on stderr that it has no counters. This variable of the environment turns the file off.
[[gnu::constructor(101)]] void keep_counters_to_itself() {
  ::setenv("MONGOC_DISABLE_SHM", "1", 0);
}

// Initializes libmongoc for the rest of the process: it cannot be initialized twice.
void begin_libmongoc() {
  static const bool begun = [] {
    mongoc_init();
    return true;
  }();
  (void)begun;
}

struct UriDeleter {
  void operator()(mongoc_uri_t* uri) const { mongoc_uri_destroy(uri); }
};
using UriPointer = std::unique_ptr<mongoc_uri_t, UriDeleter>;
struct ClientDeleter {
  void operator()(mongoc_client_t* client) const { mongoc_client_destroy(client); }
};
using OwnedClient = std::unique_ptr<mongoc_client_t, ClientDeleter>;
struct SessionDeleter {
  void operator()(mongoc_client_session_t* session) const {
    mongoc_client_session_destroy(session);
  }
};
struct TransactionOptionsDeleter {
  void operator()(mongoc_transaction_opt_t* options) const {
    mongoc_transaction_opts_destroy(options);
  }
};
struct WriteConcernDeleter {
  void operator()(mongoc_write_concern_t* concern) const { mongoc_write_concern_destroy(concern); }
};
struct ReadPreferenceDeleter {
  void operator()(mongoc_read_prefs_t* preference) const { mongoc_read_prefs_destroy(preference); }
};

// A bson_t that libmongoc or libbson fills.
class OwnedBson {
 public:
  OwnedBson() { bson_init(&bson_); }
  ~OwnedBson() { bson_destroy(&bson_); }
  OwnedBson(const OwnedBson&) = delete;
  OwnedBson& operator=(const OwnedBson&) = delete;

  bson_t* get() { return &bson_; }
  // Returns the bson_t for a call that initializes it.
  bson_t* for_reply() {
    bson_destroy(&bson_);
    return &bson_;
  }
  std::vector<uint8_t> bytes() const {
    const uint8_t* const data = bson_get_data(&bson_);
    return {data, data + bson_.len};
  }

 private:
  bson_t bson_;
};

Result<UriPointer> parse_uri(const std::string& uri) {
  // Turns libmongoc's log off. libmongoc also returns the messages of the log as errors.
  mongoc_log_set_handler(nullptr, nullptr);
  bson_error_t error;
  UriPointer parsed(mongoc_uri_new_with_error(uri.c_str(), &error));
  if (!parsed) {
    return fail(ErrorCode::kFailedToParse, std::string("not a MongoDB URI: ") + error.message);
  }
  return parsed;
}

// Returns the fields of a server's error that callers use.
std::vector<uint8_t> details_of(bson::View reply) {
  bson::Builder details;
  bool any = false;
  for (const std::string_view name : {"keyPattern", "keyValue", "errInfo", "errorLabels"}) {
    if (const std::optional<bson::ValueView> value = reply.find(name)) {
      details.append(name, *value);
      any = true;
    }
  }
  if (!any) return {};
  return std::move(details).finish().release();
}

std::vector<uint8_t> unknown_commit_result() {
  bson::Builder details;
  details.open_array("errorLabels")
      .push(bson::Value(engine::kUnknownTransactionCommitResult).view())
      .close();
  return std::move(details).finish().release();
}

Error error_of(const bson_error_t& error, bson::View reply) {
  const bool from_server = error.domain == MONGOC_ERROR_SERVER ||
                           error.domain == MONGOC_ERROR_WRITE_CONCERN ||
                           reply.find("code").has_value();
  if (from_server) {
    return Error(ErrorCode{static_cast<int32_t>(error.code)}, error.message)
        .with_details(details_of(reply));
  }
  if (error.domain == MONGOC_ERROR_CLIENT && error.code == MONGOC_ERROR_CLIENT_AUTHENTICATE) {
    return {ErrorCode::kAuthenticationFailed, error.message};
  }
  // libmongoc labels a lost connection as servers label their errors.
  return Error(ErrorCode::kHostUnreachable, error.message).with_details(details_of(reply));
}

// A pool of libmongoc's clients. libmongoc's own pool has a thread that watches the deployment. The
// end of such a pool waits for its thread, which wakes up twice a second, so each run of a program
// would take half a second. Clients without a pool have no such thread: they examine the deployment
// when they select a server. Thread-safe.
class Clients {
 public:
  // `sessions` may be null.
  Clients(UriPointer uri, const ConnectOptions& options, std::shared_ptr<OwnSessions> sessions)
      : uri_(std::move(uri)),
        options_(options),
        sessions_(std::move(sessions)),
        left_(options.connections_max) {}

  // Waits while all clients are in use.
  Result<OwnedClient> take() GM_EXCLUDES(mutex_) {
    {
      const MutexLock lock(mutex_);
      while (idle_.empty() && left_ == 0) changed_.wait(mutex_);
      if (!idle_.empty()) {
        OwnedClient client = std::move(idle_.back());
        idle_.pop_back();
        return client;
      }
      --left_;
    }
    Result<OwnedClient> client = make();
    if (!client) {
      const MutexLock lock(mutex_);
      ++left_;
      changed_.notify_one();
    }
    return client;
  }

  // How long a call waits for a server.
  std::chrono::milliseconds timeout() const { return options_.server_timeout; }

  // Records that a transaction begins in the session.
  void record(const mongoc_client_session_t& session) const {
    if (!sessions_) return;
    bson_iter_t id;
    if (!bson_iter_init_find(&id, mongoc_client_session_get_lsid(&session), "id")) return;
    if (!BSON_ITER_HOLDS_BINARY(&id)) return;
    bson_subtype_t subtype = BSON_SUBTYPE_BINARY;
    uint32_t size = 0;
    const uint8_t* bytes = nullptr;
    bson_iter_binary(&id, &subtype, &size, &bytes);
    sessions_->add({reinterpret_cast<const char*>(bytes), size});
  }

  void release(OwnedClient client) GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    idle_.push_back(std::move(client));
    changed_.notify_one();
  }

  // Discards a client that got no answer. Discards the idle clients too, because each of them has
  // its own state of the deployment, and would wait for the same server. New clients find out which
  // servers answer now.
  void discard(OwnedClient client) GM_EXCLUDES(mutex_) {
    std::vector<OwnedClient> discarded;
    {
      const MutexLock lock(mutex_);
      discarded.swap(idle_);
      left_ += static_cast<uint32_t>(discarded.size()) + 1;
      changed_.notify_all();
    }
    discarded.push_back(std::move(client));
    // Without the reset, a client that ends would report the end of its sessions to the server and
    // wait for the answer. The server ends the sessions itself.
    for (const OwnedClient& one : discarded) mongoc_client_reset(one.get());
  }

 private:
  // Does not connect yet, but may ask the name service (mongodb+srv).
  Result<OwnedClient> make() const {
    bson_error_t error;
    OwnedClient client(mongoc_client_new_from_uri_with_error(uri_.get(), &error));
    if (!client && error.domain == MONGOC_ERROR_STREAM) {  // the name service
      return fail(ErrorCode::kHostUnreachable, error.message);
    }
    if (!client) {
      return fail(ErrorCode::kFailedToParse, std::string("MongoDB URI: ") + error.message);
    }
    mongoc_client_set_error_api(client.get(), MONGOC_ERROR_API_VERSION_2);
    if (!options_.application.empty()) {
      mongoc_client_set_appname(client.get(), options_.application.c_str());
    }
    return client;
  }

  const UriPointer uri_;
  const ConnectOptions options_;
  const std::shared_ptr<OwnSessions> sessions_;
  Mutex mutex_;
  Condition changed_;
  std::vector<OwnedClient> idle_ GM_GUARDED_BY(mutex_);
  uint32_t left_ GM_GUARDED_BY(mutex_);
};

class PooledConnection final : public Connection {
 public:
  PooledConnection(Clients& clients, OwnedClient client)
      : clients_(clients), owned_(std::move(client)), client_(owned_.get()) {}
  ~PooledConnection() override {
    abort_transaction();
    session_.reset();
    is_lost_ ? clients_.discard(std::move(owned_)) : clients_.release(std::move(owned_));
  }
  PooledConnection(const PooledConnection&) = delete;
  PooledConnection& operator=(const PooledConnection&) = delete;

  // Selects the server for all commands outside of a transaction. They must go to one server,
  // because a cursor exists on one server only.
  Status select_server(Pool::Purpose purpose) {
    const bool writes = purpose == Pool::Purpose::kWrites;
    if (!writes) read_preference_ = mongoc_client_get_read_prefs(client_);
    bson_error_t error;
    mongoc_server_description_t* const server =
        mongoc_client_select_server(client_, writes, read_preference_, &error);
    if (server == nullptr) return failed(error, bson::View());
    server_id_ = mongoc_server_description_id(server);
    mongoc_server_description_destroy(server);
    return {};
  }

  Result<bson::Document> run(std::string_view database, bson::View command) override {
    // A command after the commit must not begin a transaction that nobody commits.
    if (state_ == State::kEnded) {
      return fail(ErrorCode::kIllegalOperation, "the transaction of the connection has ended");
    }
    return run_with(database, command, state_ != State::kNone);
  }
  Result<bson::Document> run_apart(std::string_view database, bson::View command) override {
    return run_with(database, command, false);
  }

  Status begin_transaction() override {
    bson_error_t error;
    session_.reset(mongoc_client_start_session(client_, nullptr, &error));
    if (!session_) return fail(error_of(error, bson::View()));
    clients_.record(*session_);
    state_ = State::kDue;
    return {};
  }

  Status commit_transaction() override {
    if (end() != State::kOpen) return {};
    const auto deadline = std::chrono::steady_clock::now() +
                          std::min<std::chrono::milliseconds>(kCommitRetryMax, clients_.timeout());
    while (true) {
      const Status committed = commit_once();
      if (committed || !may_commit_again(committed.error())) return committed;
      if (std::chrono::steady_clock::now() >= deadline) return committed;
      std::this_thread::sleep_for(kCommitRetryInterval);
    }
  }

  void abort_transaction() override {
    if (end() != State::kOpen) return;
    (void)mongoc_client_session_abort_transaction(session_.get(), nullptr);
  }

 private:
  // The state of the transaction.
  enum class State {
    kNone,  // begin_transaction() has not been called
    kDue,   // the next command begins the transaction
    kOpen,
    kEnded,  // committed or aborted
  };

  // Ends the transaction if begin_transaction() was called. Returns the previous state.
  State end() {
    const State before = state_;
    if (before != State::kNone) state_ = State::kEnded;
    return before;
  }

  // libmongoc itself repeats the commit once after a lost connection.
  Status commit_once() {
    bson_error_t error;
    OwnedBson reply;
    if (mongoc_client_session_commit_transaction(session_.get(), reply.for_reply(), &error)) {
      return {};
    }
    const std::vector<uint8_t> bytes = reply.bytes();
    const Result<bson::View> view = bson::validate(bytes, kMessageBytesMax);
    Error failure = failed(error, view ? *view : bson::View()).value();
    if (failure.code() != ErrorCode::kHostUnreachable) return fail(std::move(failure));
    // libmongoc leaves the label out if it repeats the commit after a lost connection and then
    // cannot connect. The first attempt may have committed.
    return fail(std::move(failure).with_details(unknown_commit_result()));
  }
  tl::unexpected<Error> failed(const bson_error_t& error, bson::View reply) {
    Error failure = error_of(error, reply);
    if (failure.code() == ErrorCode::kHostUnreachable) is_lost_ = true;
    return fail(std::move(failure));
  }
  // MaxTimeMSExpired ends the attempts, because the caller has set that limit.
  static bool may_commit_again(const Error& error) {
    return engine::has_error_label(error, engine::kUnknownTransactionCommitResult) &&
           error.code() != ErrorCode::kMaxTimeMsExpired;
  }

  // Only the first command begins the transaction, so a transaction without commands costs nothing.
  Status begin_if_due() {
    if (state_ == State::kOpen) return {};
    const std::unique_ptr<mongoc_transaction_opt_t, TransactionOptionsDeleter> options(
        mongoc_transaction_opts_new());
    const std::unique_ptr<mongoc_write_concern_t, WriteConcernDeleter> concern(
        mongoc_write_concern_new());
    mongoc_write_concern_set_wmajority(concern.get(), -1);
    mongoc_write_concern_set_journal(concern.get(), true);
    mongoc_transaction_opts_set_write_concern(options.get(), concern.get());
    bson_error_t error;
    if (!mongoc_client_session_start_transaction(session_.get(), options.get(), &error)) {
      return fail(error_of(error, bson::View()));
    }
    state_ = State::kOpen;
    return {};
  }

  Result<bson::Document> run_with(std::string_view database, bson::View command, bool in_session) {
    if (in_session) GM_TRY(begin_if_due());
    bson_t body;
    if (!bson_init_static(&body, command.data(), command.size())) {
      return fail(ErrorCode::kInvalidBson, "libbson rejects the command");
    }
    OwnedBson options;
    bson_error_t error;
    if (in_session) {
      if (!mongoc_client_session_append(session_.get(), options.get(), &error)) {
        return fail(error_of(error, bson::View()));
      }
    } else {
      BSON_APPEND_INT32(options.get(), "serverId", static_cast<int32_t>(server_id_));
    }
    OwnedBson reply;
    const bool done =
        mongoc_client_command_with_opts(client_, std::string(database).c_str(), &body,
                                        read_preference_, options.get(), reply.for_reply(), &error);
    std::vector<uint8_t> bytes = reply.bytes();
    const Result<bson::View> view = bson::validate(bytes, kMessageBytesMax);
    if (!done) return failed(error, view ? *view : bson::View());
    if (!view) return fail(view.error());
    return bson::Document(std::move(bytes));
  }

  Clients& clients_;
  OwnedClient owned_;
  mongoc_client_t* const client_;
  uint32_t server_id_ = 0;
  const mongoc_read_prefs_t* read_preference_ = nullptr;  // the client's; null: the primary
  std::unique_ptr<mongoc_client_session_t, SessionDeleter> session_;
  State state_ = State::kNone;
  bool is_lost_ = false;  // a command got no answer
};

class LibmongocPool final : public Pool {
 public:
  LibmongocPool(UriPointer uri, const ConnectOptions& options,
                std::shared_ptr<OwnSessions> sessions)
      : clients_(std::move(uri), options, std::move(sessions)) {}

  // Makes a client, which shows whether the options of the URI fit together.
  Status check() {
    GM_ASSIGN(OwnedClient client, clients_.take());
    clients_.release(std::move(client));
    return {};
  }

  Result<std::unique_ptr<Connection>> connection(Purpose purpose) override {
    GM_ASSIGN(OwnedClient client, clients_.take());
    auto connection = std::make_unique<PooledConnection>(clients_, std::move(client));
    GM_TRY(connection->select_server(purpose));
    return std::unique_ptr<Connection>(std::move(connection));
  }

  Result<Deployment> deployment() override {
    GM_ASSIGN(const std::unique_ptr<Connection> one, connection(Purpose::kWrites));
    bson::Builder hello;
    hello.append("hello", int32_t{1});
    GM_ASSIGN(const bson::Document reply, one->run("admin", std::move(hello).finish()));
    Deployment deployment;
    const std::optional<bson::ValueView> message = reply.find("msg");
    deployment.has_transactions =
        reply.find("setName").has_value() ||
        (message && message->type() == bson::Type::kString && message->as_string() == "isdbgrid");
    return deployment;
  }

 private:
  Clients clients_;
};

}  // namespace

Result<std::string> database_of(const std::string& uri) {
  GM_ASSIGN(const UriPointer parsed, parse_uri(uri));
  const char* const database = mongoc_uri_get_database(parsed.get());
  return std::string(database == nullptr ? "" : database);
}

Result<std::vector<std::string>> options_without_effect(const std::string& uri) {
  GM_ASSIGN(const UriPointer parsed, parse_uri(uri));
  const std::string preference =
      mongoc_uri_get_option_as_utf8(parsed.get(), MONGOC_URI_READPREFERENCE, "primary");
  const char* const level =
      mongoc_read_concern_get_level(mongoc_uri_get_read_concern(parsed.get()));
  const std::string mode = mongoc_uri_get_option_as_utf8(parsed.get(), MONGOC_URI_W, "majority");
  const int32_t members = mongoc_uri_get_option_as_int32(parsed.get(), MONGOC_URI_W, -1);
  std::vector<std::string> options;
  if (preference != "primary") options.push_back("readPreference=" + preference);
  if (level != nullptr) options.push_back(std::string("readConcernLevel=") + level);
  if (members >= 0) options.push_back("w=" + std::to_string(members));
  if (mode != "majority") options.push_back("w=" + mode);
  if (!mongoc_uri_get_option_as_bool(parsed.get(), MONGOC_URI_JOURNAL, true)) {
    options.emplace_back("journal=false");
  }
  return options;
}

Result<std::unique_ptr<Pool>> Pool::open(const ConnectOptions& options,
                                         std::shared_ptr<OwnSessions> sessions) {
  begin_libmongoc();
  GM_ASSIGN(UriPointer uri, parse_uri(options.uri));
  // Makes each call wait for a server as long as serverSelectionTimeoutMS says. By default, a
  // client without a pool fails at the first attempt.
  if (!mongoc_uri_has_option(uri.get(), MONGOC_URI_SERVERSELECTIONTRYONCE)) {
    mongoc_uri_set_option_as_bool(uri.get(), MONGOC_URI_SERVERSELECTIONTRYONCE, false);
  }
  if (!mongoc_uri_has_option(uri.get(), MONGOC_URI_SERVERSELECTIONTIMEOUTMS)) {
    mongoc_uri_set_option_as_int32(uri.get(), MONGOC_URI_SERVERSELECTIONTIMEOUTMS,
                                   static_cast<int32_t>(options.server_timeout.count()));
  }
  if (!mongoc_uri_has_option(uri.get(), MONGOC_URI_CONNECTTIMEOUTMS)) {
    const std::chrono::milliseconds patience = std::clamp(
        options.server_timeout / kConnectTimeoutPart, kConnectTimeoutMin, kConnectTimeoutMax);
    mongoc_uri_set_option_as_int32(uri.get(), MONGOC_URI_CONNECTTIMEOUTMS,
                                   static_cast<int32_t>(patience.count()));
  }
  if (options.answer_timeout.count() > 0 &&
      !mongoc_uri_has_option(uri.get(), MONGOC_URI_SOCKETTIMEOUTMS)) {
    mongoc_uri_set_option_as_int32(uri.get(), MONGOC_URI_SOCKETTIMEOUTMS,
                                   static_cast<int32_t>(options.answer_timeout.count()));
  }
  auto pool = std::make_unique<LibmongocPool>(std::move(uri), options, std::move(sessions));
  GM_TRY(pool->check());
  return std::unique_ptr<Pool>(std::move(pool));
}

Status check_writes(bson::View reply) {
  const auto failed = [](bson::View entry) -> tl::unexpected<Error> {
    const std::optional<bson::ValueView> code = entry.find("code");
    const std::optional<bson::ValueView> message = entry.find("errmsg");
    const int64_t number = code ? code->integral().value_or(0) : 0;
    Error error(number != 0 ? ErrorCode{static_cast<int32_t>(number)} : kWriteConcernFailed,
                message && message->type() == bson::Type::kString
                    ? std::string(message->as_string())
                    : std::string("the server refused the write"));
    return fail(std::move(error).with_details(details_of(entry)));
  };
  if (const std::optional<bson::ValueView> errors = reply.find("writeErrors");
      errors && errors->type() == bson::Type::kArray && !errors->as_document().empty()) {
    const bson::Element first = *errors->as_document().begin();
    if (first.value.type() == bson::Type::kDocument) return failed(first.value.as_document());
  }
  if (const std::optional<bson::ValueView> concern = reply.find("writeConcernError");
      concern && concern->type() == bson::Type::kDocument) {
    return failed(concern->as_document());
  }
  return {};
}

Status check_deadline(const std::optional<engine::Deadline>& deadline) {
  if (!deadline || std::chrono::steady_clock::now() < deadline->at()) return {};
  return fail(ErrorCode::kMaxTimeMsExpired, "operation exceeded time limit");
}

void append_deadline(bson::Builder& command, const std::optional<engine::Deadline>& deadline) {
  if (!deadline || deadline->at() == engine::Deadline::Time::max()) return;
  // The time of a killed Interrupt is so early that the difference would overflow.
  const auto now = std::chrono::steady_clock::now();
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::max(deadline->at(), now) - now);
  command.append("maxTimeMS", std::max<int64_t>(1, left.count()));
}

}  // namespace gridmount::mongo
