// engine::Collection on LMDB. Reads are in collection.cc, writes in collection_writes.cc, indexes
// in collection_indexes.cc, and statistics in collection_statistics.cc. DocumentWriter is in
// document_writer.cc and document_overwrite.cc, which also has binary_size().
//
// Thread-safety: a LocalCollection is immutable, so thread-safe. The thread that uses a transaction
// also uses its DocumentWriters.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "engine/aggregation/aggregate.h"
#include "engine/binary_overwrite.h"
#include "engine/local/catalog/patched_records.h"
#include "engine/local/catalog/read_view.h"
#include "engine/local/indexes/index_writer.h"
#include "engine/local/queries/plan_executor.h"
#include "engine/query/update/update.h"
#include "engine/store.h"

namespace gridmount::local {

// Says which documents a write changes among the documents that match its filter.
struct TargetOptions {
  bool multi = false;  // true: all documents that match; false: only the first
  std::optional<bson::Value> hint = {};
  bson::View variables = {};
  bson::View sort = {};  // the order that decides which document is the first; empty: that of the
                         // plan
  bool is_upsert = false;
  std::optional<engine::Deadline> deadline = {};
  query::SharedCollator collator = nullptr;
  bool text_score = false;  // makes targets() set LocalCollection::Targets::text_score
};

// Returns the collation of a command: `given`, or the collation of the collection if `given` is
// empty. `metadata` is null if the collection does not exist. The result is null if strings are
// compared as bytes. Fails as query::Collator::parse() does.
Result<query::SharedCollator> collator_for(bson::View given, const CollectionMetadata* metadata);
// Parses the filter of a command on the collection `ns`. `metadata` is null if the collection does
// not exist. If the collection is a view, $text matches every document: the pipeline of the view
// does the search. `is_upsert` means what it means in query::FilterOptions. Fails as
// query::parse_filter() does.
Result<query::Filter> filter_for(const engine::Namespace& ns, bson::View filter,
                                 bson::View variables, const query::SharedCollator& collator,
                                 const CollectionMetadata* metadata, bool is_upsert = false);

// A collection's name, and the environment of its store. Each call looks the name up in the
// catalog, so the collection need not exist. The environment must outlive this object.
class LocalCollection : public engine::Collection, public engine::BinaryOverwriter {
 public:
  LocalCollection(engine::Namespace ns, Environment& environment)
      : ns_(std::move(ns)), environment_(environment) {}

  const engine::Namespace& ns() const override { return ns_; }

  Result<std::unique_ptr<engine::Cursor>> find(engine::Snapshot& snapshot, bson::View filter,
                                               const engine::FindOptions& options) override;
  Result<std::optional<bson::View>> find_one(engine::Snapshot& snapshot, bson::View filter,
                                             const engine::FindOptions& options) override;
  Result<int64_t> count(engine::Snapshot& snapshot, bson::View filter,
                        const engine::CountOptions& options) override;
  Result<std::vector<bson::Value>> distinct(engine::Snapshot& snapshot, std::string_view path,
                                            bson::View filter,
                                            const engine::DistinctOptions& options) override;
  Result<std::unique_ptr<engine::Cursor>> aggregate(
      engine::Snapshot& snapshot, bson::View stages,
      const engine::AggregateOptions& options) override;
  Result<bson::Document> explain(engine::Snapshot& snapshot, bson::View filter,
                                 const engine::FindOptions& options,
                                 engine::Verbosity verbosity) override;
  Result<bson::Document> explain_count(engine::Snapshot& snapshot, bson::View filter,
                                       const engine::CountOptions& options,
                                       engine::Verbosity verbosity) override;
  Result<bson::Document> explain_aggregate(engine::Snapshot& snapshot, bson::View stages,
                                           const engine::AggregateOptions& options,
                                           engine::Verbosity verbosity) override;
  void prefetch(engine::Snapshot& snapshot, bson::View filter) override;

  Result<engine::InsertResult> insert(engine::Transaction& transaction, bson::View document,
                                      const engine::InsertOptions& options) override;
  Result<engine::UpdateResult> update(engine::Transaction& transaction, bson::View filter,
                                      bson::View update,
                                      const engine::UpdateOptions& options) override;
  Result<int64_t> remove(engine::Transaction& transaction, bson::View filter, bool multi,
                         const engine::RemoveOptions& options) override;
  Result<engine::FindAndModifyResult> find_and_modify(
      engine::Transaction& transaction, bson::View filter, bson::View update,
      const engine::FindAndModifyOptions& options) override;

  Result<bool> overwrite(engine::Transaction& transaction, bson::View filter,
                         const engine::BinaryOverwrite& change) override;
  Result<std::optional<uint32_t>> binary_size(engine::Snapshot& snapshot, bson::View filter,
                                              std::string_view field) override;

  Status create_index(engine::Transaction& transaction,
                      const query::IndexDefinition& definition) override;
  Status drop_index(engine::Transaction& transaction, std::string_view name) override;
  Result<std::vector<query::IndexDefinition>> indexes(engine::Snapshot& snapshot) override;
  Result<engine::CollectionStats> stats(engine::Snapshot& snapshot) override;
  Result<std::vector<engine::IndexStats>> index_stats(engine::Snapshot& snapshot) override;

 private:
  using SharedMetadata = std::shared_ptr<const CollectionMetadata>;

  aggregation::Databases databases() const;
  Result<std::optional<bson::View>> find_one_of_cursor(engine::Snapshot& snapshot,
                                                       bson::View filter,
                                                       const engine::FindOptions& options);

  // Returns the metadata of the collection. Creates the collection if it does not exist.
  Result<SharedMetadata> metadata_for_write(ReadView& read_view) const;
  // The records that a write applies to.
  struct Targets {
    std::vector<RecordId> ids;
    // The unique index in which the only record was found without a plan, or null. If it is not
    // null, the caller must check that the document matches the filter.
    const IndexMetadata* looked_up = nullptr;
    std::optional<double> text_score = {};  // of the first record, if TargetOptions asks for it
  };
  Result<Targets> targets(const std::shared_ptr<ReadView>& read_view,
                          const SharedMetadata& metadata, bson::View filter,
                          const TargetOptions& options) const;
  // Reads the document of the target `id`. If the target was found in the index `found.looked_up`,
  // fails with DataCorruptionDetected unless the document has the values of the filter.
  static Result<bson::View> read_target(ReadView& read_view, const CollectionMetadata& metadata,
                                        const Targets& found, RecordId id, bson::View filter);

  engine::Namespace ns_;
  Environment& environment_;
};

// Writes single documents, with their index entries, and updates the counts of the collection. If a
// call fails and the transaction can still be used, the call has changed nothing. Each write also
// fails as check_indexes_are_current() does.
class DocumentWriter {
 public:
  // `read_view` is the view of a transaction, and must outlive the writer. If `validates` is false,
  // the writer ignores the collection's validator.
  DocumentWriter(ReadView& read_view, std::shared_ptr<const CollectionMetadata> metadata,
                 bool validates = true);

  // The first field of `document` must be its _id. Fails with Overflow if the document is nested
  // too deeply, and as validate() and IndexWriter::prepare_insert() do.
  Status insert(bson::View document);
  // Replaces the document of a record. `before` must be the record's current document. `affected`
  // says for each index of the collection whether the change can affect its entries, as
  // affected_by() returns it. Fails as validate() and IndexWriter::prepare_update() do.
  Status replace(RecordId id, bson::View before, bson::View after,
                 const std::vector<bool>& affected);
  // Removes a record. `document` must be the record's current document.
  Status remove(RecordId id, bson::View document);

  // Returns for each index of the collection whether `update` may change entries of the index. If
  // the update does not know which paths it changes, returns true for all indexes.
  std::vector<bool> affected_by(const query::Update& update) const;
  // Like the function above, for a write that changes the values at the dotted paths `touched`. If
  // `touched` is empty, returns true for all indexes.
  std::vector<bool> affected_by(const std::vector<std::string>& touched) const;

  // Overwrites parts of a Binary field (engine/binary_overwrite.h). Writes only patches if the
  // document is large, its record can have these patches, and nothing needs the whole document (a
  // validator, an observer, an index or a capped collection). Otherwise replaces the document.
  // Returns false and changes nothing if the document has no such field of subtype 0, or if the
  // field does not have the expected size. Fails with BadValue or BSONObjectTooLarge if `change` is
  // not valid, with BSONObjectTooLarge if the document would be too large, with
  // DataCorruptionDetected if the record is damaged, and as replace() does.
  Result<bool> overwrite(RecordId id, const engine::BinaryOverwrite& change);
  // Checks a record that was found in the index. Fails with DataCorruptionDetected unless the
  // record has the values of the filter (confirm_found()). Reads the record without its patches, so
  // the index must not have the field that patches change.
  static Status confirm_record(ReadView& read_view, const CollectionMetadata& metadata,
                               const IndexMetadata& index, bson::View filter, RecordId id);
  // Returns the number of bytes of a Binary field, with the bytes that patches have added. Does not
  // read the patches themselves. Returns nothing if the document has no such field of subtype 0.
  // Fails as read_document() does, and with DataCorruptionDetected if the list of the patches is
  // damaged.
  static Result<std::optional<uint32_t>> binary_size(ReadView& read_view,
                                                     const CollectionMetadata& metadata,
                                                     RecordId id, std::string_view field);

 private:
  // The field that overwrite() changes, and where its bytes are in the document.
  struct BinaryField {
    uint32_t length_at = 0;  // the offset of the field's length, an int32
    uint32_t begin = 0;      // the offset of the field's bytes
    uint32_t size = 0;       // in bytes
    bool is_last = false;    // no field comes after it
  };
  static std::optional<BinaryField> find_binary(bson::View document, std::string_view name);
  // A record, and a Binary field in it.
  struct FoundBinary {
    bson::View document;               // without the patches
    bool has_list = false;             // the record can have patches
    PatchList list;                    // the patches; empty if the record cannot have any
    std::optional<BinaryField> field;  // its size includes what the patches have added
  };
  // Fails as read_document() does, or with DataCorruptionDetected if the list is damaged.
  static Result<FoundBinary> find_binary_in(ReadView& read_view, const CollectionMetadata& metadata,
                                            RecordId id, std::string_view name);
  // Returns whether patches may be written instead of a new document when the field is overwritten.
  bool can_patch(std::string_view field) const;
  // Returns whether the document is large and ends with a Binary that can be patched, as the chunks
  // of files do. insert() then writes a record that can have patches.
  bool is_likely_to_be_patched(bson::View document) const;
  // Reads a record that is known to be damaged. Returns the error that says how it is damaged.
  static tl::unexpected<Error> damage_of(ReadView& read_view, const CollectionMetadata& metadata,
                                         RecordId id);
  // Returns a copy of the document with the change.
  static Result<bson::Document> overwritten(bson::View before,
                                            const engine::BinaryOverwrite& change);
  Status overwrite_whole(RecordId id, const engine::BinaryOverwrite& change, bool patchable);
  Status write_patches(RecordId id, const engine::BinaryOverwrite& change, const BinaryField& field,
                       PatchList list, const std::vector<uint32_t>& blocks);
  // Marks an index as multikey if the prepared write adds its first array.
  Status record_multikey();
  // Removes the oldest documents of a capped collection until it is within its limits. The newest
  // document stays, even if it is larger than the limit.
  Status make_room();

  ReadView& read_view_;
  std::shared_ptr<const CollectionMetadata> metadata_;
  const bool validates_;
  IndexWriter indexes_;
};

}  // namespace gridmount::local
