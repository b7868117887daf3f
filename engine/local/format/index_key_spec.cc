#include "engine/local/format/index_key_spec.h"

#include <algorithm>
#include <cmath>

#include "engine/checksum/crc32c.h"
#include "engine/local/format/index_key_encoding.h"
#include "engine/query/plan/text_index_definition.h"

namespace gridmount::local {
namespace {

using query::Filter;
using query::Predicate;

// Makes errors that name the index and the reason.
class Refusal {
 public:
  explicit Refusal(const query::IndexDefinition& definition)
      : index_("index '" + definition.name + "': ") {}
  tl::unexpected<Error> operator()(const std::string& why) const {
    return fail(ErrorCode::kCannotCreateIndex, index_ + why);
  }

 private:
  std::string index_;
};

Result<IndexPart> part_of(const bson::Element& element, const Refusal& refuse) {
  const std::string name(element.key);
  IndexPart part{bson::Path(name)};
  bool is_first = true;
  for (const std::string& step : part.path.parts()) {
    if (step.empty()) return refuse("a key's name is empty or has an empty part");
    if (name == "$**" || name.ends_with(".$**")) {
      return refuse("the value of a wildcard index must be a number greater than 0");
    }
    // Below another field, these names are fields of a DBRef, which may be indexed.
    const bool of_reference = !is_first && (step == "$ref" || step == "$id" || step == "$db");
    if (step[0] == '$' && !of_reference) {
      return refuse("the key '" + name + "' has a part beginning with '$'");
    }
    is_first = false;
  }
  if (query::is_text_part(element)) {
    if (name != query::kTextTermField)
      return refuse("the definition of the text index is incomplete");
    part.text = true;
    return part;
  }
  if (element.value.type() == bson::Type::kString) {
    const std::string_view kind = element.value.as_string();
    if (kind != "hashed") {
      return refuse("indexes of the kind '" + std::string(kind) + "' are not supported");
    }
    part.hashed = true;
    return part;
  }
  const std::optional<double> direction = element.value.number();
  if (!direction || *direction == 0 || std::isnan(*direction)) {
    return refuse("the value of the key '" + name +
                  "' must be a number greater or less than 0, or a kind of index");
  }
  part.descending = *direction < 0;
  return part;
}

// Refuses the operators that MongoDB refuses in a partialFilterExpression. For the operators that
// are allowed, the planner can decide from a query alone whether all documents that match the query
// match the filter.
Status check_partial(const Filter& filter, const Refusal& refuse) {
  switch (filter.kind()) {
    case Filter::Kind::kAnd:
    case Filter::Kind::kOr:
      for (const Filter& child : filter.children()) GM_TRY(check_partial(child, refuse));
      return {};
    case Filter::Kind::kPredicate:
      switch (filter.predicate().kind()) {
        case Predicate::Kind::kEqual:
        case Predicate::Kind::kLess:
        case Predicate::Kind::kLessEqual:
        case Predicate::Kind::kGreater:
        case Predicate::Kind::kGreaterEqual:
        case Predicate::Kind::kIn:
        case Predicate::Kind::kExists:
        case Predicate::Kind::kType:
          return {};
        default:
          break;
      }
      [[fallthrough]];
    default:
      return refuse(
          "a partialFilterExpression may use equality, $exists: true, $gt, $gte, $lt, $lte, $in, "
          "$type, $and and $or only");
  }
}

}  // namespace

Result<IndexKeySpec> index_key_spec(const query::IndexDefinition& definition) {
  const Refusal refuse(definition);
  IndexKeySpec rules;
  if (const bson::Document* const collation = definition.own_collation()) {
    GM_ASSIGN(rules.collator, query::Collator::parse(*collation));
  }
  const bool is_wildcard = query::is_wildcard_index(definition);
  if (is_wildcard) {
    GM_TRY(query::check_wildcard_index(definition));
    rules.wildcard =
        std::make_shared<const query::WildcardPaths>(query::WildcardPaths::of(definition));
    IndexPart paths{bson::Path(query::kWildcardPathField)};
    paths.wildcard_path = true;
    rules.parts.push_back(std::move(paths));
    IndexPart values{bson::Path((*definition.keys.view().begin()).key)};
    values.collator = rules.collator;
    rules.parts.push_back(std::move(values));
  }
  for (const bson::Element element : definition.keys.view()) {
    if (is_wildcard && element.value.is_number()) break;
    GM_ASSIGN(IndexPart part, part_of(element, refuse));
    for (const IndexPart& earlier : rules.parts) {
      if (earlier.path.dotted() == part.path.dotted()) {
        return refuse("the key '" + std::string(element.key) + "' is given twice");
      }
      if (earlier.hashed && part.hashed) {
        constexpr ErrorCode kSeveralHashed{31303};
        return fail(kSeveralHashed, "A maximum of one index field is allowed to be hashed");
      }
    }
    part.collator = rules.collator;
    part.text_score = !rules.parts.empty() && rules.parts.back().text;
    rules.parts.push_back(std::move(part));
  }
  if (rules.parts.empty()) return refuse("no keys are given");
  if (rules.parts.size() > kMaxIndexParts) {
    constexpr ErrorCode kTooManyKeys{13103};
    return fail(kTooManyKeys, "too many compound keys: more than " +
                                  std::to_string(kMaxIndexParts) + " are given");
  }
  const bool hashed = std::any_of(rules.parts.begin(), rules.parts.end(),
                                  [](const IndexPart& part) { return part.hashed; });
  if (hashed && definition.unique) {
    constexpr ErrorCode kUniqueHashedIndex{16764};
    return fail(kUniqueHashedIndex,
                "Currently hashed indexes cannot guarantee uniqueness. Use a regular index.");
  }
  if (query::is_text_index(definition)) {
    GM_ASSIGN(query::TextIndexSpec text, query::TextIndexSpec::parse(definition.other_options));
    rules.text = std::make_shared<const query::TextIndexSpec>(std::move(text));
  }
  rules.sparse = definition.sparse;
  if (definition.partial_filter) {
    GM_ASSIGN(Filter partial,
              Filter::parse(*definition.partial_filter,
                            {.special_operators = false, .collator = rules.collator}));
    GM_TRY(check_partial(partial, refuse));
    rules.partial = std::make_shared<const Filter>(std::move(partial));
  }
  return rules;
}

std::string IndexKeySpec::library_version() const {
  if (text != nullptr) return query::text_rules_version();
  return collator != nullptr ? collator->library_version() : std::string();
}

void append_part(std::string& out, const IndexPart& part,
                 const std::optional<bson::ValueView>& value) {
  if (!part.hashed) {
    if (value) {
      bson::append_key_string(out, *value, part.descending, part.collator.get());
    } else {
      append_encoded_missing(out, part.descending);
    }
    return;
  }
  std::string encoded;
  if (value) {
    bson::append_key_string(encoded, *value, false, part.collator.get());
  } else {
    append_encoded_missing(encoded, false);
  }
  bson::append_key_string(out, bson::Value(bson::Date{hash_of_encoded(encoded)}), false);
}

}  // namespace gridmount::local
