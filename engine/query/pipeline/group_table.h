// The table of the groups of $group and $bucket, with their accumulators. It finds groups by _id.
// Internal to engine/query. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/value.h"
#include "engine/query/pipeline/accumulator.h"

namespace gridmount::query {

class GroupTable {
 public:
  // `fields`, `evaluator`, the text of `stage`, and the collator and the values of the variables in
  // `context` must outlive the table. `stage` is the stage's name for messages.
  GroupTable(const std::vector<AccumulatedField>& fields, std::string_view stage,
             Evaluator& evaluator, const PipelineContext& context)
      : fields_(fields),
        stage_(stage),
        evaluator_(evaluator),
        group_evaluator_(context.variables, context.now, context.collator.get()),
        bytes_max_(context.memory_bytes_max) {}

  // Adds the document to the group with this _id. `document` must be the evaluator's current
  // document. Fails with the error of memory_exceeded() if the groups need more than
  // PipelineContext::memory_bytes_max, and with the errors of expressions and accumulators.
  Status add(bson::ValueView id, bson::View document);

  // The number of groups. The groups are numbered from 0, in the order of their first documents.
  size_t size() const { return groups_.size(); }
  // Returns the group's _id, as its first document has given it. The view is valid until the next
  // call of add().
  bson::ValueView id(size_t group) const { return groups_[group].id.view(); }
  // Appends the results of the group's fields. Must be called only once for each group, after the
  // last add() (Accumulator::write()).
  void write(size_t group, DocumentOutput& output) const;
  // Frees the accumulators of the group. Afterwards the group must not be used.
  void release(size_t group);

 private:
  struct Group {
    uint64_t hash;
    std::string key;
    bson::Value id;  // the _id of the group's first document
  };

  Result<size_t> find_or_add(bson::ValueView id);
  Status add_group(bson::ValueView id, uint64_t hash);
  void grow();

  const std::vector<AccumulatedField>& fields_;
  const std::string_view stage_;
  Evaluator& evaluator_;
  Evaluator group_evaluator_;  // its current document is a group's _id, for `n` of accumulators
  const uint64_t bytes_max_;
  uint64_t bytes_ = 0;
  std::string key_;              // the key string of the current document's group
  std::vector<uint32_t> slots_;  // hash table with linear probing: a group's number plus one, or 0
  std::vector<Group> groups_;
  std::vector<std::unique_ptr<Accumulator>>
      accumulators_;  // one for each group and field, ordered by group
};

}  // namespace gridmount::query
