// Finds the documents of a partition that are in the window of each document. Internal to
// engine/query. Not thread-safe.
#pragma once

#include <cstddef>
#include <optional>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/query/expression/evaluator.h"
#include "engine/query/pipeline/sort_buffer.h"
#include "engine/query/pipeline/window_bounds.h"

namespace gridmount::query {

// A partition: the documents `begin` to `end` - 1 of a sorted buffer. In the partition, they are
// numbered from 0. The part `score_part` of a document's key is the text score, or null if the
// document has no text score.
struct WindowPartition {
  const SortBuffer* documents = nullptr;
  size_t score_part = 0;
  size_t begin = 0;
  size_t end = 0;

  size_t size() const { return end - begin; }
  bson::View document(size_t at) const { return documents->payload(begin + at).as_document(); }
  // Makes document number `at` the root of the following evaluations.
  void begin_document(size_t at, Evaluator& evaluator) const {
    evaluator.begin(document(at), documents->key(begin + at, score_part).number());
  }
};

class WindowFrame {
 public:
  // The positions in the partition of a window's first and last document.
  struct Span {
    size_t first;
    size_t last;
  };

  // All arguments must outlive the frame. `sort_value` reads the sort field. `sort_value` may be
  // null if `bounds` is not a range.
  WindowFrame(const WindowBounds& bounds, const Expression* sort_value, Evaluator& evaluator)
      : bounds_(bounds), sort_value_(sort_value), evaluator_(evaluator) {}

  // Must be called before the first document of each partition. `partition` must be valid until the
  // last call of move_to() for this partition has returned.
  void begin(const WindowPartition& partition);

  // Returns the window of the document at `current`, or nullopt if no document is in the window.
  // Must be called for the documents in their order. Neither end of the window then moves back, so
  // all calls together read each document only a few times. But after an empty window of a range,
  // the search for the end of the next window begins at the first document of this next window.
  // Fails only for a range: with 5429413, 5429414 or 5429513 if the sort value of the current
  // document does not have the type that the range needs, with 5429404 if the sort is descending,
  // with the errors of add_to_date() for a range of dates, and as check_interruption() does.
  Result<std::optional<Span>> move_to(size_t current);

 private:
  std::optional<Span> documents_at(size_t current) const;
  Result<std::optional<Span>> range_at(size_t current);
  Status check_base(const std::optional<bson::ValueView>& base) const;
  bool is_expected(const std::optional<bson::ValueView>& value) const;
  Result<bson::Value> threshold(bson::ValueView base, const bson::Value& offset) const;
  Result<std::optional<bson::ValueView>> value_at(size_t at);
  Result<std::optional<size_t>> first_in_range(size_t current, bson::ValueView base);
  Result<std::optional<size_t>> last_in_range(size_t current, bson::ValueView base, size_t first);

  const WindowBounds& bounds_;
  const Expression* const sort_value_;
  Evaluator& evaluator_;
  const WindowPartition* partition_ = nullptr;
  // No window of a later document begins before this document. Used for ranges, unless their lower
  // bound is "current".
  size_t first_from_ = 0;
  std::optional<Span> last_;  // the window of the previous document, if it is not empty
};

}  // namespace gridmount::query
