// A pool of libmongoc's connections to a deployment, and commands on them.
//
// connection.cc and this header are the only files that use libmongoc.
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

// Source: MongoDB drivers' specification "Convenient API for Transactions".
inline constexpr std::chrono::seconds kCommitRetryMax{120};

// The properties of a deployment that decide how a store works over it.
struct Deployment {
  // True for replica sets and sharded clusters.
  bool has_transactions = false;
};

// A connection that has been taken from the pool. Its destructor aborts an open transaction and
// gives the connection back. Must be destroyed before its Pool.
class Connection {
 public:
  virtual ~Connection() = default;

  // Runs a command, in the transaction if one has begun, and returns the reply. Fails with the
  // server's error if the server refuses the whole command ({ok: 0}), and with HostUnreachable if
  // no reply comes. Errors of single writes are in the reply: see check_writes().
  virtual Result<bson::Document> run(std::string_view database, bson::View command) = 0;
  // Like run(), but outside of the transaction.
  virtual Result<bson::Document> run_apart(std::string_view database, bson::View command) = 0;

  // Begins a session. The next run() begins the transaction in it on the server.
  virtual Status begin_transaction() = 0;
  // Commits with write concern majority and journaling. While the result is unknown, repeats the
  // commit until kCommitRetryMax or ConnectOptions::server_timeout has passed, whichever is
  // shorter. Then fails with the error of the last attempt, which has the label
  // kUnknownTransactionCommitResult. Does nothing if the transaction has run no command.
  virtual Status commit_transaction() = 0;
  virtual void abort_transaction() = 0;
};

class Pool {
 public:
  // Makes the pool, and does not connect yet, but may ask the name service (mongodb+srv). Each
  // transaction adds its session to `sessions`, which may be null. Fails with FailedToParse for a
  // malformed URI.
  static Result<std::unique_ptr<Pool>> open(const ConnectOptions& options,
                                            std::shared_ptr<OwnSessions> sessions = nullptr);
  virtual ~Pool() = default;

  enum class Purpose { kReads, kWrites };
  // Takes a connection from the pool. While all connections are in use, waits without a time limit.
  // The connection is to the primary, or for kReads to a member that the URI's readPreference
  // allows. Fails with HostUnreachable if it finds no such server within
  // ConnectOptions::server_timeout or the URI's serverSelectionTimeoutMS, and with
  // AuthenticationFailed.
  virtual Result<std::unique_ptr<Connection>> connection(Purpose purpose = Purpose::kWrites) = 0;
  // Asks a server for the properties of the deployment.
  virtual Result<Deployment> deployment() = 0;
};

// Returns the first error in the reply of a write command: the error of one of its writes, or of
// the write concern. An error without a code becomes WriteConcernFailed (64). Succeeds if the reply
// has none.
Status check_writes(bson::View reply);

// Appends maxTimeMS with the time until the deadline. The value is at least 1, because a server
// reads 0 as "no limit". Without a deadline, appends nothing.
void append_deadline(bson::Builder& command, const std::optional<engine::Deadline>& deadline);

// Fails with MaxTimeMSExpired if the deadline has passed. Callers check this before they send a
// command, because a server could still answer within the 1 ms that append_deadline() gives it.
Status check_deadline(const std::optional<engine::Deadline>& deadline);

}  // namespace gridmount::mongo
