// A buffer in memory that sorts values by their sort keys. It keeps all values, only the first
// ones, or only the last ones. $sort, $bucketAuto, $setWindowFields and the accumulators that sort
// use it. The buffer never writes to the disk: its callers compare bytes() with their limit.
//
// Internal to engine/query. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/bson/document.h"
#include "engine/bson/value.h"
#include "engine/query/sort.h"

namespace gridmount::query {

// Reads the sort keys of documents. Copies values only if a path of the sort meets an array, or if
// the sort uses the text score.
class SortKeyReader {
 public:
  // `sort` must outlive the reader.
  explicit SortKeyReader(const Sort& sort) : sort_(sort) {}

  // Returns the sort key of the document. The key is valid until the next call, but not longer than
  // `document`. `text_score` is the document's text score. If it is nullopt, a part of the key that
  // stands for the text score is null. Fails as Sort::key_of() does.
  Result<std::span<const bson::ValueView>> read(bson::View document,
                                                std::optional<double> text_score = std::nullopt);

 private:
  const Sort& sort_;
  std::vector<bson::ValueView> key_;
  std::vector<bson::Value> owned_;
};

// Reads the sort key of a document as mongod 6.0.5 does for $top, $topN, $bottom and $bottomN: a
// part is the value of the expression `$path`. An array is compared as a whole, and an empty one
// comes before null.
class ExpressionKeyReader {
 public:
  // `sort` must outlive the reader.
  explicit ExpressionKeyReader(const Sort& sort);
  ~ExpressionKeyReader();

  // Returns the sort key. The key is valid until the next call, but not longer than `document`.
  // Fails with BadValue if two parts are arrays, and as Evaluator::evaluate() does.
  Result<std::span<const bson::ValueView>> read(bson::View document);

 private:
  struct Expressions;

  const Sort& sort_;
  std::vector<bson::ValueView> key_;
  // Null until a document has an array on a path, because there may be one reader for each of many
  // groups.
  std::unique_ptr<Expressions> expressions_;
};

// Returns one entry for each part of the sort: true if the part is descending.
std::vector<bool> directions_of(const Sort& sort);

// Records with equal keys remain in the order in which they were added.
class SortBuffer {
 public:
  enum class Keep { kFirst, kLast };

  // `descending` has one entry for each part of the key, as directions_of() returns it. A key may
  // have further parts, which the buffer stores and does not compare.
  //
  // With a `limit`, the buffer keeps at most this number of records: the first or the last ones in
  // the order, as `keep` says. A new record does not replace a record with the same key. If a
  // record of another key takes the place of one of several records with the same key, kFirst drops
  // the newest of these and kLast the oldest, as mongod 6.0.5 does for $top and $bottom.
  //
  // `strings` is the order of strings, and must outlive the buffer. If it is null, strings are
  // compared as bytes.
  SortBuffer(std::vector<bool> descending, const bson::StringOrder* strings,
             std::optional<uint64_t> limit = std::nullopt, Keep keep = Keep::kFirst)
      : descending_(std::move(descending)), strings_(strings), limit_(limit), keep_(keep) {}

  // Returns whether add() would keep a record with this key now.
  bool would_keep(std::span<const bson::ValueView> key) const;
  // Copies the key and the payload into a new record. Does nothing if would_keep() returns false
  // for the key. If the buffer has `limit` records already, drops one of them.
  void add(std::span<const bson::ValueView> key, bson::ValueView payload);

  // Returns how many bytes of memory the records use. Does not count the list of the records.
  uint64_t bytes() const { return bytes_; }
  // Returns the number of records.
  size_t size() const { return records_.size(); }

  // Sorts the records. After this call, add() must not be called. Fails as check_interruption_now()
  // (interruption.h) does. After a failure, the buffer must not be used any more.
  Status sort();
  // Return the payload of record number `at` in the order, and one part of its key. May be called
  // only after sort(). The views are valid until release() for this record.
  bson::ValueView payload(size_t at) const { return records_[at]->payload; }
  bson::ValueView key(size_t at, size_t part) const { return records_[at]->key[part]; }
  // Frees the memory of record number `at`. payload() and key() must not be called for it any more.
  void release(size_t at);

 private:
  struct Record {
    explicit Record(size_t bytes_size)
        : bytes(std::make_unique_for_overwrite<uint8_t[]>(bytes_size)) {}

    uint64_t sequence = 0;  // grows from record to record
    bson::ValueView payload{bson::Type::kNull, nullptr, 0};
    std::vector<bson::ValueView> key;
    uint64_t size = 0;                 // bytes of memory that the record uses
    std::unique_ptr<uint8_t[]> bytes;  // the payload and the key
  };

  std::weak_ordering compare(std::span<const bson::ValueView> a,
                             std::span<const bson::ValueView> b) const;
  // Returns whether `a` comes before `b`.
  bool before(const Record& a, const Record& b) const;
  // Returns whether the buffer drops `b` before `a`.
  bool kept_over(const Record& a, const Record& b) const;

  std::vector<bool> descending_;
  const bson::StringOrder* strings_;
  std::optional<uint64_t> limit_;
  Keep keep_;
  // If there are `limit_` records, they are a heap until sort(). The first record is the next one
  // to drop.
  std::vector<std::unique_ptr<Record>> records_;
  uint64_t bytes_ = 0;
  uint64_t sequence_ = 0;
};

}  // namespace gridmount::query
