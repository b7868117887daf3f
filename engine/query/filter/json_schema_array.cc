// Keywords for arrays: minItems, maxItems, uniqueItems, items, additionalItems.

#include <algorithm>
#include <iterator>

#include "engine/bson/compare.h"
#include "engine/query/filter/filter_number.h"
#include "engine/query/filter/json_schema_keyword.h"
#include "engine/query/interruptible_sort.h"

namespace gridmount::query {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;
using bson::ValueView;

int32_t number_of_items(bson::View array) {
  return static_cast<int32_t>(std::distance(array.begin(), array.end()));
}

class ItemCountKeyword : public SpecifiedKeyword {
 public:
  ItemCountKeyword(const Element& element, int64_t count)
      : SpecifiedKeyword(element), count_(count), is_minimum_(element.key == "minItems") {}

  bool allows(ValueView value, MatchContext&) const override {
    if (value.type() != Type::kArray) return true;
    const int32_t count = number_of_items(value.as_document());
    return is_minimum_ ? count >= count_ : count <= count_;
  }
  void explain(ValueView value, FailureBuilder& failures) const override {
    open_failure(failures, "array did not match specified length");
    failures.append_value("consideredValue", value);
    failures.out().append("numberOfItems", number_of_items(value.as_document())).close();
  }

 private:
  int64_t count_;
  bool is_minimum_;
};

class UniqueItemsKeyword : public SpecifiedKeyword {
 public:
  using SpecifiedKeyword::SpecifiedKeyword;

  bool allows(ValueView value, MatchContext& context) const override {
    return value.type() != Type::kArray || !duplicate_in(value.as_document(), context);
  }
  void explain(ValueView value, FailureBuilder& failures) const override {
    open_failure(failures, "found a duplicate item");
    failures.append_value("consideredValue", value);
    MatchContext context;
    const std::optional<Value> duplicate = duplicate_in(value.as_document(), context);
    if (duplicate) failures.append_value("duplicatedValue", *duplicate);
    failures.out().close();
  }

 private:
  static std::optional<Value> duplicate_in(bson::View array, MatchContext& context) {
    std::vector<Value> items;
    for (const Element element : array) {
      if (context.has_ended(element.value.size())) return std::nullopt;
      items.push_back(with_sorted_fields(element.value));
    }
    const Status sorted = sort_interruptibly(
        items, [](const Value& a, const Value& b) { return bson::compare(a, b) < 0; });
    if (!sorted) {
      context.fail(sorted.error());
      return std::nullopt;
    }
    const auto same = [](const Value& a, const Value& b) { return bson::compare(a, b) == 0; };
    const auto at = std::adjacent_find(items.begin(), items.end(), same);
    return at == items.end() ? std::nullopt : std::optional(*at);
  }
};

// items: {...}, or additionalItems: {...}: one schema for all items from the index `first` on.
class AllItemsKeyword : public SchemaKeyword {
 public:
  AllItemsKeyword(std::string_view name, size_t first, JsonSchema schema)
      : name_(name), first_(first), schema_(std::move(schema)) {}

  bool allows(ValueView value, MatchContext& context) const override {
    return value.type() != Type::kArray || !find_failing(value.as_document(), context);
  }
  void explain(ValueView value, FailureBuilder& failures) const override {
    MatchContext context;
    const auto failing = find_failing(value.as_document(), context);
    if (!failing) return;
    bson::Builder& out = failures.out().push_open_document().append("operatorName", name_);
    schema_.append_annotations(out);
    out.append("reason", name_ == "items"
                             ? "At least one item did not match the sub-schema"
                             : "At least one additional item did not match the sub-schema");
    out.append("itemIndex", static_cast<int64_t>(failing->position)).open_array("details");
    schema_.explain(failing->value, failures);
    out.close().close();
  }

 private:
  struct Failing {
    size_t position;
    ValueView value;
  };
  std::optional<Failing> find_failing(bson::View array, MatchContext& context) const {
    size_t position = 0;
    for (const Element element : array) {
      if (position >= first_ && !schema_.allows(element.value, context)) {
        return Failing{position, element.value};
      }
      ++position;
    }
    return std::nullopt;
  }

  std::string name_;
  size_t first_;
  JsonSchema schema_;
};

// items: [...]: one schema for each of the first items.
class EachItemKeyword : public SchemaKeyword {
 public:
  explicit EachItemKeyword(std::vector<JsonSchema> schemas) : schemas_(std::move(schemas)) {}

  bool allows(ValueView value, MatchContext& context) const override {
    if (value.type() != Type::kArray) return true;
    auto schema = schemas_.begin();
    for (const Element element : value.as_document()) {
      if (schema == schemas_.end()) break;
      if (!(schema++)->allows(element.value, context)) return false;
    }
    return true;
  }
  void explain(ValueView value, FailureBuilder& failures) const override {
    bson::Builder& out = failures.out();
    out.push_open_document().append("operatorName", "items").open_array("details");
    int32_t position = 0;
    for (const Element element : value.as_document()) {
      if (position == static_cast<int32_t>(schemas_.size())) break;
      const JsonSchema& schema = schemas_[static_cast<size_t>(position)];
      MatchContext context;
      if (!schema.allows(element.value, context)) {
        out.push_open_document().append("itemIndex", position);
        schema.append_annotations(out);
        out.open_array("details");
        schema.explain(element.value, failures);
        out.close().close();
      }
      ++position;
    }
    out.close().close();
  }

 private:
  std::vector<JsonSchema> schemas_;
};

// additionalItems: false.
class NoMoreItemsKeyword : public SpecifiedKeyword {
 public:
  NoMoreItemsKeyword(const Element& element, size_t first)
      : SpecifiedKeyword(element), first_(first) {}

  bool allows(ValueView value, MatchContext&) const override {
    return value.type() != Type::kArray ||
           static_cast<size_t>(number_of_items(value.as_document())) <= first_;
  }
  void explain(ValueView value, FailureBuilder& failures) const override {
    open_failure(failures, "found additional items");
    bson::Builder items;
    items.open_array("items");
    size_t position = 0;
    for (const Element element : value.as_document()) {
      if (position++ >= first_) items.push(element.value);
    }
    items.close();
    const bson::Document document = std::move(items).finish();
    failures.append_value("additionalItems", document.view()["items"]);
    failures.out().close();
  }

 private:
  size_t first_;
};

Status add_item_count(const SchemaElements& elements, std::string_view name,
                      SchemaKeywords& keywords) {
  const std::optional<Element> element = elements.find(name);
  if (!element) return {};
  GM_ASSIGN(const int64_t count, non_negative_integer(element->key, element->value));
  keywords.push_back(std::make_unique<ItemCountKeyword>(*element, count));
  return {};
}

Status add_unique_items(const SchemaElements& elements, SchemaKeywords& keywords) {
  const std::optional<Element> element = elements.find("uniqueItems");
  if (!element) return {};
  if (element->value.type() != Type::kBool) {
    return refuse_keyword(ErrorCode::kTypeMismatch, element->key, "must be a boolean");
  }
  if (element->value.as_bool()) keywords.push_back(std::make_unique<UniqueItemsKeyword>(*element));
  return {};
}

// Returns the number of items that have their own schema. Returns nullopt if additionalItems has no
// effect.
Result<std::optional<size_t>> add_items(const SchemaElements& elements, SchemaKeywords& keywords) {
  const std::optional<Element> element = elements.find("items");
  if (!element) return std::optional<size_t>();
  if (element->value.type() == Type::kDocument) {
    GM_ASSIGN(JsonSchema schema, elements.parse_below(element->value.as_document()));
    keywords.push_back(std::make_unique<AllItemsKeyword>("items", 0, std::move(schema)));
    return std::optional<size_t>();
  }
  if (element->value.type() != Type::kArray) {
    return refuse_keyword(ErrorCode::kTypeMismatch, element->key,
                          "must be an array or an object, not " +
                              std::string(bson::type_alias(element->value.type())));
  }
  std::vector<JsonSchema> schemas;
  for (const Element item : element->value.as_document()) {
    if (item.value.type() != Type::kDocument) {
      return refuse_keyword(ErrorCode::kTypeMismatch, element->key,
                            "requires that each element of the array is an object, but found a " +
                                std::string(bson::type_alias(item.value.type())));
    }
    GM_ASSIGN(JsonSchema schema, elements.parse_below(item.value.as_document()));
    schemas.push_back(std::move(schema));
  }
  const size_t count = schemas.size();
  keywords.push_back(std::make_unique<EachItemKeyword>(std::move(schemas)));
  return std::optional(count);
}

Status add_additional_items(const SchemaElements& elements, std::optional<size_t> first,
                            SchemaKeywords& keywords) {
  const std::optional<Element> element = elements.find("additionalItems");
  if (!element) return {};
  if (element->value.type() == Type::kBool) {
    if (first && !element->value.as_bool()) {
      keywords.push_back(std::make_unique<NoMoreItemsKeyword>(*element, *first));
    }
    return {};
  }
  if (element->value.type() != Type::kDocument) {
    return refuse_keyword(ErrorCode::kTypeMismatch, element->key,
                          "must be either an object or a boolean, but got a " +
                              std::string(bson::type_alias(element->value.type())));
  }
  GM_ASSIGN(JsonSchema schema, elements.parse_below(element->value.as_document()));
  if (first) {
    keywords.push_back(std::make_unique<AllItemsKeyword>(element->key, *first, std::move(schema)));
  }
  return {};
}

}  // namespace

Status parse_array_keywords(const SchemaElements& elements, SchemaKeywords& keywords) {
  GM_TRY(add_item_count(elements, "minItems", keywords));
  GM_TRY(add_item_count(elements, "maxItems", keywords));
  GM_TRY(add_unique_items(elements, keywords));
  GM_ASSIGN(const std::optional<size_t> first, add_items(elements, keywords));
  return add_additional_items(elements, first, keywords);
}

}  // namespace gridmount::query
