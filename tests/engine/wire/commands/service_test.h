// A service over an embedded store in a temporary folder. Commands are written as Extended JSON.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/store.h"
#include "engine/wire/service.h"

namespace gridmount::wire {

bson::Document doc(std::string_view json);
std::string json(bson::View document);

class ServiceTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;  // also checks the structure of the store

  engine::Store& store() { return *store_; }
  Service& service() { return *service_; }
  Client& client() { return *client_; }
  void restart(ServiceOptions options);

  // Returns the whole reply.
  bson::Document run(std::string_view command, std::string_view database = "test");
  bson::Document run(const bson::Document& command, std::string_view database = "test");
  bson::Document run_as(Client& client, std::string_view command,
                        std::string_view database = "test");
  Outcome handle(Client& client, const bson::Document& command, std::string_view database = "test",
                 std::vector<Sequence> sequences = {}, bool is_legacy_cursor = false);
  // Runs a command that must succeed. Returns the reply as JSON without ok, or one field of it.
  std::string good(std::string_view command, std::string_view database = "test");
  std::string good(std::string_view command, std::string_view database, std::string_view field);
  // Runs a command that must fail. Returns "code: message".
  std::string bad(std::string_view command, std::string_view database = "test");
  int32_t code_of(std::string_view command, std::string_view database = "test");

  void insert(std::string_view collection, std::string_view documents);
  // Inserts numbered documents: {_id: 0}, {_id: 1}, ...
  void insert_numbered(std::string_view collection, int count);
  // Returns the documents of a find as JSON, in one batch.
  std::vector<std::string> find(std::string_view collection, std::string_view filter = "{}");

 private:
  std::filesystem::path folder_;
  std::unique_ptr<engine::Store> store_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<Client> client_;
};

// Returns a field of a reply by its dot path as JSON, or "missing".
std::string field(bson::View document, std::string_view path);
// Returns the documents of a cursor's batch.
std::vector<std::string> batch(bson::View reply);
int64_t cursor_id(bson::View reply);

}  // namespace gridmount::wire
