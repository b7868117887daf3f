// The groups of $group and $bucket: by key, what has been accumulated. Internal to this folder.
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
  // The fields and the evaluator outlive this.
  GroupTable(const std::vector<AccumulatedField>& fields, std::string_view stage,
             Evaluator& evaluator, const PipelineContext& context)
      : fields_(fields),
        stage_(stage),
        evaluator_(evaluator),
        group_evaluator_(context.variables, context.now),
        bytes_max_(context.memory_bytes_max) {}

  // Counts the document, which the evaluator has begun with, to the group of that _id.
  Status add(bson::ValueView id, bson::View document);

  // In the order in which they were met.
  size_t size() const { return groups_.size(); }
  bson::ValueView id(size_t group) const { return groups_[group].id.view(); }
  // Appends the fields' results.
  void write(size_t group, Output& output) const;
  // Frees what the group holds; it is not asked for again.
  void release(size_t group);

 private:
  struct Group {
    uint64_t hash;
    std::string key;
    bson::Value id;  // as the first document of the group has it
  };

  Result<size_t> find_or_add(bson::ValueView id);
  Status add_group(bson::ValueView id, uint64_t hash);
  void grow();

  const std::vector<AccumulatedField>& fields_;
  const std::string_view stage_;
  Evaluator& evaluator_;
  Evaluator group_evaluator_;  // about a group's _id
  const uint64_t bytes_max_;
  uint64_t bytes_ = 0;
  std::string key_;              // of the present document
  std::vector<uint32_t> slots_;  // a group's number plus one, 0 for none; by hash, probed linearly
  std::vector<Group> groups_;
  std::vector<std::unique_ptr<Accumulator>> accumulators_;  // of a group, one per field
};

}  // namespace gridmount::query
