#include "engine/query/plan/planner.h"

#include <algorithm>
#include <memory>
#include <tuple>

#include "engine/bson/compare.h"
#include "engine/query/plan/implication.h"
#include "engine/query/plan/plan_bounds.h"
#include "engine/query/plan/plan_union.h"
#include "engine/query/plan/text_index_definition.h"
#include "engine/query/plan/wildcard_index_definition.h"
#include "engine/query/plan/wildcard_plan.h"

namespace gridmount::query {
namespace {

struct IndexPart {
  std::string_view path;
  bool descending;
  bool hashed;
  bool text;  // has the terms of a text index
};

constexpr std::string_view kScorePath("\0score", 6);

std::vector<IndexPart> parts_of(const IndexDefinition& index) {
  std::vector<IndexPart> parts;
  bool after_text = false;
  for (const bson::Element element : index.keys.view()) {
    const bool is_text = is_text_part(element);
    // No condition can be on the path of the part with the scores, which follows the terms.
    const std::string_view path = is_text      ? std::string_view(text_path().dotted())
                                  : after_text ? kScorePath
                                               : element.key;
    parts.push_back({path, element.value.number().value_or(1) < 0,
                     element.value.type() == bson::Type::kString && !is_text, is_text});
    after_text = is_text;
  }
  return parts;
}

std::string_view top_level(std::string_view path) {
  return path.substr(0, path.find('.'));
}

bool has_position(const bson::Path& path) {
  return std::any_of(path.parts().begin(), path.parts().end(), [](const std::string& part) {
    return !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
  });
}

bool asks_for_null(const Predicate& predicate) {
  if (predicate.operand() != nullptr) return bson::is_nullish(predicate.operand()->type());
  if (predicate.operands() == nullptr) return false;
  return std::any_of(predicate.operands()->begin(), predicate.operands()->end(),
                     [](bson::ValueView value) { return bson::is_nullish(value.type()); });
}

bool is_of_expression(const Predicate& predicate) {
  switch (predicate.kind()) {
    case Predicate::Kind::kExpressionEqual:
    case Predicate::Kind::kExpressionLess:
    case Predicate::Kind::kExpressionLessEqual:
    case Predicate::Kind::kExpressionGreater:
    case Predicate::Kind::kExpressionGreaterEqual:
      return true;
    default:
      return false;
  }
}

bool is_absence(const Filter& negation) {
  const std::vector<Filter>& negated = negation.children();
  return negated.size() == 1 && negated.front().kind() == Filter::Kind::kPredicate &&
         negated.front().predicate().kind() == Predicate::Kind::kExists;
}

// The conditions that must all hold, as far as the bounds of an index can express them.
struct Conjunction {
  std::vector<const Predicate*> predicates;
  std::vector<const Predicate*> absences;  // {$exists: false}; also counted in `other`
  const Filter* disjunction = nullptr;     // one $or, if there is any
  size_t other = 0;                        // number of all other conditions

  bool has_text() const {
    return std::any_of(predicates.begin(), predicates.end(), [](const Predicate* predicate) {
      return predicate->kind() == Predicate::Kind::kText;
    });
  }
};

void add_condition(const Filter& condition, Conjunction& conjunction) {
  switch (condition.kind()) {
    case Filter::Kind::kPredicate:
      conjunction.predicates.push_back(&condition.predicate());
      for (const std::unique_ptr<Predicate>& implied : condition.predicate().implied()) {
        conjunction.predicates.push_back(implied.get());
      }
      break;
    case Filter::Kind::kOr:
      if (conjunction.disjunction != nullptr) ++conjunction.other;
      conjunction.disjunction = &condition;
      break;
    case Filter::Kind::kNot: {
      const std::vector<Filter>& negated = condition.children();
      if (negated.size() == 1 && negated.front().kind() == Filter::Kind::kNot) {
        // A negation of a negation holds if all conditions in it hold.
        for (const Filter& held : negated.front().children()) add_condition(held, conjunction);
        break;
      }
      if (is_absence(condition)) conjunction.absences.push_back(&negated.front().predicate());
      [[fallthrough]];
    }
    default:
      ++conjunction.other;
  }
}

Conjunction conjunction_of(const Filter& filter) {
  Conjunction conjunction;
  if (filter.kind() == Filter::Kind::kAnd) {
    for (const Filter& child : filter.children()) add_condition(child, conjunction);
  } else {
    add_condition(filter, conjunction);
  }
  return conjunction;
}

struct Choice {
  Plan plan;
  size_t points = 0;   // number of leading parts that are all points
  bool range = false;  // the next part has other bounds

  bool bounded() const { return points > 0 || range; }
  bool useful() const { return points > 0 || range || plan.provides_sort; }
  bool better_than(const Choice& other) const {
    return std::tuple(points, range, plan.provides_sort) >
           std::tuple(other.points, other.range, other.plan.provides_sort);
  }
};

bool all_points(const std::vector<Interval>& intervals) {
  return std::all_of(intervals.begin(), intervals.end(),
                     [](const Interval& interval) { return interval.is_point(); });
}

// Returns whether `a` allows fewer values than `b`, as far as that is known.
bool narrower(const PartBounds& a, const PartBounds& b) {
  const bool a_points = all_points(a.intervals);
  const bool b_points = all_points(b.intervals);
  if (a_points != b_points) return a_points;
  return a_points && a.intervals.size() < b.intervals.size();
}

class IndexPlanner {
 public:
  IndexPlanner(const Conjunction& conjunction, const Sort* sort, const IndexDefinition& index,
               bool multikey, const StringsOfIndex& strings)
      : conjunction_(conjunction),
        sort_(sort),
        parts_(parts_of(index)),
        // The fields of a text index other than its texts cannot have arrays.
        multikey_(multikey && !is_text_index(index)),
        sparse_(index.sparse),
        strings_(strings) {}

  const StringsOfIndex& strings() const { return strings_; }

  // Returns whether a sparse index holds every document that can match. The index leaves out
  // documents that have none of its fields, so at least one condition on one of these fields must
  // not match a missing field.
  bool has_all_without_fields() const {
    const bson::View nothing;
    for (const Predicate* predicate : conjunction_.predicates) {
      for (const IndexPart& part : parts_) {
        if (predicate->path().dotted() == part.path && !predicate->matches(nothing)) return true;
      }
    }
    return false;
  }

  Choice choose() {
    Choice choice;
    choice.plan.kind = Plan::Kind::kIndexScan;
    size_t used = 0;
    bool exact = true;
    std::vector<std::optional<PartBounds>> bounds;
    for (size_t i = 0; i < parts_.size(); ++i) {
      bounds.push_back(bounds_of_part(i, bounds, used));
      if (bounds.back() && parts_[i].hashed) {
        // Hashes have no order, and two values may have the same hash. So only points bound a
        // hashed part, and its bounds are never exact.
        if (!all_points(bounds.back()->intervals)) bounds.back().reset();
        exact = false;
      }
      if (bounds.back()) exact = exact && bounds.back()->exact;
    }
    while (!bounds.empty() && !bounds.back()) bounds.pop_back();
    bool leading = true;
    for (std::optional<PartBounds>& part : bounds) {
      const bool has_points = part && all_points(part->intervals);
      const bool has_bounds = part.has_value();
      choice.plan.bounds.push_back(part ? std::move(part->intervals)
                                        : std::vector<Interval>{all_values()});
      if (!leading) continue;
      leading = has_points;
      if (leading) {
        ++choice.points;
      } else {
        choice.range = has_bounds;
      }
    }
    choice.plan.bounds_are_exact = exact && !multikey_ && used == conjunction_.predicates.size() &&
                                   conjunction_.disjunction == nullptr && conjunction_.other == 0;
    if (sort_ != nullptr && !sort_->empty()) choose_direction(choice.plan);
    return choice;
  }

  // Returns whether each part before the terms of a text index has an equality.
  bool has_text_prefix(const Plan& plan) const {
    for (size_t i = 0; i < parts_.size() && !parts_[i].text; ++i) {
      if (is_single_point(plan, i)) continue;
      const auto is_equality = [&](const Predicate* predicate) {
        return predicate->kind() == Predicate::Kind::kEqual &&
               predicate->path().dotted() == parts_[i].path;
      };
      const bool has_points = i < plan.bounds.size() && all_points(plan.bounds[i]);
      if (!has_points || std::none_of(conjunction_.predicates.begin(),
                                      conjunction_.predicates.end(), is_equality)) {
        return false;
      }
    }
    return true;
  }

 private:
  // In a multikey index, different elements of an array may meet different conditions. So only one
  // condition bounds a part, and only the first bounded part of those that may lie in one array has
  // bounds.
  std::optional<PartBounds> bounds_of_part(size_t part,
                                           const std::vector<std::optional<PartBounds>>& earlier,
                                           size_t& used) const {
    const std::string_view path = parts_[part].path;
    for (size_t i = 0; multikey_ && i < part; ++i) {
      if (earlier[i] && top_level(parts_[i].path) == top_level(path)) return std::nullopt;
    }
    std::optional<PartBounds> bounds;
    for (const Predicate* predicate : conjunction_.predicates) {
      if (predicate->path().dotted() != path) continue;
      // In a path with a number, the number may be a field name. A document in an array lacks this
      // field, and the filter treats the missing field as null. The index has no null for this
      // document, and is not even multikey if the number is always a position.
      if (asks_for_null(*predicate) && has_position(predicate->path())) continue;
      // A sparse index has no entries for array elements that lack its fields, even if it has other
      // entries of the same document.
      if (sparse_ && multikey_ && predicate->matches(bson::View())) continue;
      // An expression compares an array as a whole, and a number in its path is a field name.
      if (is_of_expression(*predicate) && (multikey_ || has_position(predicate->path()))) continue;
      std::optional<PartBounds> own = bounds_of(*predicate, strings_);
      if (!own) continue;
      ++used;
      add(bounds, *std::move(own));
    }
    for (const Predicate* absent : conjunction_.absences) {
      if (absent->path().dotted() != path || has_position(absent->path())) continue;
      add(bounds, bounds_of_absence());
    }
    return bounds;
  }

  void add(std::optional<PartBounds>& bounds, PartBounds own) const {
    if (bounds && !multikey_) {
      bounds = intersect(*bounds, own, strings_.order);
    } else if (!bounds || narrower(own, *bounds)) {
      bounds = std::move(own);
    }
  }

  bool is_single_point(const Plan& plan, size_t part) const {
    return part < plan.bounds.size() && plan.bounds[part].size() == 1 &&
           plan.bounds[part][0].is_point();
  }

  // Sets `provides_sort` and `backward` if the index entries lie in the order of the sort, forward
  // or backward.
  void choose_direction(Plan& plan) const {
    if (multikey_ || sort_->uses_text_score()) return;
    std::optional<bool> backward;
    size_t next = 0;
    for (const Sort::Part& wanted : sort_->parts()) {
      const std::string& path = wanted.path.dotted();
      bool fixed = false;
      for (size_t i = 0; i < parts_.size(); ++i) {
        fixed = fixed || (parts_[i].path == path && is_single_point(plan, i));
      }
      if (fixed) continue;
      while (next < parts_.size() && parts_[next].path != path && is_single_point(plan, next)) {
        ++next;
      }
      if (next == parts_.size() || parts_[next].path != path || parts_[next].hashed) return;
      if (!strings_.match && allows_strings(plan, next)) return;
      const bool against = parts_[next].descending != wanted.descending;
      if (backward.value_or(against) != against) return;
      backward = against;
      ++next;
    }
    plan.provides_sort = true;
    plan.backward = backward.value_or(false);
  }

  const Conjunction& conjunction_;
  const Sort* sort_;
  std::vector<IndexPart> parts_;
  bool multikey_;
  bool sparse_;
  StringsOfIndex strings_;
};

StringsOfIndex strings_of(const IndexDefinition& index, const Collator* collator) {
  const bson::Document* const own = index.own_collation();
  if (own == nullptr) return {collator == nullptr, nullptr, true};
  const bool match = collator != nullptr &&
                     bson::compare(own->view(), collator->collation().document().view()) == 0;
  return {match, match ? collator : nullptr, false};
}

void forget_exactness(Plan& plan) {
  plan.bounds_are_exact = false;
  for (Plan& branch : plan.branches) forget_exactness(branch);
}

// The limit for the number of plans that read one wildcard index, each for another condition.
constexpr size_t kWildcardPlansMax = 16;

// Returns the plans that read a wildcard index, the best one first.
std::vector<Choice> wildcard_choices(const Conjunction& conjunction, const IndexDefinition& index,
                                     size_t position, const StringsOfIndex& strings) {
  std::vector<Choice> choices;
  const WildcardPaths paths = WildcardPaths::of(index);
  for (const Predicate* predicate : conjunction.predicates) {
    if (has_position(predicate->path())) continue;
    std::optional<WildcardBounds> bounds = wildcard_bounds(*predicate, paths, strings);
    if (!bounds) continue;
    Choice choice;
    choice.plan.kind = Plan::Kind::kIndexScan;
    choice.plan.index = position;
    // The point for the path does not count. Otherwise the plan would seem better than a plan with
    // an index on this path alone.
    choice.points = all_points(bounds->paths) && all_points(bounds->values) ? 1 : 0;
    choice.range = choice.points == 0;
    choice.plan.bounds = {std::move(bounds->paths), std::move(bounds->values)};
    choices.push_back(std::move(choice));
  }
  std::stable_sort(choices.begin(), choices.end(),
                   [](const Choice& a, const Choice& b) { return a.better_than(b); });
  if (choices.size() > kWildcardPlansMax) choices.resize(kWildcardPlansMax);
  return choices;
}

// Returns whether a query without a hint may use the index: the index is not hidden, has every
// document that the filter can match, and is a text index if and only if the query has a $text.
Result<bool> is_usable(const Filter& filter, bool has_text, const IndexPlanner& planner,
                       const IndexDefinition& index) {
  if (index.hidden || is_text_index(index) != has_text) return false;
  if (index.sparse && !has_text && !planner.has_all_without_fields()) return false;
  if (!index.partial_filter) return true;
  SharedCollator own;
  if (const bson::Document* const collation = index.own_collation()) {
    GM_ASSIGN(own, Collator::parse(*collation));
  }
  GM_ASSIGN(const Filter condition, Filter::parse(*index.partial_filter, {.collator = own}));
  return implies(filter, condition, planner.strings());
}

// Returns the position of the hinted index. Returns nullopt for {$natural: 1 or -1}, and then sets
// the direction of `scan`.
Result<std::optional<size_t>> find_hinted(const bson::Value& hint,
                                          const std::vector<IndexDefinition>& indexes, Plan& scan) {
  if (hint.type() == bson::Type::kDocument) {
    const bson::View keys = hint.view().as_document();
    if (const std::optional<bson::ValueView> natural = keys.find("$natural")) {
      const std::optional<int64_t> direction = natural->integral();
      if (direction != 1 && direction != -1) {
        return fail(ErrorCode::kBadValue, "$natural hint must be 1 or -1");
      }
      scan.backward = direction == -1;
      return std::optional<size_t>();
    }
    std::optional<size_t> found;
    for (size_t i = 0; i < indexes.size(); ++i) {
      if (bson::compare(keys, indexes[i].keys) != 0) continue;
      if (found) {
        return fail(ErrorCode::kIndexNotFound,
                    "Hint matched multiple indexes, must hint by index name. Matched: " +
                        indexes[*found].name + " and " + indexes[i].name);
      }
      found = i;
    }
    if (found) return found;
  } else if (hint.type() == bson::Type::kString) {
    for (size_t i = 0; i < indexes.size(); ++i) {
      if (indexes[i].name == hint.view().as_string()) return std::optional(i);
    }
  } else {
    return fail(ErrorCode::kFailedToParse, "Hint must be a string or an object");
  }
  return fail(ErrorCode::kBadValue, "hint provided does not correspond to an existing index");
}

tl::unexpected<Error> no_plan(const char* why) {
  constexpr ErrorCode kNoQueryExecutionPlans{291};
  return fail(kNoQueryExecutionPlans,
              std::string("error processing query: planner returned error :: caused by :: ") + why);
}

std::vector<Plan> one(Plan plan) {
  std::vector<Plan> plans;
  plans.push_back(std::move(plan));
  return plans;
}

// Returns whether the plan gives one value for each part of a unique index.
bool is_lookup(const Plan& plan, const IndexDefinition& index) {
  const auto parts = std::distance(index.keys.view().begin(), index.keys.view().end());
  return index.unique && static_cast<ptrdiff_t>(plan.bounds.size()) == parts &&
         std::all_of(plan.bounds.begin(), plan.bounds.end(), [](const auto& intervals) {
           return intervals.size() == 1 && intervals.front().is_point();
         });
}

}  // namespace

Result<std::vector<Plan>> make_plans(const Filter& filter, const Sort* sort,
                                     const std::vector<IndexDefinition>& indexes,
                                     const std::vector<bool>& multikey,
                                     const std::optional<bson::Value>& hint,
                                     const Collator* collator) {
  const Conjunction conjunction = conjunction_of(filter);
  Plan scan;
  scan.bounds_are_exact = conjunction.predicates.empty() && conjunction.disjunction == nullptr &&
                          conjunction.other == 0;
  const auto planner_of = [&](size_t i) {
    return IndexPlanner(conjunction, sort, indexes[i], multikey[i],
                        strings_of(indexes[i], collator));
  };
  const bool has_text = conjunction.has_text();
  if (hint) {
    if (filter.text_query() != nullptr) {
      const bool is_natural = hint->type() == bson::Type::kDocument &&
                              hint->view().as_document().find("$natural").has_value();
      return fail(ErrorCode::kBadValue, is_natural
                                            ? "text expression not allowed with $natural sort order"
                                            : "text and hint not allowed in same query");
    }
    GM_ASSIGN(const std::optional<size_t> hinted, find_hinted(*hint, indexes, scan));
    if (!hinted) return one(std::move(scan));
    // As on servers, a hinted sparse or partial index is used even if it lacks documents that
    // match.
    if (indexes[*hinted].hidden) {
      return fail(ErrorCode::kBadValue,
                  "hint provided does not correspond to an existing index that is not hidden: " +
                      indexes[*hinted].name);
    }
    if (is_text_index(indexes[*hinted])) return no_plan("No query solutions");
    if (is_wildcard_index(indexes[*hinted])) {
      std::vector<Choice> choices = wildcard_choices(conjunction, indexes[*hinted], *hinted,
                                                     strings_of(indexes[*hinted], collator));
      if (choices.empty()) return no_plan("No query solutions");
      return one(std::move(choices.front().plan));
    }
    Plan plan = planner_of(*hinted).choose().plan;
    plan.index = *hinted;
    return one(std::move(plan));
  }
  std::vector<Choice> choices;
  for (size_t i = 0; i < indexes.size(); ++i) {
    IndexPlanner planner = planner_of(i);
    GM_ASSIGN(const bool usable, is_usable(filter, has_text, planner, indexes[i]));
    if (!usable) continue;
    if (is_wildcard_index(indexes[i])) {
      for (Choice& choice :
           wildcard_choices(conjunction, indexes[i], i, strings_of(indexes[i], collator))) {
        choices.push_back(std::move(choice));
      }
      continue;
    }
    Choice choice = planner.choose();
    choice.plan.index = i;
    if (has_text && !planner.has_text_prefix(choice.plan)) continue;
    // As on servers, the greatest score of a term comes first.
    if (has_text && !choice.plan.provides_sort) choice.plan.backward = true;
    if (choice.useful()) choices.push_back(std::move(choice));
  }
  std::stable_sort(choices.begin(), choices.end(),
                   [](const Choice& a, const Choice& b) { return a.better_than(b); });
  const bool bounded = !choices.empty() && choices.front().bounded();
  if (has_text && !bounded) {
    return no_plan(
        "failed to use text index to satisfy $text query (if text index is compound, are equality "
        "predicates given for all prefix fields?)");
  }
  const bool has_text_below = !has_text && filter.text_query() != nullptr;
  if (conjunction.disjunction != nullptr && (!bounded || has_text_below)) {
    GM_ASSIGN(std::optional<Plan> all,
              plan_union(*conjunction.disjunction, indexes, multikey, collator));
    if (all) {
      // The bounds of the branches do not cover the conditions beside the $or.
      if (!conjunction.predicates.empty() || conjunction.other != 0) forget_exactness(*all);
      return one(*std::move(all));
    }
  }
  if (has_text_below) {
    return no_plan(
        "Failed to produce a solution for TEXT under OR - other non-TEXT clauses under OR have to "
        "be indexed as well.");
  }
  if (choices.empty()) return one(std::move(scan));
  const bool finds_one = is_lookup(choices.front().plan, indexes[choices.front().plan.index]);
  std::vector<Plan> plans = one(std::move(choices.front().plan));
  for (size_t i = 1; i < choices.size() && !finds_one; ++i) {
    if (choices[i].bounded()) plans.push_back(std::move(choices[i].plan));
  }
  return plans;
}

Result<Plan> make_plan(const Filter& filter, const Sort* sort,
                       const std::vector<IndexDefinition>& indexes,
                       const std::vector<bool>& multikey, const std::optional<bson::Value>& hint,
                       const Collator* collator) {
  GM_ASSIGN(std::vector<Plan> plans, make_plans(filter, sort, indexes, multikey, hint, collator));
  return std::move(plans.front());
}

}  // namespace gridmount::query
