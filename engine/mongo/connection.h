// A pool of libmongoc's connections to a deployment, and commands on them.
//
// Only connection.cc calls libmongoc.
//
// Thread-safety: Pool is thread-safe. A Connection belongs to one thread at a time. The functions
// are thread-safe.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/deadline.h"
#include "engine/base/error.h"
#include "engine/bson/builder.h"
#include "engine/bson/document.h"
#include "engine/mongo/mongo_store.h"
#include "engine/mongo/own_sessions.h"

namespace gridmount::mongo {

inline constexpr ErrorCode kOperationNotSupportedInTransaction{263};

// The longest time for which commit_transaction() repeats a commit. Source: MongoDB drivers'
// specification "Convenient API for Transactions".
inline constexpr std::chrono::seconds kCommitRetryMax{120};

// The properties of a deployment that decide how a store works over it.
struct Deployment {
  // True for replica sets and sharded clusters.
  bool has_transactions = false;
};

// A connection that has been taken from the pool. Its destructor aborts an open transaction and
// returns the connection to the pool. If a command got no reply, the destructor instead closes this
// connection and all idle connections of the pool. A Connection must be destroyed before its Pool.
class Connection {
 public:
  virtual ~Connection() = default;

  // Runs a command, in the transaction after begin_transaction(), and returns the reply. Fails with
  // IllegalOperation after the end of the transaction, until begin_transaction() is called again.
  // Fails with the server's error if the server refuses the whole command ({ok: 0}), with
  // AuthenticationFailed if the server refuses the log-in, with HostUnreachable if no reply comes,
  // with InvalidBSON if libbson rejects the command, and as validate() does if the reply is
  // malformed. Errors of single writes are in the reply: see check_writes().
  virtual Result<bson::Document> run(std::string_view database, bson::View command) = 0;
  // Like run(), but outside of the transaction.
  virtual Result<bson::Document> run_apart(std::string_view database, bson::View command) = 0;

  // Begins a session. The first run() after this call begins the transaction on the server. Must
  // not be called while a transaction is open. May be called again after commit_transaction() or
  // abort_transaction(). Fails with HostUnreachable if libmongoc cannot begin a session, for
  // example because it finds no server.
  virtual Status begin_transaction() = 0;
  // Commits with write concern majority and journaling. If the transaction has certainly failed, or
  // after MaxTimeMSExpired, fails without a repetition. While the result is unknown, repeats the
  // commit for kCommitRetryMax or ConnectOptions::server_timeout, whichever is shorter. Then fails
  // with the error of the last attempt, which has the label kUnknownTransactionCommitResult. Does
  // nothing if the transaction has run no command.
  virtual Status commit_transaction() = 0;
  // Does nothing if the transaction has run no command, or has been committed. Ignores errors: a
  // server aborts an abandoned transaction itself.
  virtual void abort_transaction() = 0;
};

class Pool {
 public:
  // Makes the pool. Does not connect to the deployment, but may ask the name service (mongodb+srv).
  // Each transaction adds its session to `sessions`, which may be null. Fails with FailedToParse
  // for a malformed URI, or if options of the URI contradict each other.
  static Result<std::unique_ptr<Pool>> open(const ConnectOptions& options,
                                            std::shared_ptr<OwnSessions> sessions = nullptr);
  virtual ~Pool() = default;

  enum class Purpose { kReads, kWrites };
  // Takes a connection from the pool. While all connections are in use, waits without a time limit.
  // So a thread that has a connection and takes another one can wait forever if other threads do
  // the same. The connection is to the primary, or for kReads to a member that the URI's
  // readPreference allows. Fails with HostUnreachable if no such server is found within the URI's
  // serverSelectionTimeoutMS, or within ConnectOptions::server_timeout if the URI does not set it.
  // The first command (run()) logs in.
  virtual Result<std::unique_ptr<Connection>> connection(Purpose purpose = Purpose::kWrites) = 0;
  // Asks a server for the properties of the deployment. Takes a connection for this. Fails as
  // connection() and Connection::run() do.
  virtual Result<Deployment> deployment() = 0;
};

// Fails with the first error in the reply of a write command: the error of one of its writes,
// otherwise the error of the write concern. An error without a code becomes WriteConcernFailed
// (64). Succeeds if the reply has no error.
Status check_writes(bson::View reply);

// Appends maxTimeMS with the time until the deadline. The value is at least 1, because a server
// reads 0 as "no limit". Appends nothing if there is no deadline, or if it is
// Deadline::Time::max().
void append_deadline(bson::Builder& command, const std::optional<engine::Deadline>& deadline);

// Fails with MaxTimeMSExpired if the deadline has passed. Callers must check the deadline before
// they send a command, because append_deadline() always allows at least 1 ms, and a server could
// still answer within this time.
Status check_deadline(const std::optional<engine::Deadline>& deadline);

}  // namespace gridmount::mongo
