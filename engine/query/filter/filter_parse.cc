// Parses a query document to the tree of filter.h: fields, $and, $or, $nor. Source: MongoDB manual,
// "Logical Query Operators".

#include <algorithm>

#include "engine/query/filter/filter.h"
#include "engine/query/filter/predicate.h"
#include "engine/query/interruption.h"

namespace gridmount::query {

using bson::Type;
using bson::ValueView;

class FilterParser {
 public:
  static Result<Filter> conjunction(bson::View specification, const FilterPosition& place) {
    GM_TRY(check_depth(place.depth));
    std::vector<Filter> children;
    for (const bson::Element element : specification) GM_TRY(add(element, place, children));
    if (children.size() == 1) return std::move(children[0]);
    return Filter(Filter::Kind::kAnd, std::move(children));
  }

  static Result<Filter> whole(bson::View specification, const FilterOptions& options) {
    FilterMemory memory;
    GM_ASSIGN(Filter filter, conjunction(specification, FilterPosition{options, memory}));
    size_t searches = 0;
    GM_TRY(check_text(filter, false, searches));
    filter.reservation_ = memory.release();
    if (options.explains_failures) {
      filter.source_ = std::make_unique<Filter::Source>(
          Filter::Source{bson::Document(specification), options.collator});
    }
    return filter;
  }

 private:
  // Counts the $text conditions. Fails if there are several, or if one is within a $nor or $not.
  static Status check_text(const Filter& filter, bool negated, size_t& searches) {
    if (filter.kind_ == Filter::Kind::kPredicate) {
      if (filter.predicate_->kind() != Predicate::Kind::kText) return {};
      if (negated) return fail(ErrorCode::kBadValue, "text expression not allowed in nor");
      if (++searches > 1) return fail(ErrorCode::kBadValue, "Too many text expressions");
      return {};
    }
    const bool negates = filter.kind_ == Filter::Kind::kNor || filter.kind_ == Filter::Kind::kNot;
    for (const Filter& child : filter.children_) {
      GM_TRY(check_text(child, negated || negates, searches));
    }
    return {};
  }

  static Status add(const bson::Element& element, const FilterPosition& place,
                    std::vector<Filter>& children) {
    const std::string_view key = element.key;
    GM_TRY(place.memory.take(FilterMemory::kConditionBytes + 3 * key.size()));
    if (!key.starts_with('$')) return add_field(element, place, children);
    if (key == "$and") return add_logical(element, Filter::Kind::kAnd, place, children);
    if (key == "$or") return add_logical(element, Filter::Kind::kOr, place, children);
    if (key == "$nor") return add_logical(element, Filter::Kind::kNor, place, children);
    // $ref, $id and $db are fields of a DBRef.
    if (bson::is_reference_field(key)) return add_equality(element, place, children);
    GM_ASSIGN(std::unique_ptr<Predicate> predicate, parse_document_operator(element, place));
    if (predicate) children.push_back(Filter(std::move(predicate)));
    return {};
  }

  static Status add_logical(const bson::Element& element, Filter::Kind kind,
                            const FilterPosition& place, std::vector<Filter>& children) {
    const std::string name(element.key);
    if (element.value.type() != Type::kArray) {
      return fail(ErrorCode::kBadValue, name + " must be an array");
    }
    std::vector<Filter> branches;
    for (const bson::Element branch : element.value.as_document()) {
      if (branch.value.type() != Type::kDocument) {
        return fail(ErrorCode::kBadValue, "$or/$and/$nor entries need to be full objects");
      }
      GM_ASSIGN(Filter parsed, conjunction(branch.value.as_document(), place.below()));
      branches.push_back(std::move(parsed));
    }
    if (branches.empty()) {
      return fail(ErrorCode::kBadValue, "$and/$or/$nor must be a nonempty array");
    }
    if (kind == Filter::Kind::kAnd || (kind == Filter::Kind::kOr && branches.size() == 1)) {
      // The branches become conditions of the outer conjunction, so that the planner and upserts
      // see all conditions side by side.
      for (Filter& branch : branches) {
        if (branch.kind_ == Filter::Kind::kAnd) {
          for (Filter& child : branch.children_) children.push_back(std::move(child));
        } else {
          children.push_back(std::move(branch));
        }
      }
      return {};
    }
    children.push_back(Filter(kind, std::move(branches)));
    return {};
  }

  static Status add_field(const bson::Element& element, const FilterPosition& place,
                          std::vector<Filter>& children) {
    const std::string_view path = element.key;
    // No stored document is nested so deep, and servers refuse the path.
    if (std::count(path.begin(), path.end(), '.') >= std::ptrdiff_t{bson::kMaxStoredDepth}) {
      constexpr ErrorCode kPathTooLong{5729100};
      return fail(kPathTooLong, "FieldPath is too long");
    }
    const ValueView value = element.value;
    if (!is_operator_document(value)) return add_equality(element, place, children);
    GM_ASSIGN(std::vector<TestGroup> groups, parse_operators(path, value.as_document(), place));
    for (TestGroup& group : groups) add_group(bson::Path(path), std::move(group), children);
    return {};
  }

  static Status add_equality(const bson::Element& element, const FilterPosition& place,
                             std::vector<Filter>& children) {
    GM_TRY(place.memory.take(element.value.size()));
    GM_ASSIGN(std::unique_ptr<ValueTest> test, parse_implicit(element.value, place));
    children.push_back(
        Filter(std::make_unique<PathPredicate>(bson::Path(element.key), std::move(test))));
    return {};
  }

  static void add_group(const bson::Path& path, TestGroup group, std::vector<Filter>& children) {
    std::vector<Filter> all;
    std::vector<Filter>& target = group.negated ? all : children;
    for (std::unique_ptr<ValueTest>& test : group.tests) {
      target.push_back(Filter(std::make_unique<PathPredicate>(path, std::move(test))));
    }
    for (TestGroup& inner : group.groups) add_group(path, std::move(inner), target);
    if (group.negated) children.push_back(Filter(Filter::Kind::kNot, std::move(all)));
  }
};

Status FilterMemory::take(size_t bytes) {
  GM_TRY(check_interruption());
  if (bytes <= left_) {
    left_ -= bytes;
    const size_t taken = kFilterBytesMax - left_;
    if (taken <= FilterReservation::kBytesWithoutReservation) return {};
    if (!reservation_) reservation_ = std::make_unique<FilterReservation>();
    return reservation_->grow_to(taken);
  }
  return fail(ErrorCode::kExceededMemoryLimit,
              "the filter needs more than " + std::to_string(kFilterBytesMax) + " bytes of memory");
}

std::unique_ptr<FilterReservation> FilterMemory::release() {
  return std::move(reservation_);
}

Result<Filter> parse_filter(bson::View specification, const FilterPosition& place) {
  return FilterParser::conjunction(specification, place);
}

Result<Filter> Filter::parse(bson::View specification, const FilterOptions& options) {
  return FilterParser::whole(specification, options);
}

}  // namespace gridmount::query
