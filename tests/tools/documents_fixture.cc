#include "tests/tools/documents_fixture.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "command_line/connection_string.h"
#include "command_line/store_opening.h"
#include "tests/engine/wire/server/raw_client.h"

namespace gridmount::tests {

void DocumentsTest::create_things(const std::vector<std::string>& documents) const {
  create_store();
  std::vector<bson::Document> read;
  read.reserve(documents.size());
  for (const std::string& document : documents) read.push_back(parsed(document));
  insert("things", read);
}

void DocumentsTest::while_served(const std::function<void(const std::string& uri)>& work) const {
  const Outcome outcome =
      run({GRIDSTORE, {"serve", store_path().string()}, folder(), "", [&](pid_t pid) {
             const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
             while (!wire::RawClient::to_socket_file(store_path()).is_connected()) {
               ASSERT_LT(std::chrono::steady_clock::now(), deadline);
               std::this_thread::sleep_for(std::chrono::milliseconds(20));
             }
             work(command_line::uri_of_socket(command_line::socket_path(store_path()).string()));
             ::kill(pid, SIGTERM);
           }});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

void DocumentsTest::expect_refused(const std::vector<std::string>& arguments, std::string_view part,
                                   int status, const std::string& input) const {
  const Outcome outcome = gridstore(arguments, input);
  EXPECT_EQ(outcome.status, status) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, ::testing::HasSubstr(std::string(part)));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

}  // namespace gridmount::tests
