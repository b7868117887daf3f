// The interface everything above a document store knows: Store, Database, Collection, and the two
// kinds of views of a store's contents, Snapshot and Transaction.
//
// engine/local implements it on LMDB. One contract test-suite (tests/engine/contract) runs against
// every implementation, so what is said here holds for each.
//
// Rules that hold throughout:
//  S1. A Snapshot never changes and never blocks a writer. snapshot() waits for no transaction but
//  a
//      brief one (Waits::kForNothing).
//  S2. A Transaction sees its own writes. It commits all of them or, if destroyed without commit(),
//      none. At most one exists at a time per store; begin() waits for its turn in order. Do not
//      hold one while waiting for a client, a lock of a layer above, or input. A thread must not
//      begin a second one while it holds one.
//  S3. A failed write inside a transaction leaves the transaction as before that call (the failing
//      document's effects are undone), and the transaction can go on. Exception: OutOfDiskSpace,
//      IoError, WritesRefused and TransactionTooLarge doom it; commit() then fails.
//  S4. Committed means visible to every later snapshot and safe from a kill of the process. Durable
//      means safe from power loss. commit(Durability::kDurable) and make_durable() give the latter.
//  S5. A bson::View handed out by a read stays valid until its Snapshot is destroyed; with a
//      Transaction, until the next write through it, or its end.
//
// Thread-safety: Store, Database and Collection are thread-safe. A Snapshot, a Transaction and the
// cursors on them are used by one thread at a time (a Snapshot may be handed from thread to thread;
// a Transaction must stay on the thread that began it).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/deadline.h"
#include "engine/base/error.h"
#include "engine/base/limits.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"
#include "engine/collection_options.h"
#include "engine/query/plan/plan.h"

namespace gridmount::engine {

using query::IndexDefinition;

// "db.collection". MongoDB's rules for names are checked by check_namespace().
struct Namespace {
  std::string database;
  std::string collection;

  std::string full() const { return database + "." + collection; }
  friend auto operator<=>(const Namespace&, const Namespace&) = default;
};

// InvalidNamespace naming what is wrong: empty parts, NUL, '$' outside system names, database names
// over 63 bytes or with one of /\. "$*<>:|?, full names over 255 bytes.
Status check_namespace(const Namespace& ns);

// What reads look at, for a profiler. Written by the thread that reads.
struct ReadObserver {
  int64_t keys_examined = 0;
  int64_t documents_examined = 0;
  std::string plan_summary = {};  // "IXSCAN { a: 1 }", "COLLSCAN", "IDHACK", "EOF"; several by ", "
};

class Snapshot {
 public:
  virtual ~Snapshot() = default;
  // For cursors that wait for a client. pause() lets go of the contents, so that the space of what
  // is removed meanwhile can be reused; all views end, and nothing is read until resume(). That
  // makes this a snapshot of the newest contents, and its cursors go on behind the documents they
  // gave: as with a server's cursors, documents that changed meanwhile may be met again or not at
  // all. A cursor whose collection or index is gone is QueryPlanKilled (175), a tailable one whose
  // place has been overwritten CappedPositionLost (136). IllegalOperation on a Transaction.
  virtual Status pause() = 0;
  virtual Status resume() = 0;
  // Reads that begin on this from now on tell `observer`, until it is another one or null; cursors
  // go on telling the one they began with. The searches of a transaction's writes are reads as
  // well.
  virtual void observe(std::shared_ptr<ReadObserver> observer) = 0;
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 protected:
  Snapshot() = default;
};

// Told of what a transaction changes, for caches of what documents say.
//
// Used by the thread of the transaction alone.
class WriteObserver {
 public:
  virtual ~WriteObserver() = default;
  // A document is inserted (no `before`), replaced or removed (no `after`). The views end with the
  // call. What the store removes by itself, by an expiring index, is told to nobody.
  virtual void document_changed(const Namespace& ns, const std::optional<bson::View>& before,
                                const std::optional<bson::View>& after) = 0;
  // The collection is dropped, renamed (both names are told) or made anew as a whole.
  virtual void collection_changed(const Namespace& ns) = 0;
  // After the commit, when it is visible to all. Not called for a transaction that has failed.
  virtual void committed() = 0;
};

enum class Durability { kCommitted, kDurable };

// What a thread may wait for while it has a transaction.
enum class Waits {
  kForOthers,  // whatever S2 allows; snapshot() never waits for such a transaction
  // For the store alone, from begin() to the end: no lock that a thread may hold while it begins to
  // read, and no other thread. snapshot() and make_durable() may wait for such a transaction, so
  // that small ones that follow one another cost the store less.
  kForNothing,
};

class Transaction : public Snapshot {
 public:
  // Ends the transaction whatever it returns. On error nothing of it has happened, except that with
  // kDurable a failing sync is reported after the commit (the writes are visible, see
  // WritesRefused).
  virtual Status commit(Durability durability = Durability::kCommitted) = 0;
  // Before the first write.
  virtual void observe_writes(std::shared_ptr<WriteObserver> observer) = 0;
};

struct FindOptions {
  bson::View sort = {};        // empty: the order of the index used, or of insertion
  bson::View projection = {};  // empty: whole documents
  int64_t skip = 0;
  int64_t limit = 0;                     // 0: no limit
  std::optional<bson::Value> hint = {};  // index name or key pattern
  bson::View variables = {};             // what `$$name` is in expressions, by name
  std::optional<Deadline> deadline = {};
  // The caller looks at these dotted paths alone: where an index has them, documents of them are
  // given and the stored ones not read. A projection that only includes says the same.
  std::optional<std::vector<std::string>> only_paths = {};
  // The caller asks which values there are at this dotted path: of documents that have one value
  // there, all but one may be left out.
  std::string_view distinct_path = {};
  // Of the index that `hint` names the keys from `min` on and before `max` alone, which have a
  // value for each of its fields. Codes 51173 without a hint, 51174 for another index's fields,
  // 51175 if `min` does not come before `max`.
  bson::View min = {};
  bson::View max = {};
  // Instead of documents: the fields of the index that is read, nothing where none is. A projection
  // is passed over then. CommandNotSupported for an index with arrays.
  bool return_key = false;
  bool show_record_id = false;  // with `$recordId`, behind what the projection leaves
  // Only in a capped collection, in its order: at the end the cursor waits for documents instead of
  // ending; after Snapshot::resume() it gives those inserted since.
  bool tailable = false;
  // The caller reads only part of each document. Its structure is then verified and not its
  // checksum, which for a document of a chunk's size costs more than the read: damage to the values
  // of its fields goes unnoticed.
  bool partial = false;
  // Bound of the buffer of a sort without an index; beyond it QueryExceededMemoryLimit (292).
  uint64_t sort_bytes_max = kOperationBytesMax;
};

// What explain tells: the plan, or also what running it took.
enum class Verbosity { kQueryPlanner, kExecutionStats };

class Cursor {
 public:
  virtual ~Cursor() = default;
  // The next document, or nothing at the end. Documents that were read from the store without a
  // projection or in-memory sort point into it (rule S5); otherwise the view is valid until the
  // next call. A document whose checksum is wrong is DataCorruptionDetected, naming namespace and
  // _id or record; the cursor can go on behind it.
  virtual Result<std::optional<bson::View>> next() = 0;
};

struct CountOptions {
  int64_t skip = 0;
  int64_t limit = 0;  // 0: no limit
  std::optional<bson::Value> hint = {};
  bson::View variables = {};
  std::optional<Deadline> deadline = {};
};

struct DistinctOptions {
  std::optional<bson::Value> hint = {};
  bson::View variables = {};
  std::optional<Deadline> deadline = {};
};

struct AggregateOptions {
  std::optional<bson::Value> hint = {};
  bson::View variables = {};
  std::optional<Deadline> deadline = {};
  // Of each stage that gathers documents ($group, $sort); beyond it QueryExceededMemoryLimit (292).
  uint64_t memory_bytes_max = kOperationBytesMax;
  bool bypass_validation = false;  // of what $out and $merge write
  std::string_view host = {};      // what $indexStats and $collStats say it is; empty: nothing
};

struct InsertResult {
  bson::Value id;  // the document's _id, generated if it had none
};

struct InsertOptions {
  bool bypass_validation = false;  // the collection's validator is not asked
  bool keep_empty_timestamps = false;
};

struct UpdateOptions {
  bool upsert = false;
  bool multi = false;  // refused with a replacement, as MongoDB does
  std::optional<bson::Value> hint = {};
  bson::View array_filters = {};  // an array; which elements `$[id]` stands for
  bool bypass_validation = false;
  bool is_pipeline = false;               // the update is an array, of stages
  bson::View variables = {};              // what `$$name` is in expressions and stages, by name
  std::optional<Deadline> deadline = {};  // of finding the documents, in all writes
};

struct RemoveOptions {
  std::optional<bson::Value> hint = {};
  bson::View variables = {};
  std::optional<Deadline> deadline = {};
};

struct UpdateResult {
  int64_t matched = 0;
  int64_t modified = 0;                    // a matched document that did not change is not counted
  std::optional<bson::Value> upserted_id;  // of the document an upsert inserted
};

struct FindAndModifyOptions {
  bson::View sort;
  bson::View projection;
  bool remove = false;  // then `update` must be empty
  bool upsert = false;
  bool return_new = false;  // the document after the update instead of before
  std::optional<bson::Value> hint = {};
  bson::View array_filters = {};
  bool bypass_validation = false;
  bool is_pipeline = false;
  bson::View variables = {};
  std::optional<Deadline> deadline = {};
};

struct FindAndModifyResult {
  std::optional<bson::Document> document;
  bool updated_existing = false;
  std::optional<bson::Value> upserted_id;
};

struct CollectionStats {
  int64_t documents = 0;
  int64_t document_bytes = 0;  // sum of the BSON sizes
  int64_t storage_bytes = 0;   // what they take in the store, about
  int64_t index_count = 0;
};

struct IndexStats {
  IndexDefinition definition;
  int64_t bytes = 0;     // what its entries take, about
  int64_t accesses = 0;  // reads and writes that used it to find documents, since the time below
  bson::Date since;      // when the store was opened
};

// A handle by name: the collection need not exist. Reads of a missing collection find nothing; the
// first insert creates it (with its _id index), as MongoDB does. The name may be a view's: reads
// then give what its pipeline makes of the collection below, writes are CommandNotSupportedOnView.
class Collection {
 public:
  virtual ~Collection() = default;

  virtual const Namespace& ns() const = 0;

  // `filter` is MongoDB's query language (engine/query/filter/filter.h); bad filters are BadValue
  // or FailedToParse. Every implementation answers an equality on all fields of an index, a range
  // on the last of them, and a sort along them without reading other documents.
  virtual Result<std::unique_ptr<Cursor>> find(Snapshot& snapshot, bson::View filter,
                                               const FindOptions& options = {}) = 0;
  // The first document find() would give; no cursor is made, so this is the way to read one.
  virtual Result<std::optional<bson::View>> find_one(Snapshot& snapshot, bson::View filter,
                                                     const FindOptions& options = {}) = 0;
  virtual Result<int64_t> count(Snapshot& snapshot, bson::View filter,
                                const CountOptions& options = {}) = 0;
  // The values that the path has in matching documents, an array's elements each on its own, in
  // their order and each once. DistinctTooLarge if they have no room in one document.
  virtual Result<std::vector<bson::Value>> distinct(Snapshot& snapshot, std::string_view path,
                                                    bson::View filter,
                                                    const DistinctOptions& options = {}) = 0;
  // `stages` are an array's elements (engine/query/pipeline/pipeline.h). A pipeline that ends with
  // $out or $merge needs a Transaction, writes during this call, and its cursor gives nothing.
  virtual Result<std::unique_ptr<Cursor>> aggregate(Snapshot& snapshot, bson::View stages,
                                                    const AggregateOptions& options = {}) = 0;

  // How find() answers: {explainVersion, queryPlanner: {namespace, parsedQuery, winningPlan,
  // rejectedPlans}, executionStats: {nReturned, executionTimeMillis, totalKeysExamined,
  // totalDocsExamined, executionStages}}, as servers show classic plans (MongoDB manual, "Explain
  // Results"). Of a view: {stages: [{$cursor: that of the collection below}, the other stages]}.
  virtual Result<bson::Document> explain(Snapshot& snapshot, bson::View filter,
                                         const FindOptions& options, Verbosity verbosity) = 0;
  // The same of count(), whose plan may read no documents where that of a find does.
  virtual Result<bson::Document> explain_count(Snapshot& snapshot, bson::View filter,
                                               const CountOptions& options,
                                               Verbosity verbosity) = 0;
  // The same of aggregate(), which does not write then.
  virtual Result<bson::Document> explain_aggregate(Snapshot& snapshot, bson::View stages,
                                                   const AggregateOptions& options,
                                                   Verbosity verbosity) = 0;

  // A hint that documents matching `filter` will be read soon: their pages are asked of the disk
  // without waiting. Costs a few microseconds; may do nothing.
  virtual void prefetch(Snapshot& snapshot, bson::View filter) = 0;

  // Inserts a copy. A missing _id is generated and put first; a document that exceeds 16 MiB or
  // has more than one _id, an array, regex or undefined as _id or a name beginning with '$' within
  // it is refused (BadValue, InvalidIdField, DollarPrefixedFieldName); elsewhere such names are
  // stored, as servers have it since 5.0. DuplicateKey with keyPattern and keyValue;
  // DocumentValidationFailure with errInfo. `document` must be valid BSON; bytes from outside go
  // through bson::validate first. Empty Timestamps in top-level fields are filled in. In a capped
  // collection the oldest documents go, until the new one has room.
  virtual Result<InsertResult> insert(Transaction& transaction, bson::View document,
                                      const InsertOptions& options = {}) = 0;
  // Operators, a replacement or a pipeline (engine/query/update/update.h).
  virtual Result<UpdateResult> update(Transaction& transaction, bson::View filter,
                                      bson::View update, const UpdateOptions& options = {}) = 0;
  // Returns how many went. `multi` false removes the first match only.
  virtual Result<int64_t> remove(Transaction& transaction, bson::View filter, bool multi,
                                 const RemoveOptions& options = {}) = 0;
  virtual Result<FindAndModifyResult> find_and_modify(Transaction& transaction, bson::View filter,
                                                      bson::View update,
                                                      const FindAndModifyOptions& options) = 0;

  // Creates the collection too if needed. An equal index is success and changes nothing; same name
  // with other keys or options is IndexKeySpecsConflict / IndexOptionsConflict; a unique index over
  // duplicates is DuplicateKey and leaves nothing behind. An empty name is made from the keys
  // ("files_id_1_n_1").
  virtual Status create_index(Transaction& transaction, const IndexDefinition& definition) = 0;
  virtual Status drop_index(Transaction& transaction, std::string_view name) = 0;
  virtual Result<std::vector<IndexDefinition>> indexes(Snapshot& snapshot) = 0;
  // At the same cost however many documents there are.
  virtual Result<CollectionStats> stats(Snapshot& snapshot) = 0;
  virtual Result<std::vector<IndexStats>> index_stats(Snapshot& snapshot) = 0;
};

struct CollectionInfo {
  std::string name;
  bson::Document options;
};

class Database {
 public:
  virtual ~Database() = default;

  virtual const std::string& name() const = 0;
  // Cheap; may be kept and shared. The name is checked when the collection is first written.
  virtual std::unique_ptr<Collection> collection(std::string_view name) = 0;

  // In the order of names.
  virtual Result<std::vector<CollectionInfo>> collections(Snapshot& snapshot) = 0;
  // Nothing if it does not exist.
  virtual Result<std::optional<CollectionInfo>> collection_info(Snapshot& snapshot,
                                                                std::string_view collection) = 0;
  virtual Result<bool> exists(Snapshot& snapshot, std::string_view collection) = 0;
  // `options` as CollectionOptions::parse takes them. NamespaceExists if the collection does.
  virtual Status create(Transaction& transaction, std::string_view collection,
                        bson::View options) = 0;
  // Changes options, as collMod does: validator, validationLevel, validationAction, cappedSize,
  // cappedMax, viewOn and pipeline of a view, index: {name or keyPattern, expireAfterSeconds or
  // hidden}. Returns what collMod adds to its reply (expireAfterSeconds_old, ...).
  virtual Result<bson::Document> modify(Transaction& transaction, std::string_view collection,
                                        bson::View changes) = 0;
  // The newest documents that have room in `bytes`, in a capped collection of the same name; its
  // indexes other than on _id are dropped, as convertToCapped does.
  virtual Status convert_to_capped(Transaction& transaction, std::string_view collection,
                                   int64_t bytes) = 0;
  // Reads all of the collection, as `validate` does: {ns, nrecords, nInvalidDocuments,
  // nNonCompliantDocuments, nIndexes, keysPerIndex, indexDetails, valid, repaired, warnings,
  // errors, extraIndexEntries, missingIndexEntries, corruptRecords}, of each list its first 1000.
  // NamespaceNotFound, CommandNotSupportedOnView.
  virtual Result<bson::Document> validate(Snapshot& snapshot, std::string_view collection) = 0;
  // NamespaceNotFound if it does not exist. Space is reused in the background.
  virtual Status drop(Transaction& transaction, std::string_view collection) = 0;
  // Also to another database. NamespaceExists unless `drop_target`.
  virtual Status rename(Transaction& transaction, std::string_view from, const Namespace& to,
                        bool drop_target) = 0;
  virtual Status drop_database(Transaction& transaction) = 0;
};

struct StoreStats {
  int64_t file_bytes = 0;       // what the store occupies
  int64_t used_bytes = 0;       // of it in use; the rest is reused before the file grows
  int64_t capacity_bytes = 0;   // file system's free space plus file_bytes
  int64_t available_bytes = 0;  // what can still be written
  // Of the whole file system that the store is in, whoever uses it.
  int64_t file_system_bytes = 0;
  int64_t file_system_used_bytes = 0;
  // Of indexes with expireAfterSeconds, since the store was opened.
  int64_t expiry_passes = 0;
  int64_t expired_documents = 0;
  // Since everything was last made durable, and not only what someone waited for: what a power loss
  // may cost at most.
  std::chrono::milliseconds since_checkpoint{0};
};

class Store {
 public:
  virtual ~Store() = default;  // closes cleanly: everything committed becomes durable

  virtual std::shared_ptr<Database> database(std::string_view name) = 0;
  virtual Result<std::vector<std::string>> databases(Snapshot& snapshot) = 0;

  virtual Result<std::unique_ptr<Snapshot>> snapshot() = 0;
  virtual Result<std::unique_ptr<Transaction>> begin(Waits waits = Waits::kForOthers) = 0;

  // Returns when everything committed before the call is durable. Concurrent callers share the
  // work. WritesRefused if a sync failed, now or before.
  virtual Status make_durable() = 0;

  // Gives space that nothing is in back to the file system, as the command `compact` does: of the
  // whole store, or of the collection alone where that has files of its own. Returns how many bytes
  // came free. Others may read and write meanwhile, but for moments. The calling thread holds
  // neither a snapshot nor a transaction. NamespaceNotFound, CommandNotSupportedOnView,
  // StoreDamaged, StoreReadOnly, WritesRefused, MaxTimeMSExpired; CommandNotSupported where the
  // file system takes nothing back from within a file.
  virtual Result<int64_t> compact(const Namespace& ns,
                                  const std::optional<Deadline>& deadline = {}) = 0;

  virtual Result<StoreStats> stats() = 0;
  virtual bool read_only() const = 0;
};

}  // namespace gridmount::engine
