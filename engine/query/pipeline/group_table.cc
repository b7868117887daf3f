#include "engine/query/pipeline/group_table.h"

#include "engine/bson/key_string.h"
#include "engine/query/pipeline/key_hash.h"

namespace gridmount::query {
namespace {

constexpr size_t kSlotsMin = 64;
// Approximate memory per group, in addition to its key and its id, and per field of a group.
constexpr uint64_t kGroupBytes = 128;
constexpr uint64_t kAccumulatorBytes = 96;

}  // namespace

void GroupTable::grow() {
  const size_t size = slots_.empty() ? kSlotsMin : 2 * slots_.size();
  slots_.assign(size, 0);
  for (size_t group = 0; group < groups_.size(); ++group) {
    size_t at = groups_[group].hash & (size - 1);
    while (slots_[at] != 0) at = (at + 1) & (size - 1);
    slots_[at] = static_cast<uint32_t>(group + 1);
  }
}

Status GroupTable::add_group(bson::ValueView id, uint64_t hash) {
  // The table is at most half full, so that probing ends soon. A group takes more than a hundred
  // bytes, so the memory for 2^32 groups is not available.
  if (slots_.size() < 2 * (groups_.size() + 1)) grow();
  bytes_ += kGroupBytes + key_.size() + id.size() + kAccumulatorBytes * fields_.size();
  if (bytes_ > bytes_max_) return memory_exceeded(stage_);
  const bool is_document = id.type() == bson::Type::kDocument;
  group_evaluator_.begin(is_document ? id.as_document() : bson::View());
  for (const AccumulatedField& field : fields_) {
    GM_ASSIGN(std::unique_ptr<Accumulator> made,
              make_accumulator(field, group_evaluator_, bytes_max_));
    accumulators_.push_back(std::move(made));
  }
  groups_.push_back({hash, key_, bson::Value(id)});
  return {};
}

Result<size_t> GroupTable::find_or_add(bson::ValueView id) {
  key_.clear();
  bson::append_key_string(key_, id, false, evaluator_.context().strings);
  const uint64_t hash = hash_of_key(key_);
  if (!slots_.empty()) {
    for (size_t at = hash & (slots_.size() - 1); slots_[at] != 0;
         at = (at + 1) & (slots_.size() - 1)) {
      const Group& group = groups_[slots_[at] - 1];
      if (group.hash == hash && group.key == key_) return size_t{slots_[at]} - 1;
    }
  }
  GM_TRY(add_group(id, hash));
  const size_t added = groups_.size() - 1;
  size_t at = hash & (slots_.size() - 1);
  while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = static_cast<uint32_t>(added + 1);
  return added;
}

Status GroupTable::add(bson::ValueView id, bson::View document) {
  GM_ASSIGN(const size_t group, find_or_add(id));
  for (size_t i = 0; i < fields_.size(); ++i) {
    GM_ASSIGN(const std::optional<bson::ValueView> value,
              evaluator_.evaluate(*fields_[i].argument));
    Accumulator& accumulator = *accumulators_[group * fields_.size() + i];
    const uint64_t before = accumulator.bytes();
    GM_TRY(accumulator.add(value, document));
    bytes_ += accumulator.bytes() - before;
  }
  if (bytes_ > bytes_max_) return memory_exceeded(stage_);
  return {};
}

void GroupTable::write(size_t group, DocumentOutput& output) const {
  for (size_t i = 0; i < fields_.size(); ++i) {
    accumulators_[group * fields_.size() + i]->write(fields_[i].field, output);
  }
}

void GroupTable::release(size_t group) {
  for (size_t i = 0; i < fields_.size(); ++i) accumulators_[group * fields_.size() + i].reset();
  std::string().swap(groups_[group].key);
}

}  // namespace gridmount::query
