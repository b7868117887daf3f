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

// The properties of a deployment that matter here.
struct Deployment {
  bool has_transactions = false;
};

// One connection, taken from the pool while this exists. Must be destroyed before its Pool.
class Connection {
 public:
  virtual ~Connection() = default;

  // Runs a command and returns its reply. Fails if the command fails as a whole ({ok: 0}). If a
  // transaction has begun, the command runs in it.
  virtual Result<bson::Document> run(std::string_view database, bson::View command) = 0;
  // Like run(), but outside of the transaction.
  virtual Result<bson::Document> run_apart(std::string_view database, bson::View command) = 0;

  virtual Status begin_transaction() = 0;
  // Commits with write concern majority and journaling. Repeats the commit while its result is
  // unknown, until kCommitRetryMax or ConnectOptions::server_timeout has passed, whichever is
  // shorter. Then fails with the error of the last attempt.
  virtual Status commit_transaction() = 0;
  virtual void abort_transaction() = 0;
};

class Pool {
 public:
  // Transactions record their sessions in `sessions`, which may be null.
  static Result<std::unique_ptr<Pool>> open(const ConnectOptions& options,
                                            std::shared_ptr<OwnSessions> sessions = nullptr);
  virtual ~Pool() = default;

  enum class Purpose { kReads, kWrites };
  // Takes a connection from the pool. Waits, without a limit of time, while all connections are in
  // use. Fails if no suitable server is found. The connection is to the primary or, for kReads, to
  // a member that the URI's readPreference allows.
  virtual Result<std::unique_ptr<Connection>> connection(Purpose purpose = Purpose::kWrites) = 0;
  virtual Result<Deployment> deployment() = 0;
};

// Returns the first error in a write command's reply: that of a statement or of the write concern.
Status check_writes(bson::View reply);

// Appends the time left as maxTimeMS, but at least 1, because a server reads 0 as "no limit".
// Appends nothing without a deadline.
void append_deadline(bson::Builder& command, const std::optional<engine::Deadline>& deadline);

// Fails with MaxTimeMSExpired if the deadline has passed. Callers check this before they send a
// command, because a server could still answer within the 1 ms that append_deadline() gives it.
Status check_deadline(const std::optional<engine::Deadline>& deadline);

}  // namespace gridmount::mongo
