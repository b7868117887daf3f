// A buffer that sorts values by their sort keys, and keeps all of them, only the first ones, or
// only the last ones. $sort, $bucketAuto and the accumulators that sort use it. Internal to
// engine/query. Not thread-safe.
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

// Reads the sort key of a document. Copies values only if an array is on a path.
class SortKeyReader {
 public:
  // `sort` must outlive the reader.
  explicit SortKeyReader(const Sort& sort) : sort_(sort) {}

  // Returns the sort key. It is valid until the next call, and as long as `document` is valid.
  // Fails as Sort::key_of() does.
  Result<std::span<const bson::ValueView>> read(bson::View document,
                                                std::optional<double> text_score = std::nullopt);

 private:
  const Sort& sort_;
  std::vector<bson::ValueView> key_;
  std::vector<bson::Value> owned_;
};

std::vector<bool> directions_of(const Sort& sort);

// Records with equal keys remain in the order in which they were added.
class SortBuffer {
 public:
  enum class Keep { kFirst, kLast };

  // `descending` has one entry for each part of the key. With a `limit`, keeps only this number of
  // records: the first or the last ones in the order. If not all records with the same key can be
  // kept, both kFirst and kLast keep those that were added first, as mongod 6.0.5 does for $top and
  // $bottom.
  // `strings` is the order of strings, and must outlive the buffer. Null: as bytes.
  SortBuffer(std::vector<bool> descending, const bson::StringOrder* strings,
             std::optional<uint64_t> limit = std::nullopt, Keep keep = Keep::kFirst)
      : descending_(std::move(descending)), strings_(strings), limit_(limit), keep_(keep) {}

  // Returns whether a record with this key would be kept if it were added now.
  bool would_keep(std::span<const bson::ValueView> key) const;
  // Adds a record, with copies of the key and the payload. Does nothing if would_keep() is false.
  // If the limit has been reached, drops another record.
  void add(std::span<const bson::ValueView> key, bson::ValueView payload);

  // Returns how many bytes of memory the buffer uses.
  uint64_t bytes() const { return bytes_; }
  size_t size() const { return records_.size(); }

  // Sorts the records. Afterwards nothing may be added. If the interruption of this thread ends the
  // sort, the buffer must not be used any more.
  Status sort();
  // payload() and key() may be called only after sort().
  bson::ValueView payload(size_t at) const { return records_[at]->payload; }
  bson::ValueView key(size_t at, size_t part) const { return records_[at]->key[part]; }
  // Frees the memory of the record, which must not be used afterwards.
  void release(size_t at);

 private:
  struct Record {
    explicit Record(size_t bytes_size)
        : bytes(std::make_unique_for_overwrite<uint8_t[]>(bytes_size)) {}

    uint64_t sequence = 0;
    bson::ValueView payload{bson::Type::kNull, nullptr, 0};
    std::vector<bson::ValueView> key;
    uint64_t size = 0;
    std::unique_ptr<uint8_t[]> bytes;  // the payload and the key
  };

  std::weak_ordering compare(std::span<const bson::ValueView> a,
                             std::span<const bson::ValueView> b) const;
  // Returns whether `a` comes before `b`.
  bool before(const Record& a, const Record& b) const;
  // Returns whether `a` is kept longer than `b`.
  bool kept_over(const Record& a, const Record& b) const;

  std::vector<bool> descending_;
  const bson::StringOrder* strings_;
  std::optional<uint64_t> limit_;
  Keep keep_;
  // When the limit has been reached, this is a heap. Its first record is the next one to drop.
  std::vector<std::unique_ptr<Record>> records_;
  uint64_t bytes_ = 0;
  uint64_t sequence_ = 0;
};

}  // namespace gridmount::query
