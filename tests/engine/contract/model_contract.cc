// Goal: whatever indexes exist, the store answers like a list of documents.
// Method: random documents, filters, updates, removals, sorts, index changes and rollbacks run
// against the store and against a vector of documents, to which query::Filter, Update and Sort are
// applied one by one. The seed is printed, and GRIDMOUNT_SEED replays it. GRIDMOUNT_MODEL_RUNS=600
// makes a million operations.

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>

#include "engine/bson/compare.h"
#include "engine/query/filter/filter.h"
#include "engine/query/projection/projection.h"
#include "engine/query/sort.h"
#include "engine/query/update/update.h"
#include "tests/engine/contract/store_contract.h"
#include "tests/sanitized.h"

namespace gridmount::engine {
namespace {

uint64_t chosen_seed() {
  const char* given = std::getenv("GRIDMOUNT_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device()();
}

// Returns the number of runs. Each run makes about 1,700 operations, under a sanitizer a quarter of
// them.
uint64_t chosen_runs() {
  const char* given = std::getenv("GRIDMOUNT_MODEL_RUNS");
  return given != nullptr ? std::strtoull(given, nullptr, 0) : 1;
}

// Makes random values, documents and specifications from small domains, so that they often match.
class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  int below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }
  bool one_in(int n) { return below(n) == 0; }

  std::string_view random_type() {
    static constexpr std::string_view kTypes[] = {"double", "string", "object", "array", "objectId",
                                                  "bool",   "date",   "null",   "int",   "number"};
    return kTypes[below(std::size(kTypes))];
  }

  std::string text() {
    static const std::string kLong(500, 'l');
    static const std::vector<std::string> kTexts = {
        "",    "a",         "ab",        "a/b", "a/c", "a/bc",       "b",
        kLong, kLong + "a", kLong + "b", "0",   "ac",  kLong + "a/b"};
    return kTexts[static_cast<size_t>(below(static_cast<int>(kTexts.size())))];
  }

  bson::Value scalar() {
    switch (below(12)) {
      case 0:
        return bson::Value();
      case 1:
        return bson::Value(0.5 + below(3));
      case 2:
        return bson::Value(int64_t{9007199254740992} + below(3));
      case 3:
        return bson::Value(static_cast<double>(9007199254740992 + 2 * below(2)));
      case 4:
        return bson::Value(one_in(2));
      case 5:
        return bson::Value(bson::Date{below(3) - 1});
      case 6:
      case 7:
      case 8:
        return bson::Value(text());
      default:
        return bson::Value(int32_t{below(5) - 1});
    }
  }

  void append_value(bson::Builder& builder, std::string_view key) {
    if (one_in(5)) {
      builder.open_array(key);
      for (int i = below(4); i > 0; --i) {
        if (one_in(6)) {
          builder.push_open_array().push(scalar()).close();
        } else {
          builder.push(scalar());
        }
      }
      builder.close();
    } else if (one_in(8)) {
      builder.open_document(key).append("x", scalar()).close();
    } else {
      builder.append(key, scalar());
    }
  }

  void append_fields(bson::Builder& builder) {
    for (const char* name : {"a", "b"}) {
      if (!one_in(5)) append_value(builder, name);
    }
    if (one_in(3)) {
      builder.open_array("c");
      for (int i = below(4); i > 0; --i) {
        if (one_in(5)) {
          builder.push(scalar());
        } else {
          builder.push_open_document();
          if (!one_in(4)) append_value(builder, "d");
          if (!one_in(4)) builder.append("e", scalar());
          builder.close();
        }
      }
      builder.close();
    } else if (!one_in(3)) {
      builder.open_document("c").append("d", scalar()).append("e", scalar()).close();
    }
    if (!one_in(3)) builder.append("name", text());
    if (one_in(10)) builder.append("filler", std::string(static_cast<size_t>(below(9000)), 'f'));
  }

  bson::Document document() {
    bson::Builder builder;
    builder.append("_id", int32_t{next_id_++});
    append_fields(builder);
    return std::move(builder).finish();
  }

  std::string path() {
    static const std::vector<std::string> kPaths = {"a",    "a",    "b", "b",   "c.d", "c.e",
                                                    "name", "name", "c", "a.x", "_id"};
    return kPaths[static_cast<size_t>(below(static_cast<int>(kPaths.size())))];
  }

  void append_condition(bson::Builder& builder, const std::string& name) {
    static const std::vector<std::string> kComparisons = {"$lt", "$lte", "$gt", "$gte"};
    const auto comparison = [&] { return kComparisons[static_cast<size_t>(below(4))]; };
    switch (below(9)) {
      case 0:
        builder.open_document(name).append(comparison(), scalar()).close();
        return;
      case 1: {
        builder.open_document(name);
        builder.append(one_in(2) ? "$gt" : "$gte", scalar());
        builder.append(one_in(2) ? "$lt" : "$lte", scalar());
        builder.close();
        return;
      }
      case 2:
        builder.open_document(name).open_array("$in");
        for (int i = below(4); i >= 0; --i) builder.push(scalar());
        builder.close().close();
        return;
      case 3:
        builder.open_document(name).append("$exists", one_in(2)).close();
        return;
      case 4:
        builder.append_regex(name, one_in(2) ? "^a" : "^a/b", "");
        return;
      case 5:
        append_value(builder, name);  // arrays and documents too
        return;
      case 6:
        builder.open_document(name).append("$type", random_type()).close();
        return;
      default:
        builder.append(name, scalar());
    }
  }

  void append_conditions(bson::Builder& builder, int depth) {
    std::vector<std::string> used;
    for (int i = below(3); i >= 0; --i) {
      const std::string name = path();
      if (std::ranges::find(used, name) != used.end()) continue;
      used.push_back(name);
      append_condition(builder, name);
    }
    if (depth < 2 && one_in(4)) {
      builder.open_array(one_in(3) ? "$and" : "$or");
      for (int i = below(2); i >= -1; --i) {
        builder.push_open_document();
        append_conditions(builder, depth + 1);
        builder.close();
      }
      builder.close();
    }
  }

  bson::Document filter() {
    bson::Builder builder;
    if (!one_in(8)) append_conditions(builder, 0);
    return std::move(builder).finish();
  }

  // Returns a condition that a partial index may have.
  bson::Document partial_filter() {
    bson::Builder builder;
    const std::string name = path();
    switch (below(4)) {
      case 0:
        builder.open_document(name).append("$exists", true).close();
        break;
      case 1:
        builder.open_document(name).append("$type", random_type()).close();
        break;
      case 2:
        builder.open_document(name).append(one_in(2) ? "$gt" : "$lte", scalar()).close();
        break;
      default:
        builder.open_array("$or");
        builder.push_open_document().append(name, scalar()).close();
        builder.push_open_document().open_document(path()).append("$gte", scalar()).close().close();
        builder.close();
    }
    return std::move(builder).finish();
  }

  bson::Document keys(bool with_id) {
    bson::Builder builder;
    std::vector<std::string> used{"_id"};
    bool hashed = false;
    for (int i = below(3); i >= 0; --i) {
      const std::string name = path();
      if (std::ranges::find(used, name) != used.end()) continue;
      used.push_back(name);
      if (!with_id && !hashed && one_in(16)) {
        builder.append(name, "hashed");
        hashed = true;
      } else {
        builder.append(name, int32_t{one_in(3) ? -1 : 1});
      }
    }
    if (with_id) builder.append("_id", int32_t{one_in(2) ? 1 : -1});
    return std::move(builder).finish();
  }

  // Returns {path: 1, ...} of one or two paths, with or without _id.
  bson::Document inclusion() {
    bson::Builder builder;
    const std::string first = path();
    if (first != "_id") builder.append(first, int32_t{1});
    const std::string second = path();
    const auto top = [](std::string_view name) { return name.substr(0, name.find('.')); };
    if (second != "_id" && top(second) != top(first)) builder.append(second, int32_t{1});
    if (first == "_id" || one_in(2)) {
      builder.append("_id", int32_t{1});
    } else {
      builder.append("_id", int32_t{0});
    }
    return std::move(builder).finish();
  }

  bson::Document update() {
    bson::Builder builder;
    switch (below(3)) {
      case 0:
        builder.open_document("$unset").append(one_in(2) ? "a" : "c", "").close();
        break;
      case 1:
        builder.open_document("$inc").append("n", int32_t{1}).close();
        builder.open_document("$set").append("name", text()).close();
        break;
      default:
        builder.open_document("$set");
        append_value(builder, one_in(2) ? "a" : "b");
        builder.close();
    }
    return std::move(builder).finish();
  }

  bson::Document replacement() {
    bson::Builder builder;
    append_fields(builder);
    return std::move(builder).finish();
  }

  int32_t some_id() { return next_id_ == 0 ? 0 : below(next_id_); }

 private:
  std::mt19937_64 random_;
  int32_t next_id_ = 0;
};

class Model {
 public:
  std::vector<bson::Document> documents;

  std::vector<size_t> matches(bson::View filter) const {
    const Result<query::Filter> parsed = query::Filter::parse(filter);
    EXPECT_THAT(parsed, Succeeded()) << json(filter);
    std::vector<size_t> matching;
    for (size_t i = 0; i < documents.size(); ++i) {
      if (parsed->matches(documents[i])) matching.push_back(i);
    }
    return matching;
  }

  // Returns nothing if the sort is by fields of several arrays.
  std::optional<std::vector<std::string>> find(bson::View filter, bson::View sort, int64_t skip,
                                               int64_t limit) const {
    std::vector<size_t> matching = matches(filter);
    if (!sort.empty()) {
      const Result<query::Sort> parsed = query::Sort::parse(sort);
      const auto key_of = [&](size_t document) { return parsed->key_of(documents[document]); };
      if (!std::all_of(matching.begin(), matching.end(), key_of)) return std::nullopt;
      std::stable_sort(matching.begin(), matching.end(), [&](size_t a, size_t b) {
        return parsed->compare_keys(*key_of(a), *key_of(b)) < 0;
      });
    }
    std::vector<std::string> found;
    for (size_t i = static_cast<size_t>(skip); i < matching.size(); ++i) {
      if (limit != 0 && static_cast<int64_t>(found.size()) == limit) break;
      found.push_back(json(documents[matching[i]]));
    }
    return found;
  }
};

class Comparison {
 public:
  // If `plans_as_ours` is false, the comparison allows for plans of servers. A server may take
  // another plan for find_one() than for find(). Its index that covers a projection does not
  // distinguish missing fields from nulls. A query {$lte: null} by a sparse index misses the
  // documents without the field.
  Comparison(Store& store, Collection& collection, uint64_t seed, bool plans_as_ours)
      : store_(store),
        collection_(collection),
        capabilities_(store.capabilities()),
        plans_as_ours_(plans_as_ours),
        generator_(seed) {}

  void run(int transactions) {
    for (int i = 0; i < transactions && !testing::Test::HasFailure(); ++i) {
      SCOPED_TRACE("transaction " + std::to_string(i));
      if (!capabilities_.transactional_catalog && generator_.one_in(3)) {
        const auto alone = store_.begin();
        ASSERT_THAT(alone, Succeeded());
        change_indexes(**alone);
      }
      auto transaction = store_.begin(generator_.one_in(20) ? TransactionKind::kMayBlock
                                                            : TransactionKind::kShort);
      ASSERT_THAT(transaction, Succeeded());
      const Model before = model_;
      const std::vector<std::string> indexes_before = indexes_;
      ended_ = false;
      for (int step = generator_.below(8); step >= 0 && !ended_; --step) {
        write(**transaction);
        if (ended_) break;
        if (generator_.one_in(3)) read(**transaction);
      }
      if (ended_ || (capabilities_.transactions && generator_.one_in(5))) {
        // The transaction must end before this thread reads through another snapshot.
        transaction->reset();
        model_ = before;
        indexes_ = indexes_before;
      } else {
        ASSERT_THAT((*transaction)->commit(), Succeeded());
      }
      // Transactions without reads between them may share a commit.
      const bool in_a_row = i / 40 % 2 != 0;
      if (in_a_row && !generator_.one_in(12)) continue;
      const auto snapshot = store_.snapshot();
      ASSERT_THAT(snapshot, Succeeded());
      for (int reads = 0; reads < 6; ++reads) read(**snapshot);
    }
  }

 private:
  // A compound index cannot hold a document with arrays in two of its fields, and a hashed index
  // cannot hold an array. In these cases the refused operation must have changed nothing.
  template <typename T>
  bool refuses_arrays(const Result<T>& result) {
    constexpr ErrorCode kArrayUnderHashed{16766};
    const bool refuses =
        !result && (result.error().code() == ErrorCode::kCannotIndexParallelArrays ||
                    result.error().code() == kArrayUnderHashed);
    if (refuses && !capabilities_.continues_after_failed_writes) ended_ = true;
    return refuses;
  }

  void write(Transaction& transaction) {
    switch (generator_.below(12)) {
      case 0:
        if (capabilities_.transactional_catalog) change_indexes(transaction);
        return;
      case 1:
        remove(transaction);
        return;
      case 2:
      case 3:
        update_many(transaction);
        return;
      case 4:
      case 5:
        replace_one(transaction);
        return;
      default: {
        const bson::Document document = generator_.document();
        const auto inserted = collection_.insert(transaction, document);
        if (refuses_arrays(inserted)) return;
        ASSERT_THAT(inserted, Succeeded()) << json(document);
        model_.documents.push_back(document);
      }
    }
  }

  void change_indexes(Transaction& transaction) {
    if (indexes_.size() > 3) {
      const auto victim = indexes_.begin() + generator_.below(static_cast<int>(indexes_.size()));
      ASSERT_THAT(collection_.drop_index(transaction, *victim), Succeeded());
      indexes_.erase(victim);
      return;
    }
    const bson::Document keys = generator_.keys(false);
    if (keys.view().empty()) return;
    const std::string name = "index" + std::to_string(next_index_++);
    IndexDefinition index{name, keys};
    switch (generator_.below(6)) {
      case 0:
        index.sparse = plans_as_ours_;
        break;
      case 1:
      case 2:
        index.partial_filter = generator_.partial_filter();
        break;
      case 3:
        index.hidden = true;
        break;
      default:
        break;
    }
    const Status created = collection_.create_index(transaction, index);
    if (refuses_arrays(created)) return;
    if (!created && created.error().code() == ErrorCode::kIndexOptionsConflict) return;
    ASSERT_THAT(created, Succeeded()) << json(keys);
    indexes_.push_back(name);
  }

  void remove(Transaction& transaction) {
    bson::Builder builder;
    builder.append("_id", generator_.some_id());
    const bson::Document filter =
        generator_.one_in(10) ? generator_.filter() : std::move(builder).finish();
    const std::vector<size_t> matching = model_.matches(filter);
    const auto removed = collection_.remove(transaction, filter, true);
    ASSERT_THAT(removed, Succeeded());
    EXPECT_EQ(*removed, static_cast<int64_t>(matching.size())) << json(filter);
    for (auto at = matching.rbegin(); at != matching.rend(); ++at) {
      model_.documents.erase(model_.documents.begin() + static_cast<std::ptrdiff_t>(*at));
    }
  }

  void update_many(Transaction& transaction) {
    const bson::Document filter = generator_.filter();
    const bson::Document update = generator_.update();
    // A multi-update may fail at one document after others were changed. The model does not support
    // that, so such updates apply to a single document.
    std::vector<size_t> matching = model_.matches(filter);
    const Result<query::Update> parsed = query::Update::parse(update);
    ASSERT_THAT(parsed, Succeeded());
    for (const size_t i : matching) {
      bson::Builder builder;
      builder.append("_id", model_.documents[i].view()["_id"]);
      const auto applied = parsed->apply(model_.documents[i]);
      ASSERT_THAT(applied, Succeeded());
      const auto updated = collection_.update(transaction, std::move(builder).finish(), update);
      if (refuses_arrays(updated)) {
        if (ended_) return;
        continue;
      }
      ASSERT_THAT(updated, Succeeded());
      EXPECT_EQ(updated->matched, 1);
      EXPECT_EQ(updated->modified, applied->modified ? 1 : 0);
      model_.documents[i] = applied->document;
    }
    // The counter is never an array, so this update applies to all documents.
    const bson::Document increment = doc(R"({"$inc": {"count": 1}})");
    matching = model_.matches(filter);
    UpdateOptions multi;
    multi.multi = true;
    const auto updated = collection_.update(transaction, filter, increment, multi);
    ASSERT_THAT(updated, Succeeded());
    EXPECT_EQ(updated->matched, static_cast<int64_t>(matching.size())) << json(filter);
    const Result<query::Update> parsed_increment = query::Update::parse(increment);
    for (const size_t i : matching) {
      model_.documents[i] = parsed_increment->apply(model_.documents[i])->document;
    }
  }

  void replace_one(Transaction& transaction) {
    bson::Builder builder;
    builder.append("_id", generator_.some_id());
    const bson::Document filter = std::move(builder).finish();
    const bson::Document replacement = generator_.replacement();
    const auto updated = collection_.update(transaction, filter, replacement);
    if (refuses_arrays(updated)) return;
    ASSERT_THAT(updated, Succeeded());
    const std::vector<size_t> matching = model_.matches(filter);
    EXPECT_EQ(updated->matched, static_cast<int64_t>(matching.size()));
    const Result<query::Update> parsed = query::Update::parse(replacement);
    for (const size_t i : matching) {
      model_.documents[i] = parsed->apply(model_.documents[i])->document;
    }
  }

  void read(Snapshot& snapshot) {
    const bson::Document filter = generator_.filter();
    const bool sorted = generator_.one_in(2);
    const bson::Document sort = sorted ? generator_.keys(true) : bson::Document();
    FindOptions options;
    options.sort = sort;
    if (sorted && generator_.one_in(2)) {
      options.skip = generator_.below(4);
      options.limit = generator_.below(6);
    }
    SCOPED_TRACE("filter " + json(filter) + " sort " + json(sort) + " skip " +
                 std::to_string(options.skip) + " limit " + std::to_string(options.limit) +
                 " indexes " + index_keys(snapshot));
    std::optional<std::vector<std::string>> wanted =
        model_.find(filter, sort, options.skip, options.limit);
    const auto cursor = collection_.find(snapshot, filter, options);
    if (!wanted) return expect_refusal(cursor);
    std::vector<std::string> expected = *std::move(wanted);
    std::vector<std::string> found;
    ASSERT_THAT(cursor, Succeeded());
    while (true) {
      const auto next = (*cursor)->next();
      ASSERT_THAT(next, Succeeded());
      if (!*next) break;
      found.push_back(json(**next));
    }
    const auto first = collection_.find_one(snapshot, filter, options);
    ASSERT_THAT(first, Succeeded());
    ASSERT_EQ(first->has_value(), !expected.empty());
    if (first->has_value() && (sorted || plans_as_ours_)) {
      EXPECT_EQ(json(**first), found.front());
    } else if (first->has_value()) {
      EXPECT_THAT(found, testing::Contains(json(**first)));
    }
    if (!sorted) {
      std::sort(expected.begin(), expected.end());
      std::sort(found.begin(), found.end());
    }
    ASSERT_EQ(found, expected);
    if (plans_as_ours_ && options.limit == 0 && options.skip == 0)
      read_projected(snapshot, filter, sort);
    const auto counted = collection_.count(snapshot, filter);
    ASSERT_THAT(counted, Succeeded());
    EXPECT_EQ(*counted, static_cast<int64_t>(model_.matches(filter).size()));
  }

  // The search fails when it begins or when its first document is read.
  void expect_refusal(const Result<std::unique_ptr<Cursor>>& cursor) {
    std::optional<Error> refused;
    if (!cursor) {
      refused = cursor.error();
    } else if (const auto first = (*cursor)->next(); !first) {
      refused = first.error();
    }
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->code(), ErrorCode::kBadValue);
    EXPECT_THAT(refused->message(),
                testing::HasSubstr("cannot sort with keys that are parallel arrays"));
    if (!capabilities_.continues_after_failed_writes) ended_ = true;
  }

  // Compares the fields and their types, whether an index or the documents supplied them. If an
  // index supplied them, they are in its order.
  void read_projected(Snapshot& snapshot, bson::View filter, bson::View sort) {
    const bson::Document inclusion = generator_.inclusion();
    SCOPED_TRACE("projection " + json(inclusion));
    auto projection = query::Projection::parse(inclusion, {filter, {}, {}});
    ASSERT_THAT(projection, Succeeded());
    std::vector<std::string> expected;
    for (const size_t i : model_.matches(filter)) {
      expected.push_back(in_order_of_names(*projection->apply(model_.documents[i])));
    }
    FindOptions options;
    options.sort = sort;
    options.projection = inclusion;
    const auto cursor = collection_.find(snapshot, filter, options);
    ASSERT_THAT(cursor, Succeeded());
    std::vector<std::string> found;
    while (true) {
      const auto next = (*cursor)->next();
      ASSERT_THAT(next, Succeeded());
      if (!*next) break;
      found.push_back(in_order_of_names(**next));
    }
    std::sort(expected.begin(), expected.end());
    std::sort(found.begin(), found.end());
    ASSERT_EQ(found, expected);
  }

  static std::string in_order_of_names(bson::View document) {
    std::vector<std::string> fields;
    for (const bson::Element field : document) {
      fields.push_back(std::string(field.key) + ": " +
                       bson::to_json(field.value, bson::JsonForm::kCanonical));
    }
    std::sort(fields.begin(), fields.end());
    std::string text;
    for (const std::string& field : fields) text += field + ", ";
    return text;
  }

  std::string index_keys(Snapshot& snapshot) {
    std::string keys;
    const auto indexes = collection_.indexes(snapshot);
    for (const IndexDefinition& index : *indexes) keys += json(index.specification()) + " ";
    return keys;
  }

  Store& store_;
  Collection& collection_;
  const Capabilities capabilities_;
  const bool plans_as_ours_;
  bool ended_ = false;  // an error has ended the transaction
  Generator generator_;
  Model model_;
  std::vector<std::string> indexes_;
  int next_index_ = 0;
};

TEST_P(StoreContract, Model_RandomOperations_AgreeWithAListOfDocuments) {
  const uint64_t first = chosen_seed();
  for (uint64_t run = 0; run < chosen_runs() && !HasFailure(); ++run) {
    const uint64_t seed = first + run;
    std::cout << "GRIDMOUNT_SEED=" << seed << std::endl;
    SCOPED_TRACE("GRIDMOUNT_SEED=" + std::to_string(seed));
    const auto documents = collection("model");
    const bool plans_as_ours =
        !GetParam().difference || GetParam().difference("Covered_QueriesReadNoDocuments").empty();
    Comparison(store(), *documents, seed, plans_as_ours).run(random_rounds(150));
    if (HasFailure()) break;
    EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                  GM_ASSIGN(const bool exists, db()->exists(transaction, "model"));
                  return exists ? db()->drop(transaction, "model") : Status();
                }),
                Succeeded());
  }
}

}  // namespace
}  // namespace gridmount::engine
