#include "engine/query/pipeline/sort_buffer.h"

#include <algorithm>
#include <cstring>

#include "engine/bson/compare.h"
#include "engine/query/expression/evaluator.h"
#include "engine/query/expression/field_path.h"
#include "engine/query/interruptible_sort.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

// Returns the value at the path. Sets `met_array` if there is an array on the path.
ValueView simple_value(bson::View document, const bson::Path& path, bool& met_array) {
  const ValueView missing(Type::kNull, nullptr, 0);
  const auto& parts = path.parts();
  for (size_t i = 0;; ++i) {
    const std::optional<ValueView> value = document.find(parts[i]);
    if (!value) return missing;
    if (value->type() == Type::kArray) {
      met_array = true;
      return missing;
    }
    if (i + 1 == parts.size()) return *value;
    if (value->type() != Type::kDocument) return missing;
    document = value->as_document();
  }
}

// Reads the values at the paths into `key`. Returns false if there is an array on one of the paths,
// or if the sort uses the text score.
bool read_simple(const Sort& sort, bson::View document, std::vector<ValueView>& key) {
  bool met_array = sort.uses_text_score();
  key.clear();
  for (const Sort::Part& part : sort.parts()) {
    if (met_array) return false;
    key.push_back(simple_value(document, part.path, met_array));
  }
  return !met_array;
}

}  // namespace

Result<std::span<const ValueView>> SortKeyReader::read(bson::View document,
                                                       std::optional<double> text_score) {
  if (!read_simple(sort_, document, key_)) {
    GM_ASSIGN(owned_, sort_.key_of(document, text_score));
    key_.assign(owned_.begin(), owned_.end());
  }
  return std::span<const ValueView>(key_);
}

struct ExpressionKeyReader::Expressions {
  explicit Expressions(const Sort& sort) : evaluator({}, bson::Date{}, sort.collator().get()) {
    using expressions::FieldPath;
    for (const Sort::Part& part : sort.parts()) {
      paths.push_back(std::make_unique<FieldPath>(FieldPath::Base::kRoot, 0, part.path.parts()));
    }
  }

  std::vector<std::unique_ptr<Expression>> paths;
  Evaluator evaluator;
};

ExpressionKeyReader::ExpressionKeyReader(const Sort& sort) : sort_(sort) {}
ExpressionKeyReader::~ExpressionKeyReader() = default;

Result<std::span<const ValueView>> ExpressionKeyReader::read(bson::View document) {
  if (read_simple(sort_, document, key_)) return std::span<const ValueView>(key_);
  if (expressions_ == nullptr) expressions_ = std::make_unique<Expressions>(sort_);
  key_.clear();
  expressions_->evaluator.begin(document);
  size_t arrays = 0;
  for (const auto& path : expressions_->paths) {
    GM_ASSIGN(const std::optional<ValueView> value, expressions_->evaluator.evaluate(*path));
    key_.push_back(value.value_or(ValueView(Type::kNull, nullptr, 0)));
    if (key_.back().type() != Type::kArray) continue;
    if (++arrays > 1) {
      return fail(ErrorCode::kBadValue, "cannot sort with keys that are parallel arrays");
    }
    if (key_.back().as_document().empty()) key_.back() = ValueView(Type::kUndefined, nullptr, 0);
  }
  return std::span<const ValueView>(key_);
}

std::vector<bool> directions_of(const Sort& sort) {
  std::vector<bool> descending;
  for (const Sort::Part& part : sort.parts()) descending.push_back(part.descending);
  return descending;
}

std::weak_ordering SortBuffer::compare(std::span<const ValueView> a,
                                       std::span<const ValueView> b) const {
  for (size_t i = 0; i < descending_.size(); ++i) {
    const std::weak_ordering order =
        descending_[i] ? bson::compare(b[i], a[i], strings_) : bson::compare(a[i], b[i], strings_);
    if (order != 0) return order;
  }
  return std::weak_ordering::equivalent;
}

bool SortBuffer::before(const Record& a, const Record& b) const {
  const std::weak_ordering order = compare(a.key, b.key);
  return order != 0 ? order < 0 : a.sequence < b.sequence;
}

bool SortBuffer::kept_over(const Record& a, const Record& b) const {
  const std::weak_ordering order = compare(a.key, b.key);
  if (order == 0) {
    return keep_ == Keep::kFirst ? a.sequence < b.sequence : a.sequence > b.sequence;
  }
  return keep_ == Keep::kFirst ? order < 0 : order > 0;
}

bool SortBuffer::would_keep(std::span<const ValueView> key) const {
  if (!limit_ || records_.size() < *limit_) return true;
  if (*limit_ == 0) return false;
  const std::weak_ordering order = compare(key, records_.front()->key);
  return keep_ == Keep::kFirst ? order < 0 : order > 0;
}

void SortBuffer::add(std::span<const ValueView> key, ValueView payload) {
  if (!would_keep(key)) return;
  size_t size = payload.size();
  for (const ValueView part : key) size += part.size();
  auto record = std::make_unique<Record>(size);
  record->sequence = sequence_++;
  record->size = size + sizeof(Record) + key.size() * sizeof(ValueView);
  uint8_t* at = record->bytes.get();
  const auto copy = [&at](ValueView value) {
    if (value.size() > 0) std::memcpy(at, value.data(), value.size());
    const ValueView copied(value.type(), at, value.size());
    at += value.size();
    return copied;
  };
  record->payload = copy(payload);
  record->key.reserve(key.size());
  for (const ValueView part : key) record->key.push_back(copy(part));

  const auto heap_order = [this](const auto& a, const auto& b) { return kept_over(*a, *b); };
  bytes_ += record->size;
  records_.push_back(std::move(record));
  if (!limit_) return;
  if (records_.size() > *limit_) {
    std::pop_heap(records_.begin(), records_.end() - 1, heap_order);
    std::swap(records_[records_.size() - 2], records_.back());
    bytes_ -= records_.back()->size;
    records_.pop_back();
    std::push_heap(records_.begin(), records_.end(), heap_order);
  } else if (records_.size() == *limit_) {
    std::make_heap(records_.begin(), records_.end(), heap_order);
  }
}

Status SortBuffer::sort() {
  return sort_interruptibly(records_,
                            [this](const auto& a, const auto& b) { return before(*a, *b); });
}

void SortBuffer::release(size_t at) {
  bytes_ -= records_[at]->size;
  records_[at].reset();
}

}  // namespace gridmount::query
