// libmongoc: connections from a pool, and commands on them.
//
// The only files that include libmongoc are this one's and connection.cc.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/deadline.h"
#include "engine/base/error.h"
#include "engine/bson/builder.h"
#include "engine/bson/document.h"
#include "engine/mongo/mongo_store.h"

namespace gridmount::mongo {

inline constexpr ErrorCode kHostUnreachable{6};

// What a deployment is, as far as it matters here.
struct Deployment {
  bool has_transactions = false;
};

// One connection, out of the pool as long as this lives. Used by one thread at a time.
class Connection {
 public:
  virtual ~Connection() = default;

  // The reply of a command, an error if it has failed as a whole: {ok: 0}. Within a transaction, if
  // one has been begun.
  virtual Result<bson::Document> run(std::string_view database, bson::View command) = 0;
  // The same outside of it.
  virtual Result<bson::Document> run_apart(std::string_view database, bson::View command) = 0;

  virtual Status begin_transaction() = 0;
  virtual Status commit_transaction(bool durable) = 0;
  virtual void abort_transaction() = 0;
};

// Thread-safe.
class Pool {
 public:
  static Result<std::unique_ptr<Pool>> open(const ConnectOptions& options);
  virtual ~Pool() = default;

  // Waits while all connections are out.
  virtual Result<std::unique_ptr<Connection>> connection() = 0;
  virtual Result<Deployment> deployment() = 0;
};

// The first error that a write command's reply tells of its statements or of the write concern.
Status check_writes(bson::View reply);

// What is left of it, as maxTimeMS; at least the least that a server takes. Nothing for none.
void append_deadline(bson::Builder& command, const std::optional<engine::Deadline>& deadline);

}  // namespace gridmount::mongo
