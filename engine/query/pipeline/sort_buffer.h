// Values kept in the order of their sort keys: all of them, or the first or last few. $sort,
// $bucketAuto and the sorting accumulators use it. Internal to engine/query. Not thread-safe.
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

// Reads the values that a document sorts by. Copies them only if there is an array on a path.
class SortKeyReader {
 public:
  // `sort` must outlive the reader.
  explicit SortKeyReader(const Sort& sort) : sort_(sort) {}

  // The key is valid as long as the document, and until the next call. Fails as Sort::key_of().
  Result<std::span<const bson::ValueView>> read(bson::View document);

 private:
  const Sort& sort_;
  std::vector<bson::ValueView> key_;
  std::vector<bson::Value> owned_;
};

std::vector<bool> directions_of(const Sort& sort);

// Records with equal keys stay in the order in which they were added.
class SortBuffer {
 public:
  enum class Keep { kFirst, kLast };

  // `descending` has one entry per part of the key. With a `limit`, only that many of the first or
  // last records in the order are kept. Of records with equal keys, those that were added first are
  // kept, by both, as mongod 6.0.5 does for $top and $bottom.
  explicit SortBuffer(std::vector<bool> descending, std::optional<uint64_t> limit = std::nullopt,
                      Keep keep = Keep::kFirst)
      : descending_(std::move(descending)), limit_(limit), keep_(keep) {}

  // Returns whether a record with this key would be kept if it were added now.
  bool would_keep(std::span<const bson::ValueView> key) const;
  // Copies the key and the payload.
  void add(std::span<const bson::ValueView> key, bson::ValueView payload);

  // Returns the memory held, in bytes.
  uint64_t bytes() const { return bytes_; }
  size_t size() const { return records_.size(); }

  // Sorts the records. Nothing may be added after that. If the interruption of this thread ends the
  // sort, the buffer must not be used afterwards.
  Status sort();
  // Only after sort().
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
  std::optional<uint64_t> limit_;
  Keep keep_;
  // Once the limit is reached, a heap with the record to drop first at its front.
  std::vector<std::unique_ptr<Record>> records_;
  uint64_t bytes_ = 0;
  uint64_t sequence_ = 0;
};

}  // namespace gridmount::query
