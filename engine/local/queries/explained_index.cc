#include "engine/local/queries/explained_index.h"

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/hex.h"
#include "engine/bson/text.h"

namespace gridmount::local {
namespace {

using bson::Builder;
using query::Interval;

bool is_descending(const bson::Element& part) {
  return part.value.number().value_or(1) < 0;
}

// A string in an index with a collation is shown by its sort key.
std::string shown(bson::ValueView value, const query::Collator* collator) {
  if (collator != nullptr && value.type() == bson::Type::kString) {
    std::string sort_key;
    if (!value.as_string().empty()) collator->append_sort_key(sort_key, value.as_string());
    return "CollationKey(0x" + to_hex(sort_key) + ")";
  }
  // to_text() truncates a long string, possibly within a character.
  return bson::valid_text(bson::to_text(value));
}

std::string shown(const Interval& interval, bool backward, const query::Collator* collator) {
  const std::string low = shown(interval.low.view(), collator);
  const std::string high = shown(interval.high.view(), collator);
  if (backward) {
    return (interval.high_inclusive ? "[" : "(") + high + ", " + low +
           (interval.low_inclusive ? "]" : ")");
  }
  return (interval.low_inclusive ? "[" : "(") + low + ", " + high +
         (interval.high_inclusive ? "]" : ")");
}

bool is_everything(const Interval& interval) {
  return interval.low.type() == bson::Type::kMinKey && interval.high.type() == bson::Type::kMaxKey;
}

Interval everything() {
  return {bson::Value::min_key(), bson::Value::max_key(), true, true};
}

}  // namespace

bson::Document key_pattern(const IndexMetadata& index, const query::Plan& plan) {
  if (index.rules.wildcard == nullptr || plan.bounds.empty() || plan.bounds[0].empty()) {
    return index.definition.keys;
  }
  Builder keys;
  keys.append(query::kWildcardPathField, int32_t{1});
  keys.append(plan.bounds[0].front().low.view().as_string(), int32_t{1});
  return std::move(keys).finish();
}

void append_bounds(Builder& out, const IndexMetadata& index, const query::Plan& plan) {
  const bson::Document keys = key_pattern(index, plan);
  Builder& bounds = out.open_document("indexBounds");
  // As on servers, a text index has no bounds: parsedTextQuery has the terms.
  if (index.rules.text != nullptr) {
    bounds.close();
    return;
  }
  size_t part = 0;
  for (const bson::Element key : keys.view()) {
    Builder& list = bounds.open_array(key.key);
    const bool backward = plan.backward != is_descending(key);
    const query::Collator* const collator =
        index.rules.parts[part].wildcard_path ? nullptr : index.rules.collator.get();
    if (part < plan.bounds.size()) {
      for (const Interval& interval : plan.bounds[part]) {
        list.push(bson::Value(shown(interval, backward, collator)).view());
      }
    } else {
      list.push(bson::Value(shown(everything(), backward, collator)).view());
    }
    list.close();
    ++part;
  }
  bounds.close();
}

std::optional<KeyRun> run_of(const IndexMetadata& index, const query::Plan& plan) {
  if (index.rules.wildcard != nullptr) return std::nullopt;
  Builder first;
  Builder last;
  KeyRun run;
  bool open = true;  // all parts so far have a single point
  size_t part = 0;
  for (const bson::Element key : index.definition.keys.view()) {
    if (key.value.type() == bson::Type::kString) return std::nullopt;  // hashed or text
    Interval interval = everything();
    if (part < plan.bounds.size()) {
      if (plan.bounds[part].size() != 1) return std::nullopt;
      interval = plan.bounds[part].front();
    }
    ++part;
    if (!open && !is_everything(interval)) return std::nullopt;
    if (is_descending(key)) {
      std::swap(interval.low, interval.high);
      std::swap(interval.low_inclusive, interval.high_inclusive);
    }
    bson::Value start = interval.low;
    bson::Value end = interval.high;
    if (open) {
      open = interval.is_point();
      run.first_inclusive = interval.low_inclusive;
      run.last_inclusive = interval.high_inclusive;
    } else {
      // The range begins after all keys of an excluded value, or ends before them.
      if (!run.first_inclusive) start = interval.high;
      if (!run.last_inclusive) end = interval.low;
    }
    first.append(key.key, start);
    last.append(key.key, end);
  }
  run.first = std::move(first).finish();
  run.last = std::move(last).finish();
  return run;
}

void append_multikey_paths(Builder& out, const IndexMetadata& index) {
  const bson::View keys = index.definition.keys.view();
  const bool single = std::next(keys.begin()) == keys.end() &&
                      (*keys.begin()).key.find('.') == std::string_view::npos;
  if ((index.multikey && !single) || index.rules.text != nullptr ||
      index.rules.wildcard != nullptr) {
    return;
  }
  Builder& paths = out.open_document("multiKeyPaths");
  for (const bson::Element key : keys) {
    Builder& list = paths.open_array(key.key);
    if (index.multikey) list.push(bson::Value(key.key).view());
    list.close();
  }
  paths.close();
}

}  // namespace gridmount::local
