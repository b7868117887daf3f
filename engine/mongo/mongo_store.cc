#include "engine/mongo/mongo_store.h"

#include <utility>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/mongo/connection.h"
#include "engine/mongo/mongo_change_stream.h"
#include "engine/mongo/mongo_database.h"
#include "engine/mongo/mongo_snapshot.h"

namespace gridmount::mongo {
namespace {

constexpr ErrorCode kLockTimeout{24};

bson::Document list_databases() {
  bson::Builder command;
  command.append("listDatabases", int32_t{1});
  return std::move(command).finish();
}

// Returns the names in the reply to listDatabases.
std::vector<std::string> names_in(bson::View reply) {
  std::vector<std::string> names;
  const std::optional<bson::ValueView> list = reply.find("databases");
  if (!list || list->type() != bson::Type::kArray) return names;
  for (const bson::Element element : list->as_document()) {
    if (element.value.type() != bson::Type::kDocument) continue;
    // Servers also list internal databases that are empty.
    const std::optional<bson::ValueView> empty = element.value.as_document().find("empty");
    if (empty && empty->type() == bson::Type::kBool && empty->as_bool()) continue;
    const std::optional<bson::ValueView> name = element.value.as_document().find("name");
    if (name && name->type() == bson::Type::kString) names.emplace_back(name->as_string());
  }
  return names;
}

int64_t size_in(bson::View reply, std::string_view name) {
  const std::optional<bson::ValueView> value = reply.find(name);
  return value ? static_cast<int64_t>(value->number().value_or(0)) : int64_t{0};
}

class MongoStore final : public engine::Store {
 public:
  MongoStore(std::unique_ptr<Pool> pool, std::shared_ptr<OwnSessions> sessions,
             Deployment deployment, const ConnectOptions& options)
      : pool_(std::move(pool)),
        sessions_(std::move(sessions)),
        deployment_(deployment),
        options_(options) {}

  engine::Capabilities capabilities() const override {
    return {.exclusive = false,
            .stable_snapshots = false,
            .transactions = deployment_.has_transactions,
            .continues_after_failed_writes = !deployment_.has_transactions,
            .one_writer = false,
            .transactional_catalog = false,
            .live_cursors = false,
            .observers = false,
            .memory_limits = false,
            .change_streams = deployment_.has_transactions,
            .retry_for = options_.server_timeout};
  }

  std::shared_ptr<engine::Database> database(std::string_view name) override {
    return std::make_shared<MongoDatabase>(name);
  }

  Result<std::vector<std::string>> databases(engine::Snapshot& snapshot) override {
    GM_ASSIGN(const std::shared_ptr<Reads> reads, reads_of(snapshot));
    GM_ASSIGN(const bson::Document reply, reads->run_apart("admin", list_databases()));
    return names_in(reply);
  }

  Result<std::unique_ptr<engine::Snapshot>> snapshot() override {
    const auto purpose =
        options_.reads_by_preference ? Pool::Purpose::kReads : Pool::Purpose::kWrites;
    GM_ASSIGN(std::unique_ptr<Connection> connection, pool_->connection(purpose));
    return std::unique_ptr<engine::Snapshot>(
        std::make_unique<MongoSnapshot>(std::move(connection)));
  }

  Result<std::unique_ptr<engine::Transaction>> begin(engine::TransactionKind kind) override {
    std::optional<QueuePlace> place;
    if (options_.queues_transactions) {
      place = QueuePlace::wait_for(queue_, options_.server_timeout,
                                   kind == engine::TransactionKind::kShort
                                       ? TransactionQueue::Turn::kShared
                                       : TransactionQueue::Turn::kAlone);
      if (!place) {
        return fail(kLockTimeout, "the transactions before this one have not ended in time");
      }
    }
    GM_ASSIGN(std::unique_ptr<Connection> connection, pool_->connection());
    if (deployment_.has_transactions) GM_TRY(connection->begin_transaction());
    return std::unique_ptr<engine::Transaction>(std::make_unique<MongoTransaction>(
        std::move(connection), deployment_.has_transactions, std::move(place)));
  }

  Result<std::unique_ptr<engine::ChangeStream>> watch(
      std::string_view database, const engine::ChangeStreamOptions& how) override {
    if (!capabilities().change_streams) {
      return fail(ErrorCode::kCommandNotSupported, "a standalone server has no change streams");
    }
    return MongoChangeStream::open(options_, sessions_, database, how);
  }

  // A transaction of a deployment is durable when it is committed.
  Status make_durable() override {
    if (deployment_.has_transactions) return {};
    GM_ASSIGN(const std::unique_ptr<Connection> connection, pool_->connection());
    return sync_journal(*connection);
  }

  Result<int64_t> compact(const engine::Namespace& ns,
                          const std::optional<engine::Deadline>& deadline) override {
    GM_TRY(check_deadline(deadline));
    GM_ASSIGN(const std::unique_ptr<Connection> connection, pool_->connection());
    bson::Builder command;
    command.append("compact", ns.collection);
    append_deadline(command, deadline);
    GM_ASSIGN(const bson::Document reply,
              connection->run_apart(ns.database, std::move(command).finish()));
    // Servers before 4.4 do not report bytesFreed.
    const std::optional<bson::ValueView> freed = reply.find("bytesFreed");
    return freed ? static_cast<int64_t>(freed->number().value_or(0)) : int64_t{0};
  }

  Result<engine::StoreStats> stats() override {
    GM_ASSIGN(const std::unique_ptr<Connection> connection, pool_->connection());
    GM_ASSIGN(const bson::Document databases, connection->run_apart("admin", list_databases()));
    // A user may ask for the size of the file system in any database that the user sees.
    const std::vector<std::string> names = names_in(databases);
    bson::Builder command;
    command.append("dbStats", int32_t{1});
    GM_ASSIGN(const bson::Document reply,
              connection->run_apart(names.empty() ? "admin" : std::string_view(names.front()),
                                    std::move(command).finish()));
    // Servers do not say how much of their files is in use.
    engine::StoreStats stats;
    stats.file_bytes = size_in(databases, "totalSize");
    stats.used_bytes = stats.file_bytes;
    stats.file_system_bytes = size_in(reply, "fsTotalSize");
    stats.file_system_used_bytes = size_in(reply, "fsUsedSize");
    stats.capacity_bytes = stats.file_system_bytes;
    stats.available_bytes = stats.file_system_bytes - stats.file_system_used_bytes;
    return stats;
  }

  bool read_only() const override { return false; }

 private:
  const std::unique_ptr<Pool> pool_;
  const std::shared_ptr<OwnSessions> sessions_;
  const Deployment deployment_;
  const ConnectOptions options_;
  TransactionQueue queue_;
};

}  // namespace

Result<std::shared_ptr<Reads>> reads_of(engine::Snapshot& snapshot) {
  const auto* const holder = dynamic_cast<const ReadsHolder*>(&snapshot);
  if (holder == nullptr) {
    return fail(ErrorCode::kIllegalOperation, "the snapshot belongs to another store");
  }
  return holder->reads();
}

Result<std::unique_ptr<engine::Store>> connect(const ConnectOptions& options) {
  auto sessions = std::make_shared<OwnSessions>();
  GM_ASSIGN(std::unique_ptr<Pool> pool, Pool::open(options, sessions));
  const Result<Deployment> deployment = pool->deployment();
  if (!deployment && deployment.error().code() == ErrorCode::kHostUnreachable) {
    return fail(ErrorCode::kHostUnreachable,
                deployment.error().message() +
                    "; check the addresses, and that the servers run and can be reached from here");
  }
  if (!deployment) return fail(deployment.error());
  return std::unique_ptr<engine::Store>(
      std::make_unique<MongoStore>(std::move(pool), std::move(sessions), *deployment, options));
}

}  // namespace gridmount::mongo
