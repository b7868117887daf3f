#include "tests/tools/dump_fixture.h"

#include <fstream>
#include <sstream>

#include "engine/bson/json.h"
#include "engine/wire/auth/user.h"

namespace gridmount::tests {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kAllTypes =
    R"json({"_id": {"$oid": "65a000000000000000000001"}, "double": {"$numberDouble": "-0.0"},
        "nan": {"$numberDouble": "NaN"}, "string": "a\u0000b \u00e9\u20ac\ud83d\ude00",
        "document": {"a": [1, {"b": {}}]}, "array": [],
        "binary": {"$binary": {"base64": "AAEC/w==", "subType": "05"}},
        "old": {"$binary": {"base64": "AAEC", "subType": "02"}},
        "undefined": {"$undefined": true}, "true": true, "false": false,
        "date": {"$date": {"$numberLong": "-1"}}, "null": null,
        "regex": {"$regularExpression": {"pattern": "a.*/", "options": "im"}},
        "pointer": {"$dbPointer": {"$ref": "a.b", "$id": {"$oid": "65a000000000000000000002"}}},
        "code": {"$code": "f()"}, "symbol": {"$symbol": "s"},
        "scope": {"$code": "g()", "$scope": {"x": 1}}, "int": {"$numberInt": "-2147483648"},
        "timestamp": {"$timestamp": {"t": 5, "i": 6}},
        "empty timestamp": {"$timestamp": {"t": 0, "i": 0}},
        "long": {"$numberLong": "9223372036854775807"},
        "decimal": {"$numberDecimal": "1.10"}, "min": {"$minKey": 1}, "max": {"$maxKey": 1},
        "$dollar": 1, "dotted.name": 2, "": 3})json";

// The last two names are too long for a file name when they are escaped.
std::vector<std::string> odd_names() {
  std::vector<std::string> names = {"with space",        "per%cent", "sl/ash", "plus+",
                                    "dot.dot.x",         "x&=?;:@",  "%41",    "back\\slash",
                                    "\xC3\xBCn\xC3\xAF", "star*",    "\"<>'",  "system.js"};
  names.push_back(std::string(150, 'a') + std::string(30, '/') + "1");
  names.push_back(std::string(150, 'a') + std::string(30, '/') + "2");
  return names;
}

}  // namespace

bson::Document parsed(std::string_view json) {
  return must(bson::document_from_json(json));
}

Outcome DumpTest::gridstore(std::vector<std::string> arguments, const std::string& input) const {
  return run({GRIDSTORE, std::move(arguments), folder(), input, {}});
}

Outcome DumpTest::shell(const std::string& script) const {
  return run({"/bin/sh", {"-c", "G=" GRIDSTORE "; " + script}, folder(), "", {}});
}

void DumpTest::create(const std::string& collection, std::string_view options) const {
  change([&](engine::Database& database, engine::Transaction& transaction) {
    must(database.create(transaction, collection, parsed(options)));
  });
}

void DumpTest::insert(const std::string& collection,
                      const std::vector<bson::Document>& documents) const {
  change([&](engine::Database& database, engine::Transaction& transaction) {
    engine::InsertOptions options;
    options.keep_empty_timestamps = true;
    for (const bson::Document& document : documents) {
      must(database.collection(collection)->insert(transaction, document, options));
    }
  });
}

void DumpTest::index(const std::string& collection, std::string_view specification) const {
  change([&](engine::Database& database, engine::Transaction& transaction) {
    const auto definition = must(engine::IndexDefinition::parse(parsed(specification)));
    must(database.collection(collection)->create_index(transaction, definition));
  });
}

void DumpTest::create_rich_store() const {
  create_store();
  with_bucket([](gridfs::Bucket& bucket) {
    upload(bucket, "a/b", pattern_bytes(700'000));
    upload(bucket, "empty", "");
  });
  insert("types", {parsed(kAllTypes)});
  for (const std::string& name : odd_names()) insert(name, {document("_id", name)});
  create("empty", "{}");
  create("capped", R"({"capped": true, "size": 4096, "max": 3})");
  for (int32_t i = 0; i < 5; ++i) insert("capped", {document("_id", i)});
  create("valid", R"({"validator": {"a": {"$type": "string"}}, "validationLevel": "moderate",
                      "validationAction": "warn"})");
  create("seen", R"({"viewOn": "types", "pipeline": [{"$match": {"double": {"$lt": 5}}}]})");
  create("a view of it", R"({"viewOn": "seen", "pipeline": []})");
  index("indexed", R"({"key": {"u": 1}, "name": "u_1", "unique": true})");
  index("indexed", R"({"key": {"t": 1}, "name": "t_1", "expireAfterSeconds": 3600})");
  index("indexed", R"({"key": {"a": 1, "b.c": -1}, "name": "two", "sparse": true})");
  index("indexed", R"({"key": {"p": 1}, "name": "p_1",
                       "partialFilterExpression": {"p": {"$gt": 5}, "r": {"$type": "string"}}})");
  index("indexed", R"({"key": {"h": "hashed"}, "name": "h_hashed"})");
  index("indexed", R"({"key": {"x": 1}, "name": "hidden one", "hidden": true})");
  std::vector<bson::Document> documents;
  for (int32_t i = 0; i < 200; ++i) {
    bson::Builder builder;
    builder.append("_id", i).append("u", i).append("h", i).append("p", i).append("a", "x");
    documents.push_back(std::move(builder).finish());
  }
  insert("indexed", documents);
  with_store([](engine::Store& store) {
    wire::User user;
    user.name = {"me", "test"};
    user.roles = {{"readWrite", "test"}};
    must(wire::UserDirectory(store).create(user));
    auto transaction = must(store.begin());
    must(store.database("other")->collection("things")->insert(*transaction,
                                                               document("_id", int32_t{1})));
    must(store.database("local")->collection("own")->insert(*transaction,
                                                            document("_id", int32_t{1})));
    must(transaction->commit());
  });
}

std::map<std::string, std::string> DumpTest::files_of(const std::string& name) const {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder() / name)) {
    if (!entry.is_regular_file() || entry.path().filename() == "prelude.json") continue;
    std::ostringstream bytes;
    bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    files[fs::relative(entry.path(), folder() / name).string()] = bytes.str();
  }
  return files;
}

std::vector<std::string> DumpTest::documents_of(const std::string& name,
                                                const std::string& collection) const {
  std::vector<std::string> documents;
  const auto store = must(local::open(folder() / name, {}));
  const auto snapshot = must(store->snapshot());
  const auto cursor = must(store->database("test")->collection(collection)->find(*snapshot, {}));
  while (const auto next = must(cursor->next())) {
    documents.push_back(bson::to_json(*next, bson::JsonForm::kRelaxed));
  }
  return documents;
}

}  // namespace gridmount::tests
