#include "tests/engine/contract/profiled_database.h"

#include <string>
#include <utility>

#include "engine/bson/builder.h"

namespace gridmount::profiling {
namespace {

using engine::Snapshot;
using engine::Transaction;
using Clock = std::chrono::steady_clock;

class Stopwatch {
 public:
  void start() { begin_ = Clock::now(); }
  void stop() { spent_ += Clock::now() - begin_; }
  std::chrono::microseconds spent() const {
    return std::chrono::duration_cast<std::chrono::microseconds>(spent_);
  }

 private:
  Clock::time_point begin_;
  Clock::duration spent_{0};
};

// What is known of an operation before it ends, and what its reads tell.
struct Begun {
  std::string op;
  engine::Namespace ns;
  bson::Document command;
  std::shared_ptr<engine::ReadObserver> observer = std::make_shared<engine::ReadObserver>();
};

void end(Profiler& profiler, const Begun& begun, std::chrono::microseconds duration,
         bson::View counts, const Error* error) {
  if (!profiler.wants(begun.ns, duration)) return;
  bson::Builder all;
  const engine::ReadObserver& observer = *begun.observer;
  if (!observer.plan_summary.empty()) {
    all.append("keysExamined", observer.keys_examined);
    all.append("docsExamined", observer.documents_examined);
  }
  for (const bson::Element& count : counts) all.append(count.key, count.value);
  if (!observer.plan_summary.empty()) all.append("planSummary", observer.plan_summary);
  Operation operation{begun.op, begun.ns, begun.command, std::move(all).finish(), duration};
  if (error != nullptr) {
    operation.error = error->message();
    operation.error_code = static_cast<int32_t>(error->code());
  }
  profiler.record(std::move(operation));
}

bson::Document counted(std::string_view name, int64_t number) {
  bson::Builder counts;
  counts.append(name, number);
  return std::move(counts).finish();
}

class ProfiledCursor : public engine::Cursor {
 public:
  ProfiledCursor(std::unique_ptr<engine::Cursor> cursor, Profiler& profiler, Begun begun,
                 Stopwatch watch)
      : cursor_(std::move(cursor)), profiler_(profiler), begun_(std::move(begun)), watch_(watch) {}
  ~ProfiledCursor() override {
    const bson::Document counts = counted("nreturned", returned_);
    end(profiler_, begun_, watch_.spent(), counts, nullptr);
  }

  Result<std::optional<bson::View>> next() override {
    watch_.start();
    Result<std::optional<bson::View>> document = cursor_->next();
    watch_.stop();
    if (document && *document) ++returned_;
    return document;
  }

 private:
  const std::unique_ptr<engine::Cursor> cursor_;
  Profiler& profiler_;
  const Begun begun_;
  Stopwatch watch_;
  int64_t returned_ = 0;
};

class ProfiledCollection : public engine::Collection {
 public:
  ProfiledCollection(std::unique_ptr<engine::Collection> collection, Profiler& profiler)
      : collection_(std::move(collection)), profiler_(profiler) {}

  const engine::Namespace& ns() const override { return collection_->ns(); }

  Result<std::unique_ptr<engine::Cursor>> find(Snapshot& snapshot, bson::View filter,
                                               const engine::FindOptions& options) override {
    if (!profiler_.active()) return collection_->find(snapshot, filter, options);
    return measured_cursor(snapshot, "query", find_command(filter, options),
                           [&] { return collection_->find(snapshot, filter, options); });
  }

  Result<std::optional<bson::View>> find_one(Snapshot& snapshot, bson::View filter,
                                             const engine::FindOptions& options) override {
    const auto call = [&] { return collection_->find_one(snapshot, filter, options); };
    if (!profiler_.active()) return call();
    engine::FindOptions one = options;
    one.limit = 1;
    return measured(snapshot, "query", find_command(filter, one), call,
                    [](const auto& found) { return counted("nreturned", found ? 1 : 0); });
  }

  Result<int64_t> count(Snapshot& snapshot, bson::View filter,
                        const engine::CountOptions& options) override {
    const auto call = [&] { return collection_->count(snapshot, filter, options); };
    if (!profiler_.active()) return call();
    bson::Builder command = begin_command("count");
    command.append("query", filter);
    return measured(snapshot, "command", std::move(command).finish(), call,
                    [](int64_t) { return bson::Document(); });
  }

  Result<std::vector<bson::Value>> distinct(Snapshot& snapshot, std::string_view path,
                                            bson::View filter,
                                            const engine::DistinctOptions& options) override {
    const auto call = [&] { return collection_->distinct(snapshot, path, filter, options); };
    if (!profiler_.active()) return call();
    bson::Builder command = begin_command("distinct");
    command.append("key", path).append("query", filter);
    return measured(snapshot, "command", std::move(command).finish(), call,
                    [](const auto&) { return bson::Document(); });
  }

  Result<std::unique_ptr<engine::Cursor>> aggregate(
      Snapshot& snapshot, bson::View stages, const engine::AggregateOptions& options) override {
    const auto call = [&] { return collection_->aggregate(snapshot, stages, options); };
    if (!profiler_.active()) return call();
    bson::Builder command = begin_command("aggregate");
    command.append_array("pipeline", stages);
    return measured_cursor(snapshot, "command", std::move(command).finish(), call);
  }

  Result<bson::Document> explain(Snapshot& snapshot, bson::View filter,
                                 const engine::FindOptions& options,
                                 engine::Verbosity verbosity) override {
    return collection_->explain(snapshot, filter, options, verbosity);
  }
  Result<bson::Document> explain_count(Snapshot& snapshot, bson::View filter,
                                       const engine::CountOptions& options,
                                       engine::Verbosity verbosity) override {
    return collection_->explain_count(snapshot, filter, options, verbosity);
  }
  Result<bson::Document> explain_aggregate(Snapshot& snapshot, bson::View stages,
                                           const engine::AggregateOptions& options,
                                           engine::Verbosity verbosity) override {
    return collection_->explain_aggregate(snapshot, stages, options, verbosity);
  }
  void prefetch(Snapshot& snapshot, bson::View filter) override {
    collection_->prefetch(snapshot, filter);
  }

  Result<engine::InsertResult> insert(Transaction& transaction, bson::View document,
                                      const engine::InsertOptions& options) override {
    const auto call = [&] { return collection_->insert(transaction, document, options); };
    if (!profiler_.active()) return call();
    return measured(transaction, "insert", std::move(begin_command("insert")).finish(), call,
                    [](const auto&) { return counted("ninserted", 1); });
  }

  Result<engine::UpdateResult> update(Transaction& transaction, bson::View filter,
                                      bson::View update,
                                      const engine::UpdateOptions& options) override {
    const auto call = [&] { return collection_->update(transaction, filter, update, options); };
    if (!profiler_.active()) return call();
    bson::Builder command;
    command.append("q", filter);
    append_update(command, "u", update, options.is_pipeline);
    command.append("multi", options.multi).append("upsert", options.upsert);
    return measured(transaction, "update", std::move(command).finish(), call,
                    [](const engine::UpdateResult& result) {
                      bson::Builder counts;
                      counts.append("nMatched", result.matched);
                      counts.append("nModified", result.modified);
                      if (result.upserted_id) counts.append("nUpserted", int64_t{1});
                      return std::move(counts).finish();
                    });
  }

  Result<int64_t> remove(Transaction& transaction, bson::View filter, bool multi,
                         const engine::RemoveOptions& options) override {
    const auto call = [&] { return collection_->remove(transaction, filter, multi, options); };
    if (!profiler_.active()) return call();
    bson::Builder command;
    command.append("q", filter).append("limit", int32_t{multi ? 0 : 1});
    return measured(transaction, "remove", std::move(command).finish(), call,
                    [](int64_t removed) { return counted("ndeleted", removed); });
  }

  Result<engine::FindAndModifyResult> find_and_modify(
      Transaction& transaction, bson::View filter, bson::View update,
      const engine::FindAndModifyOptions& options) override {
    const auto call = [&] {
      return collection_->find_and_modify(transaction, filter, update, options);
    };
    if (!profiler_.active()) return call();
    bson::Builder command = begin_command("findAndModify");
    command.append("query", filter);
    if (options.remove) {
      command.append("remove", true);
    } else {
      append_update(command, "update", update, options.is_pipeline);
    }
    return measured(transaction, "command", std::move(command).finish(), call,
                    [](const engine::FindAndModifyResult& result) {
                      return counted("nreturned", result.document ? 1 : 0);
                    });
  }

  Status create_index(Transaction& transaction,
                      const engine::IndexDefinition& definition) override {
    return collection_->create_index(transaction, definition);
  }
  Status drop_index(Transaction& transaction, std::string_view name) override {
    return collection_->drop_index(transaction, name);
  }
  Result<std::vector<engine::IndexDefinition>> indexes(Snapshot& snapshot) override {
    return collection_->indexes(snapshot);
  }
  Result<engine::CollectionStats> stats(Snapshot& snapshot) override {
    return collection_->stats(snapshot);
  }
  Result<std::vector<engine::IndexStats>> index_stats(Snapshot& snapshot) override {
    return collection_->index_stats(snapshot);
  }

 private:
  bson::Builder begin_command(std::string_view name) const {
    bson::Builder command;
    command.append(name, ns().collection);
    return command;
  }

  bson::Document find_command(bson::View filter, const engine::FindOptions& options) const {
    bson::Builder command = begin_command("find");
    command.append("filter", filter);
    if (!options.sort.empty()) command.append("sort", options.sort);
    if (!options.projection.empty()) command.append("projection", options.projection);
    if (options.skip != 0) command.append("skip", options.skip);
    if (options.limit != 0) command.append("limit", options.limit);
    if (options.hint) command.append("hint", *options.hint);
    return std::move(command).finish();
  }

  static void append_update(bson::Builder& command, std::string_view name, bson::View update,
                            bool is_pipeline) {
    if (is_pipeline) {
      command.append_array(name, update);
    } else {
      command.append(name, update);
    }
  }

  // `call` gives a Result, `counts_of` what is told of its value.
  template <typename Call, typename Counts>
  auto measured(Snapshot& snapshot, std::string_view op, bson::Document command, const Call& call,
                const Counts& counts_of) -> decltype(call()) {
    const Begun begun{std::string(op), ns(), std::move(command)};
    snapshot.observe(begun.observer);
    Stopwatch watch;
    watch.start();
    auto result = call();
    watch.stop();
    snapshot.observe(nullptr);
    if (result) {
      const bson::Document counts = counts_of(*result);
      end(profiler_, begun, watch.spent(), counts, nullptr);
    } else {
      end(profiler_, begun, watch.spent(), bson::View(), &result.error());
    }
    return result;
  }

  template <typename Call>
  Result<std::unique_ptr<engine::Cursor>> measured_cursor(Snapshot& snapshot, std::string_view op,
                                                          bson::Document command,
                                                          const Call& call) {
    Begun begun{std::string(op), ns(), std::move(command)};
    // What a pipeline reads later, as $lookup does, tells it as well, unless another read has
    // begun.
    snapshot.observe(begun.observer);
    Stopwatch watch;
    watch.start();
    Result<std::unique_ptr<engine::Cursor>> cursor = call();
    watch.stop();
    if (!cursor) {
      end(profiler_, begun, watch.spent(), bson::View(), &cursor.error());
      return cursor;
    }
    return std::unique_ptr<engine::Cursor>(
        std::make_unique<ProfiledCursor>(*std::move(cursor), profiler_, std::move(begun), watch));
  }

  const std::unique_ptr<engine::Collection> collection_;
  Profiler& profiler_;
};

class ProfiledDatabase : public engine::Database {
 public:
  ProfiledDatabase(std::shared_ptr<engine::Database> database, Profiler& profiler)
      : database_(std::move(database)), profiler_(profiler) {}

  const std::string& name() const override { return database_->name(); }
  std::unique_ptr<engine::Collection> collection(std::string_view name) override {
    return std::make_unique<ProfiledCollection>(database_->collection(name), profiler_);
  }
  Result<std::vector<engine::CollectionInfo>> collections(Snapshot& snapshot) override {
    return database_->collections(snapshot);
  }
  Result<std::optional<engine::CollectionInfo>> collection_info(
      Snapshot& snapshot, std::string_view collection) override {
    return database_->collection_info(snapshot, collection);
  }
  Result<bool> exists(Snapshot& snapshot, std::string_view collection) override {
    return database_->exists(snapshot, collection);
  }
  Status create(Transaction& transaction, std::string_view collection,
                bson::View options) override {
    return database_->create(transaction, collection, options);
  }
  Result<bson::Document> modify(Transaction& transaction, std::string_view collection,
                                bson::View changes) override {
    return database_->modify(transaction, collection, changes);
  }
  Status convert_to_capped(Transaction& transaction, std::string_view collection,
                           int64_t bytes) override {
    return database_->convert_to_capped(transaction, collection, bytes);
  }
  Result<bson::Document> validate(Snapshot& snapshot, std::string_view collection) override {
    return database_->validate(snapshot, collection);
  }
  Status drop(Transaction& transaction, std::string_view collection) override {
    return database_->drop(transaction, collection);
  }
  Status rename(Transaction& transaction, std::string_view from, const engine::Namespace& to,
                bool drop_target) override {
    return database_->rename(transaction, from, to, drop_target);
  }
  Status drop_database(Transaction& transaction) override {
    return database_->drop_database(transaction);
  }

 private:
  const std::shared_ptr<engine::Database> database_;
  Profiler& profiler_;
};

}  // namespace

std::shared_ptr<engine::Database> profiled(std::shared_ptr<engine::Database> database,
                                           Profiler& profiler) {
  return std::make_shared<ProfiledDatabase>(std::move(database), profiler);
}

}  // namespace gridmount::profiling
