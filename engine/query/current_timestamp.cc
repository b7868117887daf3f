#include "engine/query/current_timestamp.h"

#include <algorithm>
#include <atomic>

#include "engine/bson/builder.h"

namespace gridmount::query {

bson::Timestamp current_timestamp() {
  static std::atomic<uint64_t> last{0};
  const auto seconds = static_cast<uint64_t>(bson::Date::now().milliseconds / 1000);
  uint64_t before = last.load();
  uint64_t next = 0;
  do {
    next = std::max(before + 1, seconds << 32 | 1);
  } while (!last.compare_exchange_weak(before, next));
  return {static_cast<uint32_t>(next >> 32), static_cast<uint32_t>(next)};
}

bool is_to_be_filled_in(const bson::Element& element) {
  return element.value.type() == bson::Type::kTimestamp &&
         element.value.as_timestamp() == bson::Timestamp{} && element.key != "_id";
}

bson::Document with_timestamps(bson::View document) {
  if (std::none_of(document.begin(), document.end(), is_to_be_filled_in)) {
    return bson::Document(document);
  }
  bson::Builder builder;
  for (const bson::Element element : document) {
    if (is_to_be_filled_in(element)) {
      builder.append(element.key, current_timestamp());
    } else {
      builder.append(element.key, element.value);
    }
  }
  return std::move(builder).finish();
}

}  // namespace gridmount::query
