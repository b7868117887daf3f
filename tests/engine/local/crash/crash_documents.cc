#include "tests/engine/local/crash/crash_documents.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "engine/binary_overwrite.h"
#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/local/integrity/store_copy.h"
#include "engine/query/plan/text_index_definition.h"
#include "tests/engine/local/crash/crash_store.h"
#include "tests/must.h"

namespace gridmount::local::testing {
namespace {

constexpr int kCollections = 4;
constexpr int32_t kIds = 25;

std::string bytes_of(bson::View document) {
  return {reinterpret_cast<const char*>(document.data()), document.size()};
}

bson::View view_of(const std::string& bytes) {
  return bson::View(reinterpret_cast<const uint8_t*>(bytes.data()),
                    static_cast<uint32_t>(bytes.size()));
}

bson::Document keys_of(std::initializer_list<std::pair<const char*, int32_t>> parts) {
  bson::Builder builder;
  for (const auto& [path, direction] : parts) builder.append(path, direction);
  return std::move(builder).finish();
}

engine::IndexDefinition text_index() {
  engine::IndexDefinition index{"words", *bson::document_from_json(R"({"text": "text"})")};
  must(query::complete_text_index(index));
  return index;
}

const std::vector<engine::IndexDefinition>& index_kinds() {
  static const std::vector<engine::IndexDefinition> kKinds = {
      {"a_1", keys_of({{"a", 1}})},
      {"tags_1", keys_of({{"tags", 1}})},
      {"text_1", keys_of({{"text", 1}})},
      {"u_1", keys_of({{"u", 1}}), true},
      {"a_-1_text_1", keys_of({{"a", -1}, {"text", 1}})},
      text_index(),
      {"all", *bson::document_from_json(R"({"$**": 1})")},
  };
  return kKinds;
}

// Names of facts: "c1" is a collection, "c1/7" its document with that _id, "c1#a_1" an index.
std::string document_name(const std::string& collection, int32_t id) {
  return collection + "/" + std::to_string(id);
}

std::string shown(const engine::IndexDefinition& index) {
  return bson::to_json(index.keys, bson::JsonForm::kCanonical) + (index.unique ? " unique" : "");
}

bson::Document random_document(std::mt19937_64& random, int32_t id) {
  bson::Builder builder;
  builder.append("_id", id).append("a", static_cast<int32_t>(random() % 50));
  // Some keys are longer than an index can hold, and some documents have pages of their own.
  const uint64_t kind = random() % 10;
  const size_t size = kind == 0 ? 3000 + random() % 20'000 : kind < 3 ? 600 : random() % 200;
  builder.append("text", std::string(size, static_cast<char>('a' + random() % 26)));
  builder.append("u", int64_t{id} * 7);
  builder.open_array("tags");
  for (uint64_t left = random() % 4; left > 0; --left) {
    builder.push(bson::Value(static_cast<int32_t>(random() % 9)).view());
  }
  return std::move(builder.close()).finish();
}

class DocumentsSubject : public CrashSubject {
 public:
  Status open(const std::filesystem::path& folder, bool create, const TestOptions& test) override {
    GM_ASSIGN(store_, open_crash_store(folder, create, test));
    database_ = store_->database("crash");
    return {};
  }
  Status close() override {
    database_.reset();
    store_.reset();
    return {};
  }
  Status make_durable() override { return store_->make_durable(); }
  Status checkpoint() override { return take_checkpoint(*store_); }
  Result<std::vector<std::string>> check() override { return structure_problems(*store_); }
  Result<bool> compact(const std::filesystem::path& folder) override {
    GM_TRY(compact_store(folder));
    return true;
  }

  Result<bool> step(std::mt19937_64& random, Facts& facts, bool may_be_durable) override;
  Result<bool> steps_of_several(int writers, std::mt19937_64& random, Facts& facts,
                                const Watcher& watcher) override;
  Result<Facts> read() override;

 private:
  Status step_of_one(std::mt19937_64& random, Facts& facts, const Watcher& watcher);
  Status changes(engine::Transaction& transaction, std::mt19937_64& random, Facts& facts);
  Status change(engine::Transaction& transaction, std::mt19937_64& random, Facts& facts);
  Status change_collection(engine::Transaction& transaction, std::mt19937_64& random, Facts& facts,
                           const std::string& name);
  Status put(engine::Transaction& transaction, std::mt19937_64& random, Facts& facts,
             const std::string& name);
  Status increment(engine::Transaction& transaction, std::mt19937_64& random, Facts& facts,
                   const std::string& name);
  Status overwrite(engine::Transaction& transaction, std::mt19937_64& random, Facts& facts);

  std::unique_ptr<engine::Store> store_;
  std::shared_ptr<engine::Database> database_;
};

Status DocumentsSubject::put(engine::Transaction& transaction, std::mt19937_64& random,
                             Facts& facts, const std::string& name) {
  const auto id = static_cast<int32_t>(random() % kIds);
  const bson::Document document = random_document(random, id);
  engine::UpdateOptions upsert;
  upsert.upsert = true;
  GM_TRY(
      database_->collection(name)->update(transaction, keys_of({{"_id", id}}), document, upsert));
  facts[name];
  facts[name + "#_id_"] = shown({"_id_", keys_of({{"_id", 1}}), true});
  facts[document_name(name, id)] = bytes_of(document);
  return {};
}

// Increments the documents that match {a: {$lt: N}}, however many there are.
Status DocumentsSubject::increment(engine::Transaction& transaction, std::mt19937_64& random,
                                   Facts& facts, const std::string& name) {
  const auto limit = static_cast<int32_t>(random() % 10);
  bson::Builder filter;
  filter.open_document("a").append("$lt", limit).close();
  bson::Builder update;
  update.open_document("$inc").append("a", int32_t{1}).close();
  engine::UpdateOptions all;
  all.multi = true;
  GM_TRY(database_->collection(name)->update(transaction, std::move(filter).finish(),
                                             std::move(update).finish(), all));
  for (auto fact = facts.lower_bound(name + "/");
       fact != facts.end() && fact->first.starts_with(name + "/"); ++fact) {
    const bson::View document = view_of(fact->second);
    const int32_t a = document["a"].as_int32();
    if (a >= limit) continue;
    bson::Builder after;
    for (const bson::Element element : document) {
      if (element.key == "a") {
        after.append("a", a + 1);
      } else {
        after.append(element.key, element.value);
      }
    }
    fact->second = bytes_of(std::move(after).finish());
  }
  return {};
}

// Inserts a Binary, or overwrites a part of it and may lengthen it. After the first overwrite, the
// store has the Binary in patches.
Status DocumentsSubject::overwrite(engine::Transaction& transaction, std::mt19937_64& random,
                                   Facts& facts) {
  const std::string name = "blobs";
  const std::unique_ptr<engine::Collection> collection = database_->collection(name);
  const auto id = static_cast<int32_t>(random() % 2);
  const auto fact = facts.find(document_name(name, id));
  std::string content;
  if (fact != facts.end()) {
    const bson::Binary data = view_of(fact->second)["data"].as_binary();
    content.assign(reinterpret_cast<const char*>(data.data), data.size);
  }
  constexpr size_t kBytesMax = 60'000;
  const bool is_new = content.empty() || content.size() > kBytesMax;
  const auto expected = static_cast<uint32_t>(content.size());
  const std::string piece(1 + random() % 5000, static_cast<char>('a' + random() % 26));
  const uint32_t offset = is_new ? 0 : static_cast<uint32_t>(random() % content.size());
  if (is_new) {
    content.assign(35'000, piece[0]);
  } else {
    content.resize(std::max(content.size(), offset + piece.size()));
    content.replace(offset, piece.size(), piece);
  }
  bson::Builder builder;
  builder.append("_id", id);
  builder.append("data", bson::Binary{0, reinterpret_cast<const uint8_t*>(content.data()),
                                      static_cast<uint32_t>(content.size())});
  const bson::Document document = std::move(builder).finish();
  if (is_new) {
    engine::UpdateOptions upsert;
    upsert.upsert = true;
    GM_TRY(collection->update(transaction, keys_of({{"_id", id}}), document, upsert));
  } else {
    const engine::BinaryPiece changed{
        offset, {reinterpret_cast<const uint8_t*>(piece.data()), piece.size()}};
    GM_ASSIGN(const bool done,
              engine::overwrite_binary(
                  *collection, transaction, keys_of({{"_id", id}}),
                  {"data", expected, static_cast<uint32_t>(content.size()), {&changed, 1}}));
    if (!done) return fail(ErrorCode::kOperationFailed, "the document was not overwritten");
  }
  facts[name];
  facts[name + "#_id_"] = shown({"_id_", keys_of({{"_id", 1}}), true});
  facts[document_name(name, id)] = bytes_of(document);
  return {};
}

Status DocumentsSubject::change_collection(engine::Transaction& transaction,
                                           std::mt19937_64& random, Facts& facts,
                                           const std::string& name) {
  const std::unique_ptr<engine::Collection> collection = database_->collection(name);
  const auto belongs = [&](const std::string& fact) {
    return fact == name || fact.starts_with(name + "/") || fact.starts_with(name + "#");
  };
  switch (random() % 6) {
    case 0: {
      GM_TRY(database_->drop(transaction, name));
      std::erase_if(facts, [&](const auto& fact) { return belongs(fact.first); });
      return {};
    }
    case 1: {
      const std::string other = "c" + std::to_string(random() % kCollections);
      if (other == name) return put(transaction, random, facts, name);
      GM_TRY(database_->rename(transaction, name, {"crash", other}, true));
      Facts moved;
      for (auto& [fact, value] : facts) {
        if (belongs(fact)) {
          moved[other + fact.substr(name.size())] = value;
        } else if (!fact.starts_with(other)) {
          moved[fact] = value;
        }
      }
      facts = std::move(moved);
      return {};
    }
    default: {
      const engine::IndexDefinition& index = index_kinds()[random() % index_kinds().size()];
      const std::string fact = name + "#" + index.name;
      if (facts.erase(fact) > 0) return collection->drop_index(transaction, index.name);
      GM_TRY(collection->create_index(transaction, index));
      facts[fact] = shown(index);
      return {};
    }
  }
}

Status DocumentsSubject::change(engine::Transaction& transaction, std::mt19937_64& random,
                                Facts& facts) {
  const std::string name = "c" + std::to_string(random() % kCollections);
  if (!facts.contains(name)) return put(transaction, random, facts, name);
  const uint64_t kind = random() % 20;
  if (kind >= 18) return overwrite(transaction, random, facts);
  if (kind < 2) return change_collection(transaction, random, facts, name);
  if (kind < 4) return increment(transaction, random, facts, name);
  const auto id = static_cast<int32_t>(random() % kIds);
  if (kind < 8 && facts.erase(document_name(name, id)) > 0) {
    GM_TRY(database_->collection(name)->remove(transaction, keys_of({{"_id", id}}), false));
    return {};
  }
  return put(transaction, random, facts, name);
}

Status DocumentsSubject::changes(engine::Transaction& transaction, std::mt19937_64& random,
                                 Facts& facts) {
  // The last change always changes something.
  for (uint64_t left = random() % 5; left > 0; --left) GM_TRY(change(transaction, random, facts));
  return put(transaction, random, facts, "c0");
}

// begin() returns with the write lock, so the writers draw and change one after the other.
Status DocumentsSubject::step_of_one(std::mt19937_64& random, Facts& facts,
                                     const Watcher& watcher) {
  GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store_->begin());
  const uint64_t number = watcher.begins();
  GM_TRY(changes(*transaction, random, facts));
  watcher.changed(facts);
  GM_TRY(transaction->commit());
  watcher.ended(number);
  return {};
}

Result<bool> DocumentsSubject::steps_of_several(int writers, std::mt19937_64& random, Facts& facts,
                                                const Watcher& watcher) {
  std::vector<Status> ends(static_cast<size_t>(writers));
  {
    std::vector<std::jthread> threads;
    // The holder of the write lock keeps it until all the others wait for it.
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> first, store_->begin());
    for (Status& end : ends) {
      threads.emplace_back([&] { end = step_of_one(random, facts, watcher); });
    }
    constexpr std::chrono::milliseconds kUntilTheyWait{2};
    std::this_thread::sleep_for(kUntilTheyWait);
    const uint64_t number = watcher.begins();
    GM_TRY(changes(*first, random, facts));
    watcher.changed(facts);
    GM_TRY(first->commit());
    watcher.ended(number);
  }
  for (Status& end : ends) GM_TRY(std::move(end));
  return true;
}

Result<bool> DocumentsSubject::step(std::mt19937_64& random, Facts& facts, bool may_be_durable) {
  // Most transactions are short, so they can share commits. Some are of the other kind.
  const auto kind =
      random() % 8 == 0 ? engine::TransactionKind::kMayBlock : engine::TransactionKind::kShort;
  GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store_->begin(kind));
  GM_TRY(changes(*transaction, random, facts));
  const bool durable = may_be_durable && random() % 8 == 0;
  GM_TRY(
      transaction->commit(durable ? engine::Durability::kDurable : engine::Durability::kCommitted));
  return durable;
}

Result<Facts> DocumentsSubject::read() {
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_->snapshot());
  GM_ASSIGN(const std::vector<engine::CollectionInfo> collections,
            database_->collections(*snapshot));
  Facts facts;
  for (const engine::CollectionInfo& info : collections) {
    facts[info.name];
    const std::unique_ptr<engine::Collection> collection = database_->collection(info.name);
    GM_ASSIGN(const std::vector<engine::IndexDefinition> indexes, collection->indexes(*snapshot));
    for (const engine::IndexDefinition& index : indexes) {
      facts[info.name + "#" + index.name] = shown(index);
    }
    GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
              collection->find(*snapshot, bson::View()));
    while (true) {
      GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
      if (!document) break;
      facts[document_name(info.name, (*document)["_id"].as_int32())] = bytes_of(*document);
    }
  }
  return facts;
}

}  // namespace

std::unique_ptr<CrashSubject> make_documents() {
  return std::make_unique<DocumentsSubject>();
}

}  // namespace gridmount::local::testing
