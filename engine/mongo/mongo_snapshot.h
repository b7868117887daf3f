// Snapshot and Transaction over a deployment. Each has a connection, and keeps the documents that
// its reads have returned.
//
// Thread-safety: one thread at a time may use a Snapshot or Transaction, its Reads and its cursors.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "engine/base/error.h"
#include "engine/mongo/connection.h"
#include "engine/mongo/transaction_queue.h"
#include "engine/store.h"

namespace gridmount::mongo {

// The state that a MongoSnapshot or a MongoTransaction shares with its cursors.
class Reads {
 public:
  explicit Reads(std::unique_ptr<Connection> connection, bool in_transaction = false)
      : connection_(std::move(connection)), in_transaction_(in_transaction) {}

  // run() runs a command in the transaction, if there is one, and run_apart() outside of it. Both
  // fail as check_usable() does, and with the error of the command.
  Result<bson::Document> run(const engine::Namespace& ns, bson::View command);
  Result<bson::Document> run_apart(std::string_view database, bson::View command);
  // Runs a command that changes the catalog, outside of the transaction. Fails as check_unused()
  // and run_apart() do.
  Result<bson::Document> change_catalog(const engine::Namespace& changed, std::string_view database,
                                        bson::View command);
  // Fails with OperationNotSupportedInTransaction if the transaction has used the collection
  // `changed`, because a command that changes it would wait for the transaction's end. If the
  // collection's name is empty, fails if the transaction has used any collection of the database.
  Status check_unused(const engine::Namespace& changed) const;
  // Keeps a document until the next call of this function. The view is valid until then.
  bson::View keep_current(bson::Document document) {
    current_ = std::move(document);
    return current_;
  }
  // Keeps a document until pause(), or until this object is destroyed. The view is valid until
  // then.
  bson::View keep(bson::Document document) {
    kept_.push_back(std::move(document));
    return kept_.back();
  }

  // Fails with IllegalOperation while this object is paused, and after end().
  Status check_usable() const;
  // pause() releases the documents of keep(). It fails as check_usable() does. resume() fails with
  // IllegalOperation if this object is not paused.
  Status pause();
  Status resume();
  // Commits the transaction. If the deployment has no transactions and `durable` is true, syncs the
  // server's journal. Then calls end(), also if the commit or the sync fails. Fails as
  // check_usable(), Connection::commit_transaction() and sync_journal() do.
  Status commit(bool durable);
  // Closes the cursors on the server, and returns the connection to the pool, which aborts a
  // transaction that is still open. Later reads fail.
  void end();

  // opened() must be called for each cursor that the server has opened, and closed() when the
  // cursor is closed. end() closes the cursors that are still open.
  void opened(int64_t cursor, const engine::Namespace& ns) { cursors_[cursor] = ns; }
  void closed(int64_t cursor) { cursors_.erase(cursor); }
  // Closes the server's cursor, also while this object is paused. Does nothing if the cursor is
  // closed already. Ignores errors: the server closes cursors that nobody uses.
  void close_cursor(int64_t cursor);

 private:
  void kill_cursor(int64_t cursor, const engine::Namespace& ns);

  std::unique_ptr<Connection> connection_;
  const bool in_transaction_;
  bool paused_ = false;
  std::deque<bson::Document> kept_;
  bson::Document current_;
  std::map<int64_t, engine::Namespace> cursors_;
  std::set<engine::Namespace> used_;  // the collections that the transaction has used
};

// Ends the Reads in its destructor. A cursor that outlives the snapshot still has the Reads, but
// its reads fail.
class ReadsHolder {
 public:
  virtual ~ReadsHolder() { reads_->end(); }
  ReadsHolder(const ReadsHolder&) = delete;
  ReadsHolder& operator=(const ReadsHolder&) = delete;
  const std::shared_ptr<Reads>& reads() const { return reads_; }

 protected:
  explicit ReadsHolder(std::shared_ptr<Reads> reads) : reads_(std::move(reads)) {}

 private:
  std::shared_ptr<Reads> reads_;
};

class MongoSnapshot final : public engine::Snapshot, public ReadsHolder {
 public:
  explicit MongoSnapshot(std::unique_ptr<Connection> connection)
      : ReadsHolder(std::make_shared<Reads>(std::move(connection))) {}

  // Only releases the documents, because no thread waits for a snapshot (mongo_store.h, M1).
  Status pause() override { return reads()->pause(); }
  Status resume() override { return reads()->resume(); }
  void observe(std::shared_ptr<engine::ReadObserver> /*observer*/) override {}
};

class MongoTransaction final : public engine::Transaction, public ReadsHolder {
 public:
  // `place` is this transaction's entry in the queue. It is empty if the transaction does not
  // queue.
  MongoTransaction(std::unique_ptr<Connection> connection, bool has_transactions,
                   std::optional<QueuePlace> place)
      : ReadsHolder(std::make_shared<Reads>(std::move(connection), has_transactions)),
        place_(std::move(place)) {}
  // Ends this transaction first. Then place_ is destroyed, and the next transaction can begin.
  ~MongoTransaction() override { reads()->end(); }

  Status commit(engine::Durability durability) override {
    Status committed = reads()->commit(durability == engine::Durability::kDurable);
    place_.reset();
    return committed;
  }
  Status pause() override {
    return fail(ErrorCode::kIllegalOperation, "a transaction cannot be paused");
  }
  Status resume() override { return pause(); }
  void observe(std::shared_ptr<engine::ReadObserver> /*observer*/) override {}
  void observe_writes(std::shared_ptr<engine::WriteObserver> /*observer*/) override {}

 private:
  std::optional<QueuePlace> place_;
};

// Makes all acknowledged writes durable: the server syncs its whole journal. Succeeds without
// effect if the server does not have the command fsync. Fails as Connection::run_apart() does.
Status sync_journal(Connection& connection);

// Returns the Reads of a MongoSnapshot or MongoTransaction. Fails with IllegalOperation if the
// snapshot comes from another implementation.
Result<std::shared_ptr<Reads>> reads_of(engine::Snapshot& snapshot);

}  // namespace gridmount::mongo
