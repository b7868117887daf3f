// The distinct values at a path. Source: MongoDB manual, "distinct".

#include <set>

#include "engine/aggregation/aggregate.h"
#include "engine/bson/compare.h"
#include "engine/bson/dotted_path.h"
#include "engine/query/interruption.h"

namespace gridmount::aggregation {
namespace {

struct ValueLess {
  using is_transparent = void;
  const bson::StringOrder* strings;
  template <typename A, typename B>
  bool operator()(const A& a, const B& b) const {
    return bson::compare(view(a), view(b), strings) < 0;
  }
  static bson::ValueView view(const bson::Value& value) { return value.view(); }
  static bson::ValueView view(bson::ValueView value) { return value; }
};

class DistinctValues {
 public:
  explicit DistinctValues(const bson::StringOrder* strings) : values_(ValueLess{strings}) {}

  Status add(bson::ValueView value) {
    if (value.type() != bson::Type::kArray) return add_single(value);
    for (const bson::Element element : value.as_document()) GM_TRY(add_single(element.value));
    return {};
  }

  std::vector<bson::Value> take() && {
    std::vector<bson::Value> values;
    values.reserve(values_.size());
    while (!values_.empty()) values.push_back(values_.extract(values_.begin()).value());
    return values;
  }

 private:
  Status add_single(bson::ValueView value) {
    GM_TRY(query::check_interruption());
    if (values_.find(value) != values_.end()) return {};
    bytes_ += value.size() + kElementBytes;
    if (bytes_ > bson::kMaxDocumentBytes) {
      return fail(ErrorCode::kDistinctTooLarge, "distinct too big, 16mb cap");
    }
    values_.emplace(value);
    return {};
  }

  // The least size of the type and name of an element in the reply's array.
  static constexpr size_t kElementBytes = 3;

  std::set<bson::Value, ValueLess> values_;
  size_t bytes_ = 0;
};

}  // namespace

Result<std::vector<bson::Value>> distinct_values(engine::Cursor& cursor, std::string_view path,
                                                 const bson::StringOrder* strings) {
  const bson::Path parsed(path);
  DistinctValues values(strings);
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> document, cursor.next());
    if (!document) return std::move(values).take();
    Status added;
    parsed.visit(*document, [&](const bson::Path::Reached& reached) {
      if (reached.value) added = values.add(*reached.value);
      return added.has_value();
    });
    GM_TRY(added);
  }
}

}  // namespace gridmount::aggregation
