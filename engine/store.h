// The interface of a document store: Store, Database, Collection, Snapshot (reads one state of the
// store) and Transaction (reads and writes). All code above a store uses only this interface.
//
// engine/local implements the interface on LMDB and keeps all rules below. engine/mongo implements
// it over a MongoDB deployment and breaks some of them: Store::capabilities() says which. The
// contract tests (tests/engine/contract) run over both and verify the rules that the store keeps.
//
// Rules. Where a rule names a switch of Capabilities, it holds only if the switch is true.
// S1. With Capabilities::stable_snapshots, the contents that a Snapshot shows do not change until
//     resume(), except that a Transaction sees its own writes (S2). A Snapshot never blocks a
//     writer, unless it is a Transaction or comes from short_snapshot(). snapshot() may wait for
//     short transactions (TransactionKind::kShort) and short snapshots, and for nothing else.
// S2. A Transaction sees its own writes. With Capabilities::transactions, commit() commits all of
//     them together, and none of them happen if the Transaction is destroyed without commit(). With
//     Capabilities::one_writer, a store has at most one transaction at a time, and begin() waits in
//     a FIFO queue. Do not hold a transaction while waiting for a client, for a lock of a layer
//     above, or for input. A thread must not begin a second transaction while it holds one.
// S3. With Capabilities::continues_after_failed_writes, a failed write undoes all its effects on
//     the document that failed, and the transaction can continue. If the call has changed other
//     documents before (UpdateOptions::multi), these changes remain. Exception: OutOfDiskSpace,
//     IoError, WritesRefused and TransactionTooLarge poison the transaction, and commit() then
//     fails. Errors that report damage, such as StoreDamaged, may poison it too.
// S4. Committed means visible to every later snapshot and safe from a kill of the process. Durable
//     means safe from power loss. commit(Durability::kDurable) and make_durable() make writes
//     durable.
// S5. A bson::View returned by a read of a Snapshot stays valid until the Snapshot is destroyed or
//     paused. A bson::View returned by a read of a Transaction stays valid until the next write
//     through the Transaction, or until its end.
// S6. A thread that has a short transaction or a short snapshot must wait only for the store,
//     because readers may wait for this thread. It must not wait for another thread, or for a lock
//     that another thread may hold while that other thread begins to read or to write.
//
// Thread-safety: Store, Database and Collection are thread-safe. A Snapshot, a Transaction and the
// cursors on them are used by one thread at a time. A Snapshot may be handed from thread to thread.
// A Transaction must stay on the thread that began it.
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
#include "engine/capabilities.h"
#include "engine/change_stream.h"
#include "engine/collection_options.h"
#include "engine/query/plan/index_definition.h"

namespace gridmount::engine {

using query::IndexDefinition;

// "db.collection". check_namespace() checks MongoDB's rules for names.
struct Namespace {
  std::string database;
  std::string collection;

  std::string full() const { return database + "." + collection; }
  friend auto operator<=>(const Namespace&, const Namespace&) = default;
};

// Fails with InvalidNamespace and says what is wrong: an empty part, a NUL, a '$' in the collection
// name (only "oplog.$main" may have one), a '.' at either end of the collection name, a database
// name over 63 bytes or with one of /\. "$*<>:|?, or a full name over 255 bytes.
Status check_namespace(const Namespace& ns);

// Counts what a read examines, for the profiler. Only the thread that reads sets these fields.
struct ReadObserver {
  int64_t keys_examined = 0;
  int64_t documents_examined = 0;
  std::string plan_summary = {};  // "IXSCAN { a: 1 }", "COLLSCAN", "IDHACK", "EOF"; joined by ", "
};

class Snapshot {
 public:
  virtual ~Snapshot() = default;
  // Call pause() before a cursor waits for its client. The store can then reuse the space of
  // documents that are removed in the meantime. All views of documents become invalid, and nothing
  // may be read until resume(). After resume(), this snapshot shows the newest contents. Its
  // cursors continue after the last document that they returned. As with a server's cursors, a
  // document that has changed in the meantime may be returned again or not at all. After resume(),
  // a cursor whose collection or index is gone fails with QueryPlanKilled (175), and a tailable
  // cursor whose position has been overwritten fails with CappedPositionLost (136). pause() fails
  // with IllegalOperation if the snapshot is paused already, and resume() if it is not. On a
  // Transaction both functions fail with IllegalOperation.
  virtual Status pause() = 0;
  virtual Status resume() = 0;
  // Reads that begin on this snapshot from now on report to `observer`, until observe() sets
  // another one or null. An open cursor keeps reporting to the observer it began with. The searches
  // done by a transaction's writes count as reads.
  virtual void observe(std::shared_ptr<ReadObserver> observer) = 0;
  // If two snapshots of one store have the same version(), they have the same contents. Snapshots
  // with different versions may have the same contents too. Returns nothing for a transaction, for
  // a paused snapshot, and in a store without versions. May return nothing for a short snapshot.
  // Versions from before the store was closed must not be compared with later ones.
  virtual std::optional<uint64_t> version() const { return std::nullopt; }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 protected:
  Snapshot() = default;
};

// Receives the changes of a transaction. Caches of documents use it to stay correct.
//
// Only the thread of the transaction calls its functions.
class WriteObserver {
 public:
  virtual ~WriteObserver() = default;
  // Called when a document is inserted (`before` is empty), replaced, or removed (`after` is
  // empty), before the write. If the write then fails, the change has not happened. The views are
  // valid during the call only. The observer does not receive removals by the TTL monitor.
  virtual void document_changed(const Namespace& ns, const std::optional<bson::View>& before,
                                const std::optional<bson::View>& after) = 0;
  // Called when the collection is dropped, converted to a capped one, or renamed (once for each of
  // the two names).
  virtual void collection_changed(const Namespace& ns) = 0;
  // Called after the commit, when all readers can see the changes. Not called if the commit fails.
  virtual void committed() = 0;
};

enum class Durability { kCommitted, kDurable };

// The things that a thread may wait for while it holds a transaction.
enum class TransactionKind {
  kMayBlock,  // anything that S2 allows; snapshot() never waits for such a transaction
  // From begin() to the end of a short transaction, the thread obeys S6. So snapshot() and
  // make_durable() may wait for the transaction. The store can then combine several short
  // transactions, one after the other, into one commit.
  kShort,
};

class Transaction : public Snapshot {
 public:
  // Ends the transaction, whatever commit() returns. On error none of the writes have happened.
  // Exceptions: with kDurable, a sync that fails is reported after the commit. The writes are then
  // visible but may not be durable (see WritesRefused). In an embedded store, the writes may have
  // happened if the commit fails with WritesRefused because the map of data.mdb does not show it.
  // In a deployment, the writes may have happened if the error has the label
  // kUnknownTransactionCommitResult (engine/error_labels.h).
  virtual Status commit(Durability durability = Durability::kCommitted) = 0;
  // Sends the changes that this transaction makes to `observer`. Must be called before the first
  // write. In a store without Capabilities::observers, does nothing.
  virtual void observe_writes(std::shared_ptr<WriteObserver> observer) = 0;
};

struct FindOptions {
  bson::View sort = {};        // empty: the order of the index used, or insertion order
  bson::View projection = {};  // empty: whole documents
  int64_t skip = 0;
  int64_t limit = 0;                     // 0: no limit
  std::optional<bson::Value> hint = {};  // index name, key pattern, or {$natural: 1 or -1}
  bson::View variables = {};             // values of `$$name` in expressions, by name
  // The collation by which strings are compared, as query::Collation::parse() reads it. Empty: the
  // collation of the collection or view, if it has one. {locale: "simple"}: strings are compared as
  // bytes. A read can neither search for strings nor sort them with an index that has another
  // collation. A view refuses any other collation than its own with OptionNotSupportedOnView (167).
  bson::View collation = {};
  std::optional<Deadline> deadline = {};
  // The caller reads only these dotted paths. If an index covers them, the cursor returns documents
  // built from its keys and does not read the stored documents. A projection that only includes
  // fields has the same effect.
  std::optional<std::vector<std::string>> only_paths = {};
  // The caller wants the distinct values at this dotted path. If several documents have the same
  // value at this path, and the value is not an array, the cursor may return only one of these
  // documents.
  std::string_view distinct_path = {};
  // Restricts the read to the keys from `min` (inclusive) to `max` (exclusive) of the index that
  // `hint` names. Empty: no such bound. A bound must have a value for every field of that index, in
  // the order of the index. Fails with Location51173 without a hint of an index, with Location51174
  // for fields that are not those of the index, or for a value that may have strings if the index
  // has another collation, with Location51175 if `min` does not come before `max`, and with
  // BadValue for a bound that is too long for a whole index key.
  bson::View min = {};
  bson::View max = {};
  // Returns index keys instead of documents: {path: value, ...} of the index that the plan reads,
  // or {} if it reads no index. The projection is then ignored. An embedded store fails with
  // CommandNotSupported if the plan reads several indexes, a text or wildcard index, or an index
  // with arrays.
  bool return_key = false;
  bool show_record_id = false;  // adds `$recordId` after the projected fields
  // Only for a capped collection, read in insertion order: find() fails with BadValue for an
  // existing collection that is not capped, for a sort except {$natural: 1}, and with a hint. It
  // fails with InvalidPipelineOperator for a view. At the end of the collection the cursor stays
  // open. After Snapshot::resume() it returns the documents that were inserted in the meantime.
  bool tailable = false;
  // The caller reads only part of each document. The cursor then verifies the structure of each
  // document but not its checksum, so damage to the values of fields goes unnoticed. The checksum
  // of a chunk-sized document costs more than the read.
  bool partial = false;
  // The caller is done with each document before it asks for the next one. A store over a network
  // must keep every returned document in memory for as long as S5 says. With this option it keeps
  // only the current document or batch, and a view is valid until the next document is read. Set
  // the option for a read that may return any number of documents.
  bool one_at_a_time = false;
  // The largest buffer, in bytes, for a sort that no index answers. A read that needs more fails
  // with QueryExceededMemoryLimitNoDiskUseAllowed (292).
  uint64_t sort_bytes_max = kOperationBytesMax;
  // The cursor returns text scores, also without a projection or sort of {$meta: "textScore"}.
  // Fails with Location40218 if the filter has no $text. A deployment ignores this option.
  bool text_score = false;
};

// The content of explain's report: only the plan, or the plan and the stats of running it.
enum class Verbosity { kQueryPlanner, kExecutionStats };

class Cursor {
 public:
  virtual ~Cursor() = default;
  // Returns the next document, or nothing at the end. A whole document of a find() on a collection
  // is valid as S5 says (exception: FindOptions::one_at_a_time). Any other document is valid until
  // the next call: one of a view or an aggregation, and one that was built for `projection`,
  // `only_paths`, `distinct_path`, `return_key` or `show_record_id`. If a document has a wrong
  // checksum, next() fails with DataCorruptionDetected, and the message names the namespace and the
  // _id or record. The caller can continue after that document with another next(). Also fails with
  // MaxTimeMSExpired after the deadline, with QueryExceededMemoryLimitNoDiskUseAllowed (292), and
  // with IllegalOperation while the snapshot is paused and after it has ended. After a pause, also
  // fails as Snapshot::pause() says.
  virtual Result<std::optional<bson::View>> next() = 0;
  // Returns the text score of the document that next() has returned last. Returns nothing for a
  // document that has none of the terms, for a read without FindOptions::text_score and without
  // {$meta: "textScore"}, and in a deployment.
  virtual std::optional<double> text_score() const { return std::nullopt; }
};

struct CountOptions {
  int64_t skip = 0;
  int64_t limit = 0;  // 0: no limit
  std::optional<bson::Value> hint = {};
  bson::View variables = {};
  bson::View collation = {};  // see FindOptions
  std::optional<Deadline> deadline = {};
};

struct DistinctOptions {
  std::optional<bson::Value> hint = {};
  bson::View collation = {};  // see FindOptions
  std::optional<Deadline> deadline = {};
};

struct AggregateOptions {
  std::optional<bson::Value> hint = {};
  bson::View variables = {};
  bson::View collation = {};  // see FindOptions
  std::optional<Deadline> deadline = {};
  // The most bytes of memory for each stage that gathers documents ($group, $sort). A read that
  // needs more fails with QueryExceededMemoryLimitNoDiskUseAllowed (292), or for some stages with
  // another code (engine/query/pipeline/pipeline.h).
  uint64_t memory_bytes_max = kOperationBytesMax;
  bool bypass_validation = false;  // for the documents that $out and $merge write
  std::string_view host = {};      // the host that $indexStats and $collStats report; empty: none
};

struct InsertResult {
  bson::Value id;  // the document's _id, generated if it had none
};

struct InsertOptions {
  bool bypass_validation = false;      // skips the collection's validator
  bool keep_empty_timestamps = false;  // stores Timestamp(0, 0) as it is; see insert(); a
                                       // deployment ignores this option
};

struct UpdateOptions {
  bool upsert = false;
  bool multi = false;  // refused with a replacement, as MongoDB does
  std::optional<bson::Value> hint = {};
  // An array of filters. The filter on `id` selects the array elements that `$[id]` updates.
  bson::View array_filters = {};
  bool bypass_validation = false;
  bool is_pipeline = false;   // the update is an array of stages
  bson::View variables = {};  // values of `$$name` in expressions and stages, by name
  bson::View collation = {};  // see FindOptions
  // Limits only the search for the documents. A search that has not ended at the deadline fails
  // with MaxTimeMSExpired. The same is true in the options of the other writes.
  std::optional<Deadline> deadline = {};
};

struct RemoveOptions {
  std::optional<bson::Value> hint = {};
  bson::View variables = {};
  bson::View collation = {};  // see FindOptions
  std::optional<Deadline> deadline = {};
};

struct UpdateResult {
  int64_t matched = 0;
  int64_t modified = 0;                    // does not count a matched document that did not change
  std::optional<bson::Value> upserted_id;  // the _id of the document that an upsert inserted
};

struct FindAndModifyOptions {
  bson::View sort;        // which match is changed: the first in this order; empty: any one
  bson::View projection;  // applies to the returned document; empty: the whole document
  bool remove = false;    // then `update` must be empty
  bool upsert = false;
  bool return_new = false;  // returns the document after the update instead of before
  std::optional<bson::Value> hint = {};
  bson::View array_filters = {};
  bool bypass_validation = false;
  bool is_pipeline = false;
  bson::View variables = {};
  bson::View collation = {};  // see FindOptions
  std::optional<Deadline> deadline = {};
};

struct FindAndModifyResult {
  // The document before the change, or after it with return_new. Nothing if no document matched,
  // unless an upsert with return_new inserted one.
  std::optional<bson::Document> document;
  bool updated_existing = false;  // a document matched and was not removed
  std::optional<bson::Value> upserted_id;
};

struct CollectionStats {
  int64_t documents = 0;
  int64_t document_bytes = 0;  // the sum of the documents' BSON sizes
  int64_t storage_bytes = 0;   // the approximate size of the documents in the store
  int64_t index_count = 0;
};

struct IndexStats {
  IndexDefinition definition;
  int64_t bytes = 0;  // the approximate size of the index's entries
  // How many reads and writes have searched for documents with this index. When the index is hidden
  // or unhidden, the number becomes 0.
  int64_t accesses = 0;
  bson::Date since;  // when the store began to count accesses: when it was opened
};

// A handle by name: the collection need not exist. Reads of a missing collection find nothing. The
// first insert creates it with its _id index, as MongoDB does. The name may be that of a view.
// Reads then return the result of the view's pipeline. Writes, and the creation and removal of
// indexes, fail with CommandNotSupportedOnView. An embedded store refuses writes with
// IllegalOperation while the collection has an index with a collation or a text index whose keys
// were made with another version of ICU or libstemmer (engine/local/FORMAT.md, "Index keys").
class Collection {
 public:
  virtual ~Collection() = default;

  virtual const Namespace& ns() const = 0;

  // `filter` is MongoDB's query language (engine/query/filter/filter.h, which names the errors of a
  // bad filter). Fails with Location51024 if `skip` or `limit` is negative, and with BadValue,
  // IndexNotFound or FailedToParse for a bad hint (engine/query/plan/planner.h). A view refuses
  // some options with InvalidPipelineOperator or BadValue. In every implementation, these queries
  // read only the documents that they return: a query with an equality on every field of an index;
  // a query with a range on the last field of an index and an equality on every other field; and a
  // query whose sort is the order of an index.
  virtual Result<std::unique_ptr<Cursor>> find(Snapshot& snapshot, bson::View filter,
                                               const FindOptions& options = {}) = 0;
  // Returns the first document that find() would return, or nothing if no document matches. It
  // costs less than find(), because it makes no cursor. The view is valid as S5 says, even with a
  // projection. Exception: FindOptions::one_at_a_time. `only_paths` must not be given.
  virtual Result<std::optional<bson::View>> find_one(Snapshot& snapshot, bson::View filter,
                                                     const FindOptions& options = {}) = 0;
  // Returns the number of documents that find() would return. Fails as find() does.
  virtual Result<int64_t> count(Snapshot& snapshot, bson::View filter,
                                const CountOptions& options = {}) = 0;
  // Returns the values at the path in matching documents. Each value appears once, and every
  // element of an array is a value of its own. An embedded store sorts the values. A deployment
  // returns them in the server's order. Fails with Location17217 if the values do not fit in one
  // document. Also fails for a path that is not valid.
  virtual Result<std::vector<bson::Value>> distinct(Snapshot& snapshot, std::string_view path,
                                                    bson::View filter,
                                                    const DistinctOptions& options = {}) = 0;
  // `stages` holds the stages as elements of an array (engine/query/pipeline/pipeline.h). If the
  // name of the collection is empty, the pipeline must begin with a stage that reads no collection,
  // such as $documents. A pipeline that ends with $out or $merge needs a Transaction, and fails
  // with IllegalOperation on another Snapshot. It writes during this call, and its cursor returns
  // no documents.
  virtual Result<std::unique_ptr<Cursor>> aggregate(Snapshot& snapshot, bson::View stages,
                                                    const AggregateOptions& options = {}) = 0;

  // Returns the plan by which find() would answer the query: {explainVersion, queryPlanner:
  // {namespace, parsedQuery, winningPlan, rejectedPlans}, executionStats: {nReturned,
  // executionTimeMillis, totalKeysExamined, totalDocsExamined, executionStages}}, as servers show
  // classic plans (MongoDB manual, "Explain Results"). For a view: {stages: [{$cursor: the plan for
  // the collection below}, the other stages]}.
  virtual Result<bson::Document> explain(Snapshot& snapshot, bson::View filter,
                                         const FindOptions& options, Verbosity verbosity) = 0;
  // Like explain(), for count(). count() can sometimes count in the index alone. Its plan then
  // reads no documents, although find() would.
  virtual Result<bson::Document> explain_count(Snapshot& snapshot, bson::View filter,
                                               const CountOptions& options,
                                               Verbosity verbosity) = 0;
  // Like explain(), for aggregate(). Nothing is written.
  virtual Result<bson::Document> explain_aggregate(Snapshot& snapshot, bson::View stages,
                                                   const AggregateOptions& options,
                                                   Verbosity verbosity) = 0;

  // Call this if documents that match `filter` will be read soon. Asks the disk for their pages
  // without waiting. Costs a few microseconds. May do nothing.
  virtual void prefetch(Snapshot& snapshot, bson::View filter) = 0;

  // Inserts a copy. A missing _id is generated and put first. Replaces each Timestamp(0, 0) in a
  // top-level field other than _id with the current time, unless
  // InsertOptions::keep_empty_timestamps. In a capped collection the oldest documents are removed
  // until the new one fits. The new one stays, even if it is larger than the collection's limit.
  // `document` must be valid BSON: bytes from outside must pass bson::validate first. Fails with:
  // - BadValue: the document has more than 16 MiB, or more than one _id.
  // - InvalidIdField: the _id is an array, a regex or undefined.
  // - DollarPrefixedFieldName: a field name in the _id begins with '$'. Outside _id such names are
  //   stored, as servers do since 5.0.
  // - Overflow: the document is nested too deeply.
  // - DuplicateKey (details: keyPattern and keyValue).
  // - CannotIndexParallelArrays: two fields of one index have arrays.
  // - DocumentValidationFailure (details: errInfo).
  // - InvalidNamespace: the collection does not exist, and its name is not valid or is that of a
  //   collection that shows the catalog (system.indexes, system.namespaces, system.views).
  virtual Result<InsertResult> insert(Transaction& transaction, bson::View document,
                                      const InsertOptions& options = {}) = 0;
  // `update` holds operators, a replacement or a pipeline (engine/query/update/update.h, which
  // names the errors of a bad update). Also fails as find() and insert() do.
  virtual Result<UpdateResult> update(Transaction& transaction, bson::View filter,
                                      bson::View update, const UpdateOptions& options = {}) = 0;
  // Returns the number of documents removed. If `multi` is false, only the first match is removed.
  // Fails as find() does.
  virtual Result<int64_t> remove(Transaction& transaction, bson::View filter, bool multi,
                                 const RemoveOptions& options = {}) = 0;
  // Changes or removes one document. Fails as update() does, with FailedToParse if `remove`
  // contradicts another option or an update, and with BadValue for a positional projection with
  // `return_new`.
  virtual Result<FindAndModifyResult> find_and_modify(Transaction& transaction, bson::View filter,
                                                      bson::View update,
                                                      const FindAndModifyOptions& options) = 0;

  // Creates the collection too if it does not exist. If an equal index exists, the call succeeds
  // and changes nothing. Fails with IndexKeySpecsConflict if an index of that name has other keys,
  // or differs in `unique`, `sparse`, `partial_filter`, `collation` or wildcardProjection. Fails
  // with IndexOptionsConflict if that index has other options, or if an equal index has another
  // name. Fails with CannotCreateIndex, BadValue and other errors for a definition that is not
  // valid, with CannotCreateIndex for a 65th index, a second text index, or a TTL index on a capped
  // collection, and with InvalidNamespace. Fails with DuplicateKey, and changes nothing, if the
  // index is unique and two documents have the same key. An empty name is replaced by one made from
  // the keys ("files_id_1_n_1"). A definition without a collation gets that of the collection.
  virtual Status create_index(Transaction& transaction, const IndexDefinition& definition) = 0;
  // Fails with NamespaceNotFound, IndexNotFound, or InvalidOptions for the index on _id. A
  // background thread frees the space of the index.
  virtual Status drop_index(Transaction& transaction, std::string_view name) = 0;
  // Returns no indexes if the collection does not exist.
  virtual Result<std::vector<IndexDefinition>> indexes(Snapshot& snapshot) = 0;
  // The cost does not depend on the number of documents. All figures are 0 if the collection does
  // not exist.
  virtual Result<CollectionStats> stats(Snapshot& snapshot) = 0;
  virtual Result<std::vector<IndexStats>> index_stats(Snapshot& snapshot) = 0;
};

struct CollectionInfo {
  std::string name;
  bson::Document options = {};
  // 16 bytes that no other collection has. They stay the same when the collection is renamed within
  // its database. Empty for a view.
  std::string uuid = {};
};

class Database {
 public:
  virtual ~Database() = default;

  virtual const std::string& name() const = 0;
  // Makes a handle, which costs little. The handle may be kept and shared. The name is checked at
  // the first write to the collection.
  virtual std::unique_ptr<Collection> collection(std::string_view name) = 0;

  // Returns the collections and views, sorted by name.
  virtual Result<std::vector<CollectionInfo>> collections(Snapshot& snapshot) = 0;
  // Returns nothing if the collection does not exist.
  virtual Result<std::optional<CollectionInfo>> collection_info(Snapshot& snapshot,
                                                                std::string_view collection) = 0;
  virtual Result<bool> exists(Snapshot& snapshot, std::string_view collection) = 0;
  // CollectionOptions::parse() says which `options` it accepts. Fails with NamespaceExists if the
  // collection exists, with InvalidNamespace for a bad name, with the errors of
  // CollectionOptions::parse(), and for a view with those of aggregation::check_view().
  virtual Status create(Transaction& transaction, std::string_view collection,
                        bson::View options) = 0;
  // Changes options as collMod does: validator, validationLevel, validationAction, cappedSize,
  // cappedMax, viewOn and pipeline of a view, index: {name or keyPattern, expireAfterSeconds or
  // hidden}. Returns the fields that collMod adds to its reply (expireAfterSeconds_old, ...). Fails
  // with NamespaceNotFound, UnknownField or TypeMismatch, with IndexNotFound if no index fits, and
  // with InvalidOptions for a field that the collection, view or index cannot have. Also fails as
  // create() does.
  virtual Result<bson::Document> modify(Transaction& transaction, std::string_view collection,
                                        bson::View changes) = 0;
  // Replaces the collection with a capped collection of the same name, as convertToCapped does. The
  // new collection has the newest documents that fit in `bytes`, which is rounded up to a multiple
  // of 256, and only the index on _id. It has the newest document even if this one does not fit.
  // MongoDB's server drops even the newest document if its size exceeds 2 * max(bytes, 4096) plus
  // three times the size of all other documents together. Fails with NamespaceNotFound, with
  // CommandNotSupportedOnView, with Location51024 if `bytes` is less than 1 or more than 1 PiB, and
  // with DataCorruptionDetected for a damaged document.
  virtual Status convert_to_capped(Transaction& transaction, std::string_view collection,
                                   int64_t bytes) = 0;
  // Reads the whole collection as `validate` does. Returns {ns, nrecords, nInvalidDocuments,
  // nNonCompliantDocuments, nIndexes, keysPerIndex, indexDetails, valid, repaired, warnings,
  // errors, extraIndexEntries, missingIndexEntries, corruptRecords}. An embedded store returns only
  // the first 1000 items of each list, and adds to `errors` an item with the number of the further
  // ones. Fails with NamespaceNotFound or CommandNotSupportedOnView.
  virtual Result<bson::Document> validate(Snapshot& snapshot, std::string_view collection) = 0;
  // Drops the collection. A background thread frees its space. Fails with NamespaceNotFound if the
  // collection does not exist.
  virtual Status drop(Transaction& transaction, std::string_view collection) = 0;
  // `to` may be in another database. Fails with NamespaceNotFound if `from` does not exist, with
  // NamespaceExists if `to` exists and `drop_target` is false, with IllegalOperation if both names
  // are the same, and with InvalidNamespace if `to` is not a valid name.
  virtual Status rename(Transaction& transaction, std::string_view from, const Namespace& to,
                        bool drop_target) = 0;
  // Drops all collections and views of the database. Succeeds if there are none.
  virtual Status drop_database(Transaction& transaction) = 0;
};

struct StoreStats {
  int64_t file_bytes = 0;  // the disk space of data.mdb, or of all databases of a deployment
  // The part of file_bytes that holds data. The rest is reused before the file grows. In a
  // deployment it is equal to file_bytes, because servers do not report it.
  int64_t used_bytes = 0;
  // The sum of file_bytes and the bytes by which the file can still grow. In a deployment:
  // file_system_bytes.
  int64_t capacity_bytes = 0;
  int64_t available_bytes = 0;  // the bytes that can still be written; 0 if the store is read-only
  // The whole file system that holds the store, including all other files on it.
  int64_t file_system_bytes = 0;
  int64_t file_system_used_bytes = 0;
  // The passes of the TTL monitor since the store was opened, and the documents that it has
  // removed. Always 0 in a deployment, like since_checkpoint.
  int64_t expiry_passes = 0;
  int64_t expired_documents = 0;
  // The time since the last checkpoint ended. Durable commits are not checkpoints. A power loss can
  // lose only writes that were committed after that checkpoint began and were not made durable.
  std::chrono::milliseconds since_checkpoint{0};
};

class Store {
 public:
  virtual ~Store() = default;  // closes cleanly: everything committed becomes durable

  // Returns the capabilities of this store. They do not change while the store is open.
  virtual Capabilities capabilities() const { return {}; }

  // Makes a handle, which costs little. The database need not exist.
  virtual std::shared_ptr<Database> database(std::string_view name) = 0;
  // Returns the names of the databases that have a collection or a view.
  virtual Result<std::vector<std::string>> databases(Snapshot& snapshot) = 0;

  // The snapshot must be destroyed before the store. Fails with OperationFailed if too many
  // snapshots exist at a time, and with WritesRefused or IoError if a file of the store was
  // replaced or cannot be read. Fails with IllegalOperation if this thread has a short transaction
  // or short snapshot whose commit others share. In a deployment, fails with HostUnreachable (6) if
  // no server can be reached.
  virtual Result<std::unique_ptr<Snapshot>> snapshot() = 0;
  // Returns a snapshot for a few look-ups. Short transactions before and after a short snapshot can
  // share one commit. Short transactions before and after a snapshot() cannot. The snapshot may
  // block writers and other readers, so the thread obeys S6 until the snapshot ends. Until then the
  // thread must not call snapshot() or begin(), and the same thread must end the snapshot. pause()
  // may fail with IllegalOperation.
  virtual Result<std::unique_ptr<Snapshot>> short_snapshot() { return snapshot(); }
  // The transaction must be destroyed before the store. Waits without a limit for its turn (S2). A
  // deployment limits the wait and then fails with LockTimeout (24). Fails with StoreReadOnly, with
  // IllegalOperation if this thread already has a transaction, and with WritesRefused, StoreDamaged
  // or IoError if the store takes no more writes.
  virtual Result<std::unique_ptr<Transaction>> begin(
      TransactionKind kind = TransactionKind::kMayBlock) = 0;

  // Returns when everything committed before the call is durable. Concurrent callers share the
  // work. Fails with WritesRefused if a sync failed, now or before, or if a file of the store was
  // replaced, and with IllegalOperation if this thread has a transaction. Does nothing on a
  // read-only store.
  virtual Status make_durable() = 0;

  // Returns unused space to the file system, as the command `compact` does. If the collection has
  // its own files (in a deployment), frees only their unused space, otherwise the unused space of
  // the whole store. Returns the number of bytes freed. Other threads can read and write in the
  // meantime, except for short moments. The calling thread must hold neither a snapshot nor a
  // transaction; with a transaction the call fails with IllegalOperation. Fails with
  // NamespaceNotFound, CommandNotSupportedOnView, StoreDamaged, StoreReadOnly, WritesRefused or
  // MaxTimeMSExpired. Fails with CommandNotSupported if the file system cannot free space inside a
  // file, and with IllegalOperation if the pages cannot be surveyed (open_store.h).
  virtual Result<int64_t> compact(const Namespace& ns,
                                  const std::optional<Deadline>& deadline = {}) = 0;

  virtual Result<StoreStats> stats() = 0;
  virtual bool read_only() const = 0;

  // Opens a change stream on a database, which need not exist. Fails with CommandNotSupported if
  // the store has no change streams (Capabilities::change_streams), and with Unauthorized if the
  // user may not open one. Fails with ChangeStreamHistoryLost or another error of the server if the
  // deployment no longer has the changes after `resume_after`.
  virtual Result<std::unique_ptr<ChangeStream>> watch(std::string_view /*database*/,
                                                      const ChangeStreamOptions& /*options*/) {
    return fail(ErrorCode::kCommandNotSupported, "this store has no change streams");
  }
};

}  // namespace gridmount::engine
