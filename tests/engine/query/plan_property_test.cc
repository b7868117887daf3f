// Goal: every document that matches a filter has a key within the bounds of each plan for the
// filter. If the plan calls the bounds exact, no other document has such a key. A plan that claims
// to provide a sort provides it.
// Method: random documents, filters, indexes and sorts from small domains. A hint forces each
// index. Keys and bounds are those of the local store, so the test checks the keys and bounds on
// which the store's scans rely. The seed is printed on failure, and GRIDMOUNT_TEST_SEED replays it.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "engine/bson/builder.h"
#include "engine/local/format/index_key_encoding.h"
#include "engine/local/format/index_key_generation.h"
#include "engine/local/queries/index_bounds.h"
#include "engine/query/plan/planner.h"
#include "tests/engine/bson/random_bson.h"
#include "tests/engine/query/parse_json.h"
#include "tests/sanitized.h"

namespace gridmount::query {
namespace {

using bson::Builder;
using bson::Type;
using bson::Value;

// Draws values from one small pool, so that documents, operands and bounds often match.
class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) { renew(); }

  void renew() {
    pool_.clear();
    arrays_ = static_cast<Arrays>(below(3));
    for (int i = 0; i < 5; ++i) pool_.push_back(random_.value(arrays_ == Arrays::kAny ? 1 : 0));
    pool_.emplace_back(std::numeric_limits<double>::quiet_NaN());
    for (int i = 0; i < 3; ++i) pool_.push_back(random_.number());
    for (int32_t i = 0; i < 3; ++i) pool_.emplace_back(i);
    for (const char* text : {"", "a", "ab", "abc", "b"}) pool_.emplace_back(text);
    for (int i = 0; i < 2; ++i) pool_.emplace_back();  // null
    const std::string beginning(local::kEncodedBytesMax, 'a');
    pool_.emplace_back(beginning + "a");
    pool_.emplace_back(beginning + "b");

    for (const bool value : {false, true}) pool_.emplace_back(value);
    for (size_t& position : frequent_) position = below(pool_.size());

    static const char* const kPaths[] = {"a",   "a",     "a",     "b",   "b",   "a.b",
                                         "a.b", "a.a",   "b.a",   "b.b", "a.0", "a.0",
                                         "b.0", "a.0.b", "b.0.0", "a.1"};
    paths_.clear();
    if (one_in(4)) {
      paths_ = {"a.a", "a.b"};  // paths that may share an array
      return;
    }
    for (int i = 0; i < 4; ++i) paths_.emplace_back(kPaths[below(std::size(kPaths))]);
  }

  size_t below(size_t limit) { return random_.index(limit); }
  bool one_in(size_t n) { return random_.chance(n); }
  // Half of the time returns one of three values, so that several conditions can match at once.
  const Value& pooled() { return pool_[one_in(2) ? frequent_[below(3)] : below(pool_.size())]; }

  void append_value(Builder& builder, std::string_view name, int depth) {
    if (depth > 0 && arrays_ != Arrays::kNone && one_in(3)) {
      builder.open_array(name);
      if (arrays_ == Arrays::kAny) {
        for (size_t i = below(4); i > 0; --i) push_value(builder, depth - 1);
      } else {
        for (size_t i = 1 + below(2); i > 0; --i) push_flat(builder);
      }
      builder.close();
    } else if (depth > 0 && one_in(3)) {
      builder.open_document(name);
      append_fields(builder, depth - 1);
      builder.close();
    } else {
      builder.append(name, pooled());
    }
  }

  void push_value(Builder& builder, int depth) {
    Builder one;
    append_value(one, "", depth);
    builder.push((*std::move(one).finish().view().begin()).value);
  }

  void push_flat(Builder& builder) {
    if (one_in(2)) {
      builder.push(pooled());
    } else {
      builder.push_open_document();
      append_fields(builder, 0);
      builder.close();
    }
  }

  void append_fields(Builder& builder, int depth) {
    for (const char* name : {"a", "b", "0"}) {
      if (one_in(2)) append_value(builder, name, depth);
    }
  }

  static Value regex(std::string_view pattern) {
    Builder builder;
    builder.append_regex("", pattern, "");
    return Value((*std::move(builder).finish().view().begin()).value);
  }

  bson::Document document() {
    Builder builder;
    append_fields(builder, 2);
    return std::move(builder).finish();
  }

  const std::string& path() { return paths_[below(paths_.size())]; }

  // Returns {path: 1 or -1, ...} with each path at most once.
  bson::Document keys() {
    Builder builder;
    std::vector<std::string> used;
    for (size_t i = 1 + below(3); i > 0; --i) {
      const std::string name = path();
      if (std::find(used.begin(), used.end(), name) != used.end()) continue;
      used.push_back(name);
      builder.append(name, one_in(3) ? int32_t{-1} : int32_t{1});
    }
    return std::move(builder).finish();
  }

  void append_operator(Builder& builder, int depth) {
    static const char* const kComparisons[] = {"$eq", "$ne", "$lt", "$lte", "$gt", "$gte"};
    switch (below(depth > 0 ? 12 : 9)) {
      case 0:
        builder.append(one_in(2) ? "$gt" : "$gte", pooled());
        builder.append(one_in(2) ? "$lt" : "$lte", pooled());
        return;
      case 1:
      case 2:
        builder.open_array(one_in(4) ? "$nin" : "$in");
        for (size_t i = below(4); i > 0; --i) {
          builder.push(one_in(8) ? regex(one_in(2) ? "^a" : "b") : pooled());
        }
        builder.close();
        return;
      case 3:
        builder.append("$exists", one_in(3));
        return;
      case 4:
        builder.append("$regex", one_in(2) ? "^a" : "^ab");
        return;
      case 5:
        builder.append("$size", static_cast<int32_t>(below(3)));
        return;
      case 6:
        builder.append("$type", one_in(2) ? "number" : "null");
        return;
      case 9:
        builder.open_document("$not");
        append_operator(builder, depth - 1);
        builder.close();
        return;
      case 10:
        builder.open_document("$elemMatch");
        append_operator(builder, depth - 1);
        builder.close();
        return;
      case 11:
        builder.open_array("$all");
        for (size_t i = 1 + below(2); i > 0; --i) builder.push(pooled());
        builder.close();
        return;
      default:
        builder.append(kComparisons[below(std::size(kComparisons))], pooled());
    }
  }

  // Appends a comparison as an expression, or two comparisons that must both hold.
  void append_expression(Builder& builder, std::string_view name) {
    static const char* const kComparisons[] = {"$eq", "$eq", "$ne", "$lt", "$lte", "$gt", "$gte"};
    builder.open_document(name);
    if (one_in(4)) {
      builder.open_array("$and");
      for (int i = 0; i < 2; ++i) {
        Builder one;
        append_expression(one, "");
        builder.push((*std::move(one).finish().view().begin()).value);
      }
      builder.close().close();
      return;
    }
    builder.open_array(kComparisons[below(std::size(kComparisons))]);
    const bool is_field_first = one_in(2);
    if (is_field_first) builder.push(Value("$" + path()).view());
    builder.push_open_document().append("$literal", pooled()).close();
    if (!is_field_first) builder.push(Value("$" + path()).view());
    builder.close().close();
  }

  void append_conditions(Builder& builder, int depth) {
    for (size_t i = one_in(2) ? 1 : below(4); i > 0; --i) {
      if (one_in(5)) {
        append_expression(builder, "$expr");
        continue;
      }
      const std::string name = path();
      if (one_in(3)) {
        append_value(builder, name, 1);
      } else {
        builder.open_document(name);
        append_operator(builder, 1);
        builder.close();
      }
    }
    if (depth == 2 || !one_in(3)) return;
    static const char* const kLogical[] = {"$and", "$or", "$or", "$or", "$nor"};
    builder.open_array(kLogical[below(std::size(kLogical))]);
    for (size_t i = 1 + below(2); i > 0; --i) {
      builder.push_open_document();
      append_conditions(builder, depth + 1);
      builder.close();
    }
    builder.close();
  }

  bson::Document filter() {
    Builder builder;
    append_conditions(builder, 0);
    return std::move(builder).finish();
  }

 private:
  bson::RandomBson random_;
  std::vector<Value> pool_;
  size_t frequent_[3] = {};
  std::vector<std::string> paths_;
  // Without arrays no index is multikey, and bounds can be exact. The first element of a flat array
  // is not an array, so an index on that position is not multikey either.
  enum class Arrays { kNone, kFlat, kAny };
  Arrays arrays_ = Arrays::kNone;
};

struct StoredKey {
  std::string bytes;  // as in the tree of the index
  std::string encoded;
  size_t document;
};

struct BuiltIndex {
  local::IndexMetadata entry;
  std::vector<StoredKey> keys;  // sorted
};

// Documents and indexes as a store would hold them. A document that an index refuses is not
// inserted.
class Collection {
 public:
  explicit Collection(Generator& generator) {
    for (size_t i = 1 + generator.below(3); i > 0; --i) add_index(generator.keys());
    for (int i = 0; i < 25; ++i) insert(generator.document());
    for (BuiltIndex& index : indexes_) {
      std::sort(index.keys.begin(), index.keys.end(),
                [](const StoredKey& a, const StoredKey& b) { return a.bytes < b.bytes; });
      definitions_.push_back(index.entry.definition);
      multikey_.push_back(index.entry.multikey);
    }
  }

  const std::vector<BuiltIndex>& indexes() const { return indexes_; }
  const std::vector<bson::Document>& documents() const { return documents_; }

  Result<Plan> plan(const Filter& filter, const Sort* sort,
                    const std::optional<Value>& hint) const {
    return make_plan(filter, sort, definitions_, multikey_, hint);
  }

  // A document that a plan's scan returns. `certain` is true if the document needs no check.
  struct Found {
    size_t document;
    bool certain;
  };
  std::vector<Found> scan(const Plan& plan) const {
    std::vector<Found> found;
    if (plan.kind == Plan::Kind::kUnion) {
      for (const Plan& branch : plan.branches) {
        const std::vector<Found> own = scan(branch);
        found.insert(found.end(), own.begin(), own.end());
      }
    } else if (plan.kind == Plan::Kind::kCollectionScan) {
      for (size_t i = 0; i < documents_.size(); ++i) found.push_back({i, plan.bounds_are_exact});
    } else {
      const BuiltIndex& index = indexes_[plan.index];
      const local::IndexBounds bounds(index.entry, plan.bounds);
      for (const StoredKey& key : index.keys) {
        const bool in_range = std::any_of(bounds.ranges().begin(), bounds.ranges().end(),
                                          [&](const local::KeyRange& range) {
                                            return range.low <= key.bytes && key.bytes < range.high;
                                          });
        if (!in_range) continue;
        const local::IndexBounds::Fit fit = bounds.fit(key.encoded);
        if (fit == local::IndexBounds::Fit::kOutside) continue;
        found.push_back(
            {key.document, plan.bounds_are_exact && fit == local::IndexBounds::Fit::kInside});
      }
      if (plan.backward) std::reverse(found.begin(), found.end());
    }
    return found;
  }

 private:
  void add_index(const bson::Document& keys) {
    for (const BuiltIndex& index : indexes_) {
      if (show(index.entry.definition.keys) == show(keys)) return;
    }
    BuiltIndex index;
    index.entry.definition.keys = keys;
    index.entry.definition.name = show(keys);
    index.entry.rules = *local::index_key_spec(index.entry.definition);
    indexes_.push_back(std::move(index));
  }

  void insert(bson::Document document) {
    std::vector<local::KeySet> keys(indexes_.size());
    for (size_t i = 0; i < indexes_.size(); ++i) {
      if (!local::extract_keys(indexes_[i].entry.rules, document, keys[i])) return;
    }
    for (size_t i = 0; i < indexes_.size(); ++i) {
      indexes_[i].entry.multikey = indexes_[i].entry.multikey || keys[i].multikey();
      for (size_t k = 0; k < keys[i].size(); ++k) {
        std::string encoded(keys[i][k]);
        std::string bytes = local::keyspace_prefix(indexes_[i].entry.keyspace) + encoded;
        bytes.append(7, '\0').push_back(static_cast<char>(documents_.size()));  // the record id
        indexes_[i].keys.push_back({std::move(bytes), std::move(encoded), documents_.size()});
      }
    }
    documents_.push_back(std::move(document));
  }

  std::vector<BuiltIndex> indexes_;
  std::vector<bson::Document> documents_;
  std::vector<IndexDefinition> definitions_;
  std::vector<bool> multikey_;
};

// Counts the cases that checked something. Without these counts, a planner that never bounds
// anything would pass.
struct Counts {
  size_t bounded = 0;
  size_t skipped = 0;  // documents outside the bounds
  size_t certain = 0;
  size_t unions = 0;
  size_t sorted = 0;
};

bool has_shortened_key(const BuiltIndex& index) {
  return std::any_of(index.keys.begin(), index.keys.end(),
                     [](const StoredKey& key) { return local::is_truncated(key.encoded); });
}

void check_plan(const Collection& collection, const Filter& filter, const Sort& sort,
                const Plan& plan, Counts& counts) {
  const std::vector<bson::Document>& documents = collection.documents();
  const std::vector<Collection::Found> found = collection.scan(plan);
  std::vector<bool> reached(documents.size(), false);
  for (const Collection::Found& one : found) {
    reached[one.document] = true;
    if (!one.certain) continue;
    ++counts.certain;
    ASSERT_TRUE(filter.matches(documents[one.document]))
        << "said to match: " << show(documents[one.document]);
  }
  for (size_t i = 0; i < documents.size(); ++i) {
    ASSERT_TRUE(reached[i] || !filter.matches(documents[i])) << "missed: " << show(documents[i]);
    counts.skipped += reached[i] ? 0 : 1;
  }
  counts.bounded += plan.kind == Plan::Kind::kIndexScan && !plan.bounds.empty() ? 1 : 0;
  counts.unions += plan.kind == Plan::Kind::kUnion ? 1 : 0;
  // The scan itself sorts the runs of truncated keys.
  if (!plan.provides_sort || has_shortened_key(collection.indexes()[plan.index])) return;
  for (size_t i = 1; i < found.size(); ++i) {
    const bson::View before = documents[found[i - 1].document];
    const bson::View after = documents[found[i].document];
    const Result<std::vector<Value>> key_before = sort.key_of(before);
    const Result<std::vector<Value>> key_after = sort.key_of(after);
    // A document has no key if the paths of the sort lead into several arrays. Only an index whose
    // parts are positions in these arrays has an entry for it.
    if (!key_before || !key_after) continue;
    ++counts.sorted;
    ASSERT_TRUE(sort.compare_keys(*key_before, *key_after) <= 0)
        << "out of order: " << show(before) << ", " << show(after);
  }
}

TEST(PlanPropertyTest, Bounds_LetMatchesThrough_AndOnlyThemIfExact) {
  const uint64_t seed = bson::test_seed();
  Generator generator(seed);
  Counts counts;
  for (int round = 0; round < random_rounds(400); ++round) {
    generator.renew();
    const Collection collection(generator);
    for (int i = 0; i < 40; ++i) {
      const bson::Document specification = generator.filter();
      const Result<Filter> filter = Filter::parse(specification);
      // Comparisons do not accept undefined and regular expressions.
      if (!filter) continue;
      const bson::Document order = generator.keys();
      const Result<Sort> sort = Sort::parse(order);
      ASSERT_TRUE(sort);
      std::vector<std::optional<Value>> hints{std::nullopt};
      for (const BuiltIndex& index : collection.indexes()) {
        hints.emplace_back(Value(index.entry.definition.name));
      }
      for (const std::optional<Value>& hint : hints) {
        for (const Sort* wanted : {static_cast<const Sort*>(nullptr), &*sort}) {
          const Result<Plan> plan = collection.plan(*filter, wanted, hint);
          ASSERT_TRUE(plan);
          check_plan(collection, *filter, *sort, *plan, counts);
          if (!HasFatalFailure()) continue;
          std::string indexes;
          for (const BuiltIndex& index : collection.indexes()) {
            indexes += index.entry.definition.name + (index.entry.multikey ? " (multikey) " : " ");
          }
          FAIL() << "GRIDMOUNT_TEST_SEED=" << seed << ": " << show(specification) << "\nindexes "
                 << indexes << "\nplan for " << (hint ? "a hinted index" : "all indexes")
                 << ", index " << plan->index << ", sort " << show(order);
        }
      }
    }
  }
  EXPECT_GT(counts.bounded, 5000U);
  EXPECT_GT(counts.skipped, random_rounds(50'000U));
  EXPECT_GT(counts.certain, random_rounds(1000U));
  EXPECT_GT(counts.unions, random_rounds(100U));
  EXPECT_GT(counts.sorted, random_rounds(1000U));
}

}  // namespace
}  // namespace gridmount::query
