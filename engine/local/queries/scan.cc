#include "engine/local/queries/scan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/local/catalog/patched_records.h"
#include "engine/local/catalog/records.h"
#include "engine/local/format/index_key_encoding.h"
#include "engine/local/format/index_key_generation.h"
#include "engine/local/format/index_value.h"
#include "engine/local/indexes/entry_reading.h"
#include "engine/local/queries/index_bounds.h"
#include "engine/local/storage/range_cursor.h"
#include "engine/query/interruption.h"

namespace gridmount::local {
namespace {

class CollectionScan : public Scan {
 public:
  CollectionScan(const std::shared_ptr<Trees>& trees,
                 std::shared_ptr<const CollectionMetadata> metadata, bool backward, bool certain,
                 bool tailing)
      : metadata_(std::move(metadata)),
        cursor_(trees, trees->tree(metadata_->records)),
        certain_(certain) {
    cursor_.set_range(keyspace_prefix(metadata_->records), keyspace_end(metadata_->records),
                      backward);
    cursor_.set_proving();
    if (tailing) cursor_.set_tailing();
  }

  Result<std::optional<WorkItem>> next() override {
    Result<std::optional<TreeEntry>> read = cursor_.next();
    while (read && *read && is_of_patches((*read)->key)) read = cursor_.next();
    if (!read) return fail(std::move(read).error().with_context(metadata_->ns.full()));
    const std::optional<TreeEntry>& record = *read;
    if (!record) {
      counts_.ended = true;
      return std::optional<WorkItem>();
    }
    const std::optional<RecordId> id = record_id_of(record->key);
    if (!id) return fail(damaged_entry(*metadata_, "the collection", "an entry of the wrong form"));
    ++counts_.given;
    return std::optional(WorkItem{*id, record->value, certain_});
  }

  Result<bool> has_place() const override { return cursor_.has_place(); }

  ScanCounts counts() const override { return counts_; }

 private:
  std::shared_ptr<const CollectionMetadata> metadata_;
  RangeCursor cursor_;
  const bool certain_;
  ScanCounts counts_;
};

class IndexScan : public Scan {
 public:
  IndexScan(std::shared_ptr<Trees> trees, std::shared_ptr<const CollectionMetadata> metadata,
            const query::Plan& plan, const ScanOptions& options)
      : trees_(std::move(trees)),
        metadata_(std::move(metadata)),
        index_(metadata_->indexes[plan.index]),
        bounds_(index_, plan.bounds, options.limits),
        cursor_(trees_, trees_->tree(index_.keyspace)),
        backward_(plan.backward),
        exact_(plan.bounds_are_exact),
        in_order_(plan.provides_sort),
        order_bytes_max_(options.order_bytes_max),
        distinct_(options.distinct),
        keeps_duplicates_(options.text_score && index_.rules.text != nullptr),
        next_range_(0) {
    if (index_.checksums) cursor_.set_proving();
  }

  Result<std::optional<WorkItem>> next() override {
    while (true) {
      GM_ASSIGN(const std::optional<WorkItem> item, next_entry());
      if (!item) {
        counts_.ended = true;
        return item;
      }
      // With arrays, several keys can lead to one record.
      if (index_.multikey && !keeps_duplicates_) {
        ++counts_.tested;
        if (!seen_.insert(item->id).second) {
          ++counts_.dropped;
          continue;
        }
      }
      ++counts_.given;
      return item;
    }
  }

  void will_read_records() override { reads_ahead_ = !trees_->writable(); }

  int64_t keys_examined() const override { return counts_.keys_examined; }
  ScanCounts counts() const override { return counts_; }

 private:
  struct RunEntry {
    std::string order;  // the whole key, not truncated
    RecordId id;
  };

  Result<std::optional<WorkItem>> next_entry() {
    while (true) {
      if (run_at_ < run_.size()) {
        WorkItem item;
        item.id = run_[run_at_++].id;
        item.remembered = true;
        return std::optional(item);
      }
      GM_ASSIGN(const std::optional<Key> key, next_key());
      if (!key) return std::optional<WorkItem>();
      if (key->fit == IndexBounds::Fit::kOutside) {
        GM_TRY(query::check_interruption());
        continue;
      }
      if (in_order_ && is_truncated(key->encoded)) {
        GM_TRY(gather_run(std::string(key->encoded), key->id));
        continue;
      }
      const bool certain = exact_ && key->fit == IndexBounds::Fit::kInside && !key->remembered;
      WorkItem item{key->id, key->record, certain};
      item.remembered = key->remembered;
      if (!key->remembered) {
        item.encoded = key->encoded;
        item.kinds = key->kinds;
      }
      return std::optional(item);
    }
  }

  struct Key {
    std::string_view encoded;
    RecordId id;
    IndexBounds::Fit fit;
    bool remembered = false;
    std::string_view kinds = {};
    std::optional<std::string_view> record = {};
  };

  Result<std::optional<Key>> next_key() {
    if (ahead_) {
      // This key was read while a run was gathered.
      given_ = std::move(*ahead_);
      ahead_.reset();
      return std::optional(Key{given_.order, given_.id, bounds_.fit(given_.order), true});
    }
    while (true) {
      if (within_range_ && reads_ahead_) {
        GM_ASSIGN(const std::optional<Key> key, next_of_batch());
        if (key) return key;
        within_range_ = false;
      } else if (within_range_) {
        GM_ASSIGN(const std::optional<Key> key, distinct_ ? read_distinct_key() : read_key());
        if (key) {
          ++counts_.keys_examined;
          return key;
        }
        within_range_ = false;
      }
      const std::vector<KeyRange>& ranges = bounds_.ranges();
      if (next_range_ == ranges.size()) return std::optional<Key>();
      const KeyRange& range = ranges[backward_ ? ranges.size() - 1 - next_range_ : next_range_];
      ++next_range_;
      ++counts_.seeks;
      cursor_.set_range(range.low, range.high, backward_);
      within_range_ = true;
    }
  }

  // Returns the next key of the range.
  Result<std::optional<Key>> read_key() {
    Result<std::optional<TreeEntry>> read = cursor_.next();
    if (!read) return fail(with_index_name(std::move(read).error(), *metadata_, index_));
    if (!*read) return std::optional<Key>();
    const TreeEntry& found = **read;
    GM_ASSIGN(const RecordId id, verified_record_id_of_entry(*metadata_, index_, found));
    const std::string_view encoded = encoded_values_of_entry(index_, found.key);
    return std::optional(
        Key{encoded, id, bounds_.fit(encoded), false, kinds_of_value(index_, found.value)});
  }

  // Returns the next key of the range with another leading value. First tries a few steps, because
  // that key is close if most values are different.
  Result<std::optional<Key>> read_distinct_key() {
    constexpr int kSteps = 8;
    for (int steps = 0;; ++steps) {
      GM_ASSIGN(std::optional<Key> key, read_key());
      if (!key) return key;
      if (!leading_.empty() && key->encoded.starts_with(leading_)) {
        ++counts_.keys_examined;
        if (steps != kSteps) continue;
        ++counts_.seeks;
        // Seek past every key that begins with `leading_` (K3).
        const KeyRange& range = bounds_.ranges()[next_range_ - 1];
        cursor_.set_range(keyspace_prefix(index_.keyspace) + leading_ + '\xFF', range.high, false);
        continue;
      }
      record_leading(*key);
      return key;
    }
  }

  void record_leading(const Key& key) {
    leading_.clear();
    const bool descending = index_.rules.parts.front().descending;
    const std::optional<size_t> size = bson::key_string_size(key.encoded, descending);
    if (!size) return;
    std::string missing;
    append_encoded_missing(missing, descending);
    const std::string_view leading = key.encoded.substr(0, *size);
    // A null has the same encoding as a missing field. The other entries may be skipped only if the
    // kinds show that the field exists.
    const bool is_there =
        !key.kinds.empty() && key.kinds.front() == static_cast<char>(ValueKind::kOfClass);
    if (leading != missing || is_there) leading_ = leading;
  }

  // Keys of one range that are read together.
  struct KeyBatch {
    struct BatchedKey {
      std::string bytes;  // copies of the encoding and the kinds, valid also after a pause
      Key key;
    };
    std::array<BatchedKey, TreeReader::kKeysMax> entries;
    size_t size = 0;
    size_t at = 0;               // the next entry to return
    size_t next_size = 1;        // grows, so that few keys are read for few results
    uint64_t read_at = 0;        // Trees::resumptions()
    std::optional<Error> error;  // occurred after the last entry
  };

  Result<std::optional<Key>> next_of_batch() {
    GM_TRY(trees_->readable());
    if (!batch_) batch_ = std::make_unique<KeyBatch>();
    if (batch_->at == batch_->size) fill_batch();
    if (batch_->at == batch_->size) {
      if (batch_->error) return fail(*std::exchange(batch_->error, std::nullopt));
      return std::optional<Key>();
    }
    KeyBatch::BatchedKey& entry = batch_->entries[batch_->at++];
    ++counts_.keys_examined;
    if (batch_->read_at != trees_->resumptions()) {
      entry.key.remembered = true;
      entry.key.record.reset();
    }
    return std::optional(entry.key);
  }

  void fill_batch() {
    constexpr size_t kGrowth = 4;
    KeyBatch& batch = *batch_;
    batch.at = 0;
    batch.size = 0;
    batch.read_at = trees_->resumptions();
    if (batch.error) return;
    std::array<std::optional<RecordKey>, TreeReader::kKeysMax> keys;
    std::array<TreeReader::Wanted, TreeReader::kKeysMax> wanted;
    std::array<size_t, TreeReader::kKeysMax> of{};
    size_t count = 0;
    while (batch.size < batch.next_size && add_to_batch()) {
      const Key& key = batch.entries[batch.size - 1].key;
      if (key.fit == IndexBounds::Fit::kOutside) continue;
      keys[count].emplace(metadata_->records, key.id);
      wanted[count] = {keys[count]->view()};
      of[count++] = batch.size - 1;
    }
    batch.next_size = std::min(batch.next_size * kGrowth, TreeReader::kKeysMax);
    if (count < 2) return;
    trees_->find_several(trees_->tree(metadata_->records), std::span(wanted).first(count));
    for (size_t i = 0; i < count; ++i) batch.entries[of[i]].key.record = wanted[i].value;
  }

  // Returns false at the end of the range and on an error.
  bool add_to_batch() {
    KeyBatch& batch = *batch_;
    Result<std::optional<Key>> read = read_key();
    if (!read) batch.error = std::move(read).error();
    if (!read || !*read) return false;
    const Key& key = **read;
    KeyBatch::BatchedKey& entry = batch.entries[batch.size++];
    entry.bytes.assign(key.encoded);
    entry.bytes.append(key.kinds);
    entry.key = key;
    entry.key.encoded = std::string_view(entry.bytes).substr(0, key.encoded.size());
    entry.key.kinds = std::string_view(entry.bytes).substr(key.encoded.size());
    return true;
  }

  // Truncated keys with a common beginning are ordered by their hashes. This function reads all of
  // them and orders them by their values in the documents.
  Status gather_run(const std::string& first, RecordId first_id) {
    run_.clear();
    run_at_ = 0;
    const std::string beginning = first.substr(0, kEncodedBytesMax);
    uint64_t bytes = 0;
    GM_TRY(add_to_run(first, first_id, bytes));
    while (true) {
      GM_ASSIGN(const std::optional<Key> key, next_key());
      if (!key) break;
      if (!key->encoded.starts_with(beginning)) {
        ahead_ = RunEntry{std::string(key->encoded), key->id};
        break;
      }
      GM_TRY(add_to_run(key->encoded, key->id, bytes));
    }
    std::sort(run_.begin(), run_.end(), [](const RunEntry& a, const RunEntry& b) {
      return std::tie(a.order, a.id) < std::tie(b.order, b.id);
    });
    if (backward_) std::reverse(run_.begin(), run_.end());
    return {};
  }

  Status add_to_run(std::string_view truncated, RecordId id, uint64_t& bytes) {
    GM_ASSIGN(const std::optional<std::string_view> record,
              get_record(*trees_, metadata_->records, id));
    // A damaged or missing document is reported when the work item's document is read.
    std::string order(truncated);
    const RecordKey record_key(metadata_->records, id);
    if (record && record_defect(*record, Verify::kChecksum, record_key).empty()) {
      bson::Document patched;
      GM_ASSIGN(const bson::View document,
                whole_document_of(*trees_, metadata_->ns, metadata_->records, id, *record,
                                  Verify::kBounds, patched));
      if (extract_whole_keys(index_.rules, document, keys_)) {
        for (size_t i = 0; i < keys_.size(); ++i) {
          std::string key(keys_[i]);
          truncate_encoding(key);
          if (key == truncated) order = keys_[i];
        }
      }
    }
    bytes += order.size() + sizeof(RunEntry);
    if (bytes > order_bytes_max_) {
      return fail(ErrorCode::kQueryExceededMemoryLimit,
                  metadata_->ns.full() + ": sorting keys of the index '" + index_.definition.name +
                      "' with the same first " + std::to_string(kEncodedBytesMax) +
                      " bytes needs more than " + std::to_string(order_bytes_max_) + " bytes");
    }
    run_.push_back({std::move(order), id});
    return {};
  }

  std::shared_ptr<Trees> trees_;
  std::shared_ptr<const CollectionMetadata> metadata_;
  const IndexMetadata& index_;
  const IndexBounds bounds_;
  RangeCursor cursor_;
  const bool backward_;
  const bool exact_;
  const bool in_order_;
  const uint64_t order_bytes_max_;
  const bool distinct_;
  const bool keeps_duplicates_;  // TextScan adds up the entries of one record

  size_t next_range_;
  bool within_range_ = false;
  bool reads_ahead_ = false;
  std::unique_ptr<KeyBatch> batch_;
  std::unordered_set<RecordId> seen_;
  std::vector<RunEntry> run_;
  size_t run_at_ = 0;
  ScanCounts counts_;
  std::string leading_;  // encoding of the leading value whose further entries are skipped, if any
  std::optional<RunEntry> ahead_;
  RunEntry given_{};
  KeySet keys_;
};

// Reads all entries of a text search, and adds up the scores of each record.
class TextScan : public Scan {
 public:
  TextScan(std::shared_ptr<Trees> trees, std::shared_ptr<const CollectionMetadata> metadata,
           const query::Plan& plan, const ScanOptions& options)
      : trees_(trees),
        metadata_(metadata),
        index_(metadata_->indexes[plan.index]),
        bytes_max_(options.order_bytes_max),
        entries_(std::move(trees), std::move(metadata), plan, options) {}

  Result<std::optional<WorkItem>> next() override {
    if (!gathered_) GM_TRY(gather());
    if (at_ == found_.size()) {
      counts_.ended = true;
      return std::optional<WorkItem>();
    }
    const Found& found = found_[at_++];
    ++counts_.given;
    WorkItem item;
    item.id = found.id;
    item.remembered = true;
    // The document may have changed since its entries were read.
    const bool is_current = trees_->writes() == gathered_at_write_;
    item.certain = found.certain && is_current;
    if (is_current && !std::isnan(found.score)) item.text_score = found.score;
    return std::optional(item);
  }

  int64_t keys_examined() const override { return entries_.keys_examined(); }
  ScanCounts counts() const override {
    ScanCounts counts = counts_;
    counts.keys_examined = keys_examined();
    counts.seeks = entries_.counts().seeks;
    return counts;
  }

 private:
  struct Found {
    RecordId id;
    double score;  // NaN: the entries do not have it
    bool certain;
  };

  Status gather() {
    // The size of an entry of `positions`, with its node and its share of the buckets.
    constexpr size_t kPositionBytes = 40;
    std::unordered_map<RecordId, size_t> positions;
    while (true) {
      GM_TRY(query::check_interruption());
      GM_ASSIGN(const std::optional<WorkItem> item, entries_.next());
      if (!item) break;
      const double score = score_of_key(index_.rules, item->encoded)
                               .value_or(std::numeric_limits<double>::quiet_NaN());
      ++counts_.tested;
      const auto [position, is_new] = positions.try_emplace(item->id, found_.size());
      if (is_new) {
        found_.push_back({item->id, score, item->certain});
      } else {
        ++counts_.dropped;
        Found& found = found_[position->second];
        found.score += score;
        found.certain = found.certain && item->certain;
      }
      if (found_.size() * (sizeof(Found) + kPositionBytes) > bytes_max_) {
        return fail(ErrorCode::kQueryExceededMemoryLimit,
                    metadata_->ns.full() + ": the scores of a text search need more than " +
                        std::to_string(bytes_max_) + " bytes");
      }
    }
    gathered_ = true;
    gathered_at_write_ = trees_->writes();
    return {};
  }

  std::shared_ptr<Trees> trees_;
  std::shared_ptr<const CollectionMetadata> metadata_;
  const IndexMetadata& index_;
  const uint64_t bytes_max_;
  IndexScan entries_;
  bool gathered_ = false;
  uint64_t gathered_at_write_ = 0;  // Trees::writes()
  std::vector<Found> found_;        // in the order of their first entries
  size_t at_ = 0;
  ScanCounts counts_;  // without keys_examined and seeks
};

// Runs the branches one after the other. The first branch that reaches a record returns it.
class UnionScan : public Scan {
 public:
  explicit UnionScan(std::vector<std::unique_ptr<Scan>> branches)
      : branches_(std::move(branches)) {}

  Result<std::optional<WorkItem>> next() override {
    while (at_ < branches_.size()) {
      GM_ASSIGN(const std::optional<WorkItem> item, branches_[at_]->next());
      if (!item) {
        // There may be thousands of branches that return nothing, so check for an interruption
        // here.
        GM_TRY(query::check_interruption());
        keys_of_ended_ += branches_[at_]->keys_examined();
        ++at_;
        continue;
      }
      ++counts_.tested;
      if (seen_.insert(item->id).second) {
        ++counts_.given;
        return item;
      }
      ++counts_.dropped;
    }
    counts_.ended = true;
    return std::optional<WorkItem>();
  }

  void will_read_records() override {
    for (const std::unique_ptr<Scan>& branch : branches_) branch->will_read_records();
  }

  int64_t keys_examined() const override {
    return keys_of_ended_ + (at_ < branches_.size() ? branches_[at_]->keys_examined() : 0);
  }

  ScanCounts counts() const override {
    ScanCounts counts = counts_;
    counts.keys_examined = keys_examined();
    return counts;
  }

  std::vector<const Scan*> branches() const override {
    std::vector<const Scan*> branches;
    for (const std::unique_ptr<Scan>& branch : branches_) branches.push_back(branch.get());
    return branches;
  }

 private:
  std::vector<std::unique_ptr<Scan>> branches_;
  ScanCounts counts_;  // without keys_examined
  size_t at_ = 0;
  int64_t keys_of_ended_ = 0;  // of the branches before at_
  std::unordered_set<RecordId> seen_;
};

}  // namespace

std::unique_ptr<Scan> make_scan(std::shared_ptr<Trees> trees,
                                std::shared_ptr<const CollectionMetadata> metadata,
                                const query::Plan& plan, const ScanOptions& options) {
  switch (plan.kind) {
    case query::Plan::Kind::kCollectionScan:
      return std::make_unique<CollectionScan>(trees, std::move(metadata), plan.backward,
                                              plan.bounds_are_exact, options.tailing);
    case query::Plan::Kind::kIndexScan:
      if (options.text_score && metadata->indexes[plan.index].rules.text != nullptr) {
        return std::make_unique<TextScan>(std::move(trees), std::move(metadata), plan, options);
      }
      return std::make_unique<IndexScan>(std::move(trees), std::move(metadata), plan, options);
    case query::Plan::Kind::kUnion:
      break;
  }
  std::vector<std::unique_ptr<Scan>> branches;
  for (const query::Plan& branch : plan.branches) {
    branches.push_back(make_scan(trees, metadata, branch, options));
  }
  return std::make_unique<UnionScan>(std::move(branches));
}

}  // namespace gridmount::local
