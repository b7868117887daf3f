#include "engine/mongo/mongo_snapshot.h"

#include "engine/bson/builder.h"

namespace gridmount::mongo {
Status sync_journal(Connection& connection) {
  bson::Builder command;
  command.append("fsync", int32_t{1});
  const Result<bson::Document> reply = connection.run_apart("admin", std::move(command).finish());
  // A server without the command (FerretDB) offers no durability beyond its acknowledgement of a
  // write.
  constexpr auto kCommandNotFound = ErrorCode(59);
  if (!reply && reply.error().code() != kCommandNotFound) return fail(reply.error());
  return {};
}

Status Reads::check_usable() const {
  if (!connection_) return fail(ErrorCode::kIllegalOperation, "the snapshot has ended");
  if (paused_) return fail(ErrorCode::kIllegalOperation, "the snapshot is paused");
  return {};
}

Result<bson::Document> Reads::run(const engine::Namespace& ns, bson::View command) {
  GM_TRY(check_usable());
  if (in_transaction_) used_.insert(ns);
  return connection_->run(ns.database, command);
}

Result<bson::Document> Reads::run_apart(std::string_view database, bson::View command) {
  GM_TRY(check_usable());
  return connection_->run_apart(database, command);
}

Status Reads::check_unused(const engine::Namespace& changed) const {
  const auto used = used_.lower_bound(changed);
  if (used != used_.end() && used->database == changed.database &&
      (changed.collection.empty() || used->collection == changed.collection)) {
    return fail(kOperationNotSupportedInTransaction,
                used->full() + " cannot be changed: the transaction has used it");
  }
  return {};
}

Result<bson::Document> Reads::change_catalog(const engine::Namespace& changed,
                                             std::string_view database, bson::View command) {
  GM_TRY(check_unused(changed));
  return run_apart(database, command);
}

Status Reads::pause() {
  GM_TRY(check_usable());
  paused_ = true;
  kept_.clear();
  return {};
}

Status Reads::resume() {
  if (!paused_) return fail(ErrorCode::kIllegalOperation, "the snapshot is not paused");
  paused_ = false;
  return {};
}

void Reads::kill_cursor(int64_t cursor, const engine::Namespace& ns) {
  bson::Builder command;
  command.append("killCursors", ns.collection);
  command.open_array("cursors").push(bson::Value(cursor).view()).close();
  (void)connection_->run(ns.database, std::move(command).finish());
}

void Reads::close_cursor(int64_t cursor) {
  const auto opened = cursors_.find(cursor);
  if (opened == cursors_.end()) return;
  if (connection_) kill_cursor(cursor, opened->second);
  cursors_.erase(opened);
}

Status Reads::commit(bool durable) {
  GM_TRY(check_usable());
  Status committed = connection_->commit_transaction();
  // A transaction of the deployment is durable when it is committed.
  if (committed && durable && !in_transaction_) committed = sync_journal(*connection_);
  end();
  return committed;
}

void Reads::end() {
  if (!connection_) return;
  // The server closes the cursors of a transaction when the transaction ends.
  if (!in_transaction_) {
    for (const auto& [cursor, ns] : cursors_) kill_cursor(cursor, ns);
  }
  cursors_.clear();
  connection_.reset();
}

}  // namespace gridmount::mongo
