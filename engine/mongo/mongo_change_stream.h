// A change stream of a deployment. The stream is a cursor on the server, and a getMore command
// waits there for events.
//
// Source: MongoDB drivers' specification "Change Streams".
//
// Thread-safety: must be used by one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/change_stream.h"
#include "engine/mongo/connection.h"

namespace gridmount::mongo {

class MongoChangeStream final : public engine::ChangeStream {
 public:
  // Opens the stream on a connection of its own. Waits for a server as long as
  // ConnectOptions::server_timeout says, but at most 2 s, unless the URI has the option
  // serverSelectionTimeoutMS. Fails as Store::watch() does.
  static Result<std::unique_ptr<engine::ChangeStream>> open(
      const ConnectOptions& deployment, std::shared_ptr<OwnSessions> sessions,
      std::string_view database, const engine::ChangeStreamOptions& options);
  // Closes the server's cursor.
  ~MongoChangeStream() override;
  MongoChangeStream(const MongoChangeStream&) = delete;
  MongoChangeStream& operator=(const MongoChangeStream&) = delete;

  Result<std::vector<bson::View>> next() override;
  bson::View resume_token() const override { return resume_token_; }

 private:
  MongoChangeStream(std::shared_ptr<OwnSessions> sessions, std::string_view database,
                    std::chrono::milliseconds patience)
      : sessions_(std::move(sessions)), database_(database), patience_(patience) {}

  // Keeps the reply, and returns its events, except the events of this store's own sessions.
  Result<std::vector<bson::View>> take(bson::Document reply);
  bool is_own(bson::View event) const;

  const std::shared_ptr<OwnSessions> sessions_;
  const std::string database_;
  const std::chrono::milliseconds patience_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<Connection> connection_;  // taken from pool_
  std::string collection_;                  // the name for getMore and killCursors
  int64_t id_ = 0;                          // 0: the cursor is closed
  std::optional<Error> failure_;            // the error that has ended the stream
  bson::Document reply_;                    // owns the events that next() has returned
  bson::Document resume_token_;
  bson::Document token_after_first_;
  std::vector<bson::View> first_;  // events of the reply that opened the cursor, until next()
                                   // returns them
};

}  // namespace gridmount::mongo
