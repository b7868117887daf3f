// engine::Collection on LMDB. Reads are in collection.cc, writes in collection_writes.cc, indexes
// in collection_indexes.cc, stats in collection_statistics.cc, and DocumentWriter in
// document_writer.cc and document_overwrite.cc.
//
// Thread-safety: a LocalCollection is immutable, so thread-safe. A DocumentWriter is used by the
// thread that uses its transaction.
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

// Selects the documents that a write changes, from those that match its filter.
struct TargetOptions {
  bool multi = false;  // true: all documents that match; false: only the first
  std::optional<bson::Value> hint = {};
  bson::View variables = {};
  bson::View sort = {};
  bool is_upsert = false;
  std::optional<engine::Deadline> deadline = {};
  query::SharedCollator collator = nullptr;
  bool text_score = false;  // sets LocalCollection::Targets::text_score
};

// Returns the collation of a command: the given one, or if that is empty the one of the collection,
// which may be null. Fails as query::Collator::parse() does.
Result<query::SharedCollator> collator_for(bson::View given, const CollectionMetadata* metadata);
// Parses the filter of a command on the collection `ns`. `metadata` is null if it does not exist.
// In the filter of a view, $text matches every document: the pipeline of the view does the search.
// Fails as query::parse_filter() does.
Result<query::Filter> filter_for(const engine::Namespace& ns, bson::View filter,
                                 bson::View variables, const query::SharedCollator& collator,
                                 const CollectionMetadata* metadata, bool is_upsert = false);

// A collection's name, and the environment in which each call looks it up. The environment must
// outlive this object.
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

  // Creates the collection if it does not exist.
  Result<SharedMetadata> metadata_for_write(ReadView& read_view) const;
  // The records that a write applies to.
  struct Targets {
    std::vector<RecordId> ids;
    // The index in which the record was looked up, or null. If it is set, the caller must check
    // whether the document matches the filter.
    const IndexMetadata* looked_up = nullptr;
    std::optional<double> text_score = {};  // of the first record, if TargetOptions asks for it
  };
  Result<Targets> targets(const std::shared_ptr<ReadView>& read_view,
                          const SharedMetadata& metadata, bson::View filter,
                          const TargetOptions& options) const;
  // Reads the document of one target. Fails if it does not match the filter although an index has
  // led to it.
  static Result<bson::View> read_target(ReadView& read_view, const CollectionMetadata& metadata,
                                        const Targets& found, RecordId id, bson::View filter);

  engine::Namespace ns_;
  Environment& environment_;
};

// Writes single documents, with their index entries and the counts. If a call fails without
// poisoning the transaction, the call has changed nothing.
class DocumentWriter {
 public:
  // If `validates` is false, the writer ignores the collection's validator. `read_view` must
  // outlive the writer.
  DocumentWriter(ReadView& read_view, std::shared_ptr<const CollectionMetadata> metadata,
                 bool validates = true);

  // The first field of `document` must be its _id. Fails with Overflow if the document is nested
  // too deeply, and as validate() and IndexWriter::prepare_insert() do.
  Status insert(bson::View document);
  // `before` must be the record's current document. `affected` says for each index of the
  // collection whether the change can affect its entries: see affected_by(). Fails as validate()
  // and IndexWriter::prepare_update() do.
  Status replace(RecordId id, bson::View before, bson::View after,
                 const std::vector<bool>& affected);
  // `document` must be the record's current document.
  Status remove(RecordId id, bson::View document);

  // Returns for each index of the collection whether `update` may change its entries. All are true
  // if the update does not know which paths it changes.
  std::vector<bool> affected_by(const query::Update& update) const;
  // Like the function above, for a write that changes the values at the paths `touched`. All are
  // true if `touched` is empty.
  std::vector<bool> affected_by(const std::vector<std::string>& touched) const;

  // Overwrites parts of a Binary field (engine/binary_overwrite.h). If the document is large enough
  // and nothing must see the whole of it, only patches are written. Otherwise replaces the
  // document. Returns false if the field is not a Binary of the expected size.
  Result<bool> overwrite(RecordId id, const engine::BinaryOverwrite& change);
  // Fails with DataCorruptionDetected unless the record, which was found in the index, has the
  // filter's values (confirm_found()). The index must not have the field that patches change.
  static Status confirm_record(ReadView& read_view, const CollectionMetadata& metadata,
                               const IndexMetadata& index, bson::View filter, RecordId id);
  // Returns the number of bytes of a Binary field, without applying the patches of the record.
  // Returns nothing if the field is not a Binary. Fails as read_document() does.
  static Result<std::optional<uint32_t>> binary_size(ReadView& read_view,
                                                     const CollectionMetadata& metadata,
                                                     RecordId id, std::string_view field);

 private:
  // The field that overwrite() changes, and where its bytes are in the document.
  struct BinaryField {
    uint32_t length_at = 0;  // the field's length, an int32
    uint32_t begin = 0;      // the field's bytes
    uint32_t size = 0;
    bool is_last = false;  // no field comes after it
  };
  static std::optional<BinaryField> find_binary(bson::View document, std::string_view name);
  // A record in which a field is found: the document without its patches, the list of the patches,
  // which is empty if the record cannot have any, and the field with what the patches have added.
  struct FoundBinary {
    bson::View document;
    bool has_list = false;
    PatchList list;
    std::optional<BinaryField> field;
  };
  // Fails as read_document() does, or with DataCorruptionDetected if the list is damaged.
  static Result<FoundBinary> find_binary_in(ReadView& read_view, const CollectionMetadata& metadata,
                                            RecordId id, std::string_view name);
  // Returns whether patches may be written instead of a new document when the field is overwritten.
  bool can_patch(std::string_view field) const;
  // Returns whether the document is large and ends with a Binary that can be patched, as the chunks
  // of files do. Its record is then made for patches at once.
  bool is_likely_to_be_patched(bson::View document) const;
  // Reads a record that is known to be damaged, and so fails with the error that says how.
  static tl::unexpected<Error> damage_of(ReadView& read_view, const CollectionMetadata& metadata,
                                         RecordId id);
  // Returns a copy of the document in which the change has been made.
  static Result<bson::Document> overwritten(bson::View before,
                                            const engine::BinaryOverwrite& change);
  Status overwrite_whole(RecordId id, const engine::BinaryOverwrite& change, bool patchable);
  Status write_patches(RecordId id, const engine::BinaryOverwrite& change, const BinaryField& field,
                       PatchList list, const std::vector<uint32_t>& blocks);
  // Marks an index as multikey when it gets its first array.
  Status record_multikey();
  // Removes the oldest documents of a capped collection until it is within its limits.
  Status make_room();

  ReadView& read_view_;
  std::shared_ptr<const CollectionMetadata> metadata_;
  const bool validates_;
  IndexWriter indexes_;
};

}  // namespace gridmount::local
