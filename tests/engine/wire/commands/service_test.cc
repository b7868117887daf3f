#include "tests/engine/wire/commands/service_test.h"

#include <unistd.h>

#include <utility>

#include "engine/bson/dotted_path.h"
#include "engine/local/integrity/structure_check.h"
#include "engine/local/open_store.h"

namespace gridmount::wire {

bson::Document doc(std::string_view json) {
  Result<bson::Document> parsed = bson::document_from_json(json);
  EXPECT_TRUE(parsed.has_value()) << json << ": "
                                  << (parsed ? std::string() : parsed.error().message());
  return parsed ? *std::move(parsed) : bson::Document();
}

std::string json(bson::View document) {
  return bson::to_json(document, bson::JsonForm::kRelaxed);
}

void ServiceTest::SetUp() {
  std::string pattern = (std::filesystem::temp_directory_path() / "service.XXXXXX").string();
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  folder_ = pattern;
  Result<std::unique_ptr<engine::Store>> opened =
      local::open(folder_ / "s.gfs", {.create = true, .map_bytes = uint64_t{1} << 32});
  ASSERT_TRUE(opened.has_value()) << opened.error().message();
  store_ = *std::move(opened);
  restart({});
}

void ServiceTest::TearDown() {
  service_.reset();
  if (store_) {
    const Result<local::StructureReport> report = local::check_structure(*store_);
    ASSERT_TRUE(report.has_value());
    EXPECT_THAT(report->problems, testing::IsEmpty());
  }
  store_.reset();
  std::filesystem::remove_all(folder_);
}

void ServiceTest::restart(ServiceOptions options) {
  service_ = std::make_unique<Service>(*store_, std::move(options));
  client_ = std::make_unique<Client>(1, Peer{.address = "in process"});
}

Outcome ServiceTest::handle(Client& client, const bson::Document& command,
                            std::string_view database, std::vector<Sequence> sequences,
                            bool is_legacy_cursor) {
  return service_->handle(client, {command, database, std::move(sequences), is_legacy_cursor});
}

bson::Document ServiceTest::run(const bson::Document& command, std::string_view database) {
  Outcome outcome = handle(*client_, command, database);
  if (auto* const reply = std::get_if<bson::Document>(&outcome)) return std::move(*reply);
  ADD_FAILURE() << json(command) << " is postponed";
  return {};
}

bson::Document ServiceTest::run(std::string_view command, std::string_view database) {
  return run(doc(command), database);
}

bson::Document ServiceTest::run_as(Client& client, std::string_view command,
                                   std::string_view database) {
  Outcome outcome = handle(client, doc(command), database);
  if (auto* const reply = std::get_if<bson::Document>(&outcome)) return std::move(*reply);
  ADD_FAILURE() << command << " is postponed";
  return {};
}

std::string ServiceTest::good(std::string_view command, std::string_view database) {
  const bson::Document reply = run(command, database);
  EXPECT_EQ(field(reply, "ok"), "1.0") << command << ": " << json(reply);
  bson::Builder rest;
  for (const bson::Element element : reply.view()) {
    if (element.key != "ok") rest.append(element.key, element.value);
  }
  return json(std::move(rest).finish());
}

std::string ServiceTest::good(std::string_view command, std::string_view database,
                              std::string_view path) {
  const bson::Document reply = run(command, database);
  EXPECT_EQ(field(reply, "ok"), "1.0") << command << ": " << json(reply);
  return field(reply, path);
}

std::string ServiceTest::bad(std::string_view command, std::string_view database) {
  const bson::Document reply = run(command, database);
  EXPECT_EQ(field(reply, "ok"), "0.0") << command << ": " << json(reply);
  const std::optional<bson::ValueView> message = reply.find("errmsg");
  return field(reply, "code") + ": " +
         (message ? std::string(message->as_string()) : std::string("no errmsg"));
}

int32_t ServiceTest::code_of(std::string_view command, std::string_view database) {
  const bson::Document reply = run(command, database);
  const std::optional<bson::ValueView> code = reply.find("code");
  return code ? static_cast<int32_t>(code->integral().value_or(-1)) : 0;
}

void ServiceTest::insert(std::string_view collection, std::string_view documents) {
  good(R"({"insert": ")" + std::string(collection) + R"(", "documents": )" +
       std::string(documents) + "}");
}

void ServiceTest::insert_numbered(std::string_view collection, int count) {
  std::string documents = "[";
  for (int i = 0; i < count; ++i) {
    documents += (i == 0 ? "" : ",") + std::string(R"({"_id": )") + std::to_string(i) + "}";
  }
  insert(collection, documents + "]");
}

std::vector<std::string> ServiceTest::find(std::string_view collection, std::string_view filter) {
  return batch(run(R"({"find": ")" + std::string(collection) + R"(", "filter": )" +
                   std::string(filter) + R"(, "batchSize": 100000})"));
}

std::string field(bson::View document, std::string_view path) {
  const std::optional<bson::ValueView> value = bson::Path(path).resolve(document);
  return value ? bson::to_json(*value, bson::JsonForm::kRelaxed) : "missing";
}

std::vector<std::string> batch(bson::View reply) {
  std::vector<std::string> documents;
  for (const char* const name : {"cursor.firstBatch", "cursor.nextBatch"}) {
    const std::optional<bson::ValueView> value = bson::Path(name).resolve(reply);
    if (!value) continue;
    for (const bson::Element element : value->as_document()) {
      documents.push_back(json(element.value.as_document()));
    }
    return documents;
  }
  ADD_FAILURE() << "no batch: " << json(reply);
  return documents;
}

int64_t cursor_id(bson::View reply) {
  const std::optional<bson::ValueView> value = bson::Path("cursor.id").resolve(reply);
  EXPECT_TRUE(value.has_value()) << json(reply);
  return value ? value->integral().value_or(-1) : -1;
}

}  // namespace gridmount::wire
