#include "engine/local/scan.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/local/document_keys.h"
#include "engine/local/index_bounds.h"
#include "engine/local/index_key.h"
#include "engine/local/index_value.h"
#include "engine/local/range_cursor.h"

namespace gridmount::local {
namespace {

constexpr size_t kPrefixBytes = 4;
constexpr size_t kRecordIdBytes = 8;

tl::unexpected<Error> malformed_entry(const CollectionEntry& entry, const std::string& where) {
  return fail(ErrorCode::kDataCorruptionDetected,
              entry.ns.full() + ": " + where +
                  " holds an entry of the wrong form; run 'gridstore "
                  "check'");
}

class CollectionScan : public Scan {
 public:
  CollectionScan(const std::shared_ptr<Trees>& trees, std::shared_ptr<const CollectionEntry> entry,
                 bool backward, bool certain, bool tailing)
      : entry_(std::move(entry)), cursor_(trees, trees->tree(entry_->records)), certain_(certain) {
    cursor_.set_range(range_prefix(entry_->records), range_end(entry_->records), backward);
    if (tailing) cursor_.set_tailing();
  }

  Result<std::optional<Candidate>> next() override {
    GM_ASSIGN(const std::optional<TreeEntry> record, cursor_.next());
    if (!record) return std::optional<Candidate>();
    const std::optional<RecordId> id = record_id_of(record->key);
    if (!id) return malformed_entry(*entry_, "the collection");
    return std::optional(Candidate{*id, record->value, certain_});
  }

  Result<bool> has_place() const override { return cursor_.has_place(); }

 private:
  std::shared_ptr<const CollectionEntry> entry_;
  RangeCursor cursor_;
  const bool certain_;
};

class IndexScan : public Scan {
 public:
  IndexScan(std::shared_ptr<Trees> trees, std::shared_ptr<const CollectionEntry> entry,
            const query::Plan& plan, const ScanOptions& options)
      : trees_(std::move(trees)),
        entry_(std::move(entry)),
        index_(entry_->indexes[plan.index]),
        bounds_(index_, plan.bounds, options.limits),
        cursor_(trees_, trees_->tree(index_.range)),
        backward_(plan.backward),
        exact_(plan.bounds_are_exact),
        in_order_(plan.provides_sort),
        order_bytes_max_(options.order_bytes_max),
        next_range_(0) {}

  Result<std::optional<Candidate>> next() override {
    while (true) {
      GM_ASSIGN(const std::optional<Candidate> candidate, next_entry());
      if (!candidate) return candidate;
      // With arrays a record can be reached by several keys.
      if (index_.multikey && !seen_.insert(candidate->id).second) continue;
      return candidate;
    }
  }

  int64_t keys_examined() const override { return keys_examined_; }

 private:
  struct RunEntry {
    std::string order;  // the whole key
    RecordId id;
  };

  Result<std::optional<Candidate>> next_entry() {
    while (true) {
      if (run_at_ < run_.size()) {
        Candidate candidate;
        candidate.id = run_[run_at_++].id;
        candidate.remembered = true;
        return std::optional(candidate);
      }
      GM_ASSIGN(const std::optional<Key> key, next_key());
      if (!key) return std::optional<Candidate>();
      const IndexBounds::Fit fit = bounds_.fit(key->encoded);
      if (fit == IndexBounds::Fit::kOutside) continue;
      if (in_order_ && is_shortened(key->encoded)) {
        GM_TRY(gather_run(std::string(key->encoded), key->id));
        continue;
      }
      const bool certain = exact_ && fit == IndexBounds::Fit::kInside && !key->remembered;
      Candidate candidate{key->id, std::nullopt, certain};
      candidate.remembered = key->remembered;
      if (!key->remembered) {
        candidate.encoded = key->encoded;
        candidate.kinds = key->kinds;
      }
      return std::optional(candidate);
    }
  }

  struct Key {
    std::string_view encoded;
    RecordId id;
    bool remembered = false;
    std::string_view kinds = {};
  };

  Result<std::optional<Key>> next_key() {
    if (ahead_) {
      // Read while a run was gathered.
      given_ = std::move(*ahead_);
      ahead_.reset();
      return std::optional(Key{given_.order, given_.id, true});
    }
    while (true) {
      if (within_range_) {
        GM_ASSIGN(const std::optional<TreeEntry> found, cursor_.next());
        if (found) {
          const std::optional<RecordId> id = record_of_entry(index_, *found);
          if (!id) return malformed_entry(*entry_, "the index '" + index_.definition.name + "'");
          ++keys_examined_;
          return std::optional(Key{encoded_of_entry(index_, found->key), *id, false,
                                   kinds_of_value(index_, found->value)});
        }
        within_range_ = false;
      }
      const std::vector<KeyRange>& ranges = bounds_.ranges();
      if (next_range_ == ranges.size()) return std::optional<Key>();
      const KeyRange& range = ranges[backward_ ? ranges.size() - 1 - next_range_ : next_range_];
      ++next_range_;
      cursor_.set_range(range.low, range.high, backward_);
      within_range_ = true;
    }
  }

  // Shortened keys with one beginning lie in the order of their hashes: reads all of them and puts
  // them in the order of the values, which the documents have.
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

  Status add_to_run(std::string_view shortened, RecordId id, uint64_t& bytes) {
    GM_ASSIGN(const std::optional<std::string_view> record,
              get_record(*trees_, entry_->records, id));
    // A damaged or missing document is reported when the candidate is read.
    std::string order(shortened);
    if (record && record_defect(*record, Verify::kChecksum).empty()) {
      GM_ASSIGN(const bson::View document, document_of(*record, Verify::kBounds, entry_->ns, id));
      if (extract_whole_keys(index_.rules, document, keys_)) {
        for (size_t i = 0; i < keys_.size(); ++i) {
          std::string key(keys_[i]);
          shorten(key);
          if (key == shortened) order = keys_[i];
        }
      }
    }
    bytes += order.size() + sizeof(RunEntry);
    if (bytes > order_bytes_max_) {
      return fail(ErrorCode::kQueryExceededMemoryLimit,
                  entry_->ns.full() + ": sorting keys of the index '" + index_.definition.name +
                      "' that are alike in their first " + std::to_string(kEncodedBytesMax) +
                      " bytes needs more than " + std::to_string(order_bytes_max_) + " bytes");
    }
    run_.push_back({std::move(order), id});
    return {};
  }

  std::shared_ptr<Trees> trees_;
  std::shared_ptr<const CollectionEntry> entry_;
  const IndexEntry& index_;
  const IndexBounds bounds_;
  RangeCursor cursor_;
  const bool backward_;
  const bool exact_;
  const bool in_order_;
  const uint64_t order_bytes_max_;

  size_t next_range_;
  bool within_range_ = false;
  std::unordered_set<RecordId> seen_;
  std::vector<RunEntry> run_;
  size_t run_at_ = 0;
  int64_t keys_examined_ = 0;
  std::optional<RunEntry> ahead_;
  RunEntry given_{};
  KeySet keys_;
};

// The branches one after the other; a record is given by the first that reaches it.
class UnionScan : public Scan {
 public:
  explicit UnionScan(std::vector<std::unique_ptr<Scan>> branches)
      : branches_(std::move(branches)) {}

  Result<std::optional<Candidate>> next() override {
    while (at_ < branches_.size()) {
      GM_ASSIGN(const std::optional<Candidate> candidate, branches_[at_]->next());
      if (!candidate) {
        ++at_;
      } else if (seen_.insert(candidate->id).second) {
        return candidate;
      }
    }
    return std::optional<Candidate>();
  }

  int64_t keys_examined() const override {
    int64_t sum = 0;
    for (const std::unique_ptr<Scan>& branch : branches_) sum += branch->keys_examined();
    return sum;
  }

 private:
  std::vector<std::unique_ptr<Scan>> branches_;
  size_t at_ = 0;
  std::unordered_set<RecordId> seen_;
};

}  // namespace

std::optional<RecordId> record_of_entry(const IndexEntry& index, const TreeEntry& entry) {
  if (index.definition.unique) {
    if (entry.key.size() < kPrefixBytes || entry.value.size() < kRecordIdBytes) return std::nullopt;
    return big_endian_64(entry.value);
  }
  if (entry.key.size() < kPrefixBytes + kRecordIdBytes) return std::nullopt;
  return big_endian_64(entry.key.substr(entry.key.size() - kRecordIdBytes));
}

std::string_view encoded_of_entry(const IndexEntry& index, std::string_view key) {
  key.remove_prefix(kPrefixBytes);
  if (!index.definition.unique) key.remove_suffix(kRecordIdBytes);
  return key;
}

std::unique_ptr<Scan> make_scan(std::shared_ptr<Trees> trees,
                                std::shared_ptr<const CollectionEntry> entry,
                                const query::Plan& plan, const ScanOptions& options) {
  switch (plan.kind) {
    case query::Plan::Kind::kCollectionScan:
      return std::make_unique<CollectionScan>(trees, std::move(entry), plan.backward,
                                              plan.bounds_are_exact, options.tailing);
    case query::Plan::Kind::kIndexScan:
      return std::make_unique<IndexScan>(std::move(trees), std::move(entry), plan, options);
    case query::Plan::Kind::kUnion:
      break;
  }
  std::vector<std::unique_ptr<Scan>> branches;
  for (const query::Plan& branch : plan.branches) {
    branches.push_back(make_scan(trees, entry, branch, options));
  }
  return std::make_unique<UnionScan>(std::move(branches));
}

}  // namespace gridmount::local
