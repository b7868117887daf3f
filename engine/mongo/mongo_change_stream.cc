#include "engine/mongo/mongo_change_stream.h"

#include <algorithm>

#include "engine/bson/builder.h"

namespace gridmount::mongo {
namespace {

// If a server does not answer a getMore within this time after `patience`, the stream fails, and
// its user opens another one. kServerTimeout limits the search for a server.
constexpr std::chrono::milliseconds kAnswerTimeout{10'000};
constexpr std::chrono::milliseconds kServerTimeout{2'000};

tl::unexpected<Error> no_stream() {
  return fail(ErrorCode::kFailedToParse, "the server's reply holds no change stream");
}

std::optional<bson::ValueView> field(bson::View document, std::string_view name, bson::Type type) {
  const std::optional<bson::ValueView> value = document.find(name);
  return value && value->type() == type ? value : std::nullopt;
}

bson::Document open_command(const engine::ChangeStreamOptions& options) {
  bson::Builder command;
  command.append("aggregate", int32_t{1});
  command.open_array("pipeline");
  command.push_open_document().open_document("$changeStream");
  if (options.full_document) command.append("fullDocument", "updateLookup");
  if (!options.resume_after.empty()) command.append("resumeAfter", options.resume_after);
  command.close().close();
  for (const bson::Element stage : options.stages) command.push(stage.value);
  command.close();
  command.open_document("cursor").close();
  return std::move(command).finish();
}

}  // namespace

Result<std::unique_ptr<engine::ChangeStream>> MongoChangeStream::open(
    const ConnectOptions& deployment, std::shared_ptr<OwnSessions> sessions,
    std::string_view database, const engine::ChangeStreamOptions& options) {
  ConnectOptions apart = deployment;
  apart.connections_max = 1;
  apart.server_timeout = std::min(apart.server_timeout, kServerTimeout);
  apart.answer_timeout = options.patience + kAnswerTimeout;
  std::unique_ptr<MongoChangeStream> stream(
      new MongoChangeStream(std::move(sessions), database, options.patience));
  GM_ASSIGN(stream->pool_, Pool::open(apart));
  GM_ASSIGN(stream->connection_, stream->pool_->connection());
  stream->resume_token_ = bson::Document(options.resume_after);
  GM_ASSIGN(bson::Document reply,
            stream->connection_->run_apart(stream->database_, open_command(options)));
  GM_ASSIGN(stream->first_, stream->take(std::move(reply)));
  if (!stream->first_.empty()) {
    stream->token_after_first_ =
        std::exchange(stream->resume_token_, bson::Document(options.resume_after));
  }
  return std::unique_ptr<engine::ChangeStream>(std::move(stream));
}

MongoChangeStream::~MongoChangeStream() {
  if (id_ == 0) return;
  bson::Builder command;
  command.append("killCursors", collection_);
  command.open_array("cursors").push(bson::Value(id_).view()).close();
  (void)connection_->run_apart(database_, std::move(command).finish());
}

Result<std::vector<bson::View>> MongoChangeStream::take(bson::Document reply) {
  id_ = 0;
  reply_ = std::move(reply);
  const auto cursor = field(reply_, "cursor", bson::Type::kDocument);
  if (!cursor) return no_stream();
  const bson::View fields = cursor->as_document();
  const std::optional<bson::ValueView> id = fields.find("id");
  const auto ns = field(fields, "ns", bson::Type::kString);
  auto batch = field(fields, "firstBatch", bson::Type::kArray);
  if (!batch) batch = field(fields, "nextBatch", bson::Type::kArray);
  if (!id || !id->integral() || !ns || !batch) return no_stream();
  const size_t dot = ns->as_string().find('.');
  if (dot == std::string_view::npos) return no_stream();
  std::vector<bson::View> events;
  // Servers before 4.0.7 send no postBatchResumeToken, the token for the place after the batch.
  auto token = field(fields, "postBatchResumeToken", bson::Type::kDocument);
  const bool names_place = token.has_value();
  for (const bson::Element element : batch->as_document()) {
    if (element.value.type() != bson::Type::kDocument) return no_stream();
    const bson::View event = element.value.as_document();
    if (!names_place) token = field(event, "_id", bson::Type::kDocument);
    if (!token) return no_stream();
    if (!is_own(event)) events.push_back(event);
  }
  if (token) resume_token_ = bson::Document(token->as_document());
  collection_ = ns->as_string().substr(dot + 1);
  id_ = *id->integral();
  return events;
}

bool MongoChangeStream::is_own(bson::View event) const {
  const auto session = field(event, "lsid", bson::Type::kDocument);
  if (!session) return false;
  const auto id = field(session->as_document(), "id", bson::Type::kBinary);
  if (!id) return false;
  const bson::Binary bytes = id->as_binary();
  return sessions_->contains({reinterpret_cast<const char*>(bytes.data), bytes.size});
}

Result<std::vector<bson::View>> MongoChangeStream::next() {
  if (!first_.empty()) {
    resume_token_ = std::move(token_after_first_);
    return std::exchange(first_, {});
  }
  if (failure_) return fail(*failure_);
  if (id_ == 0) {
    // Servers close the cursor of a stream only after the event `invalidate`.
    return fail(engine::kInvalidResumeToken,
                "the change stream has ended with an event of the type invalidate, after which no "
                "stream can continue");
  }
  bson::Builder command;
  command.append("getMore", id_).append("collection", collection_);
  command.append("maxTimeMS", int64_t{patience_.count()});
  Result<bson::Document> reply = connection_->run_apart(database_, std::move(command).finish());
  if (!reply) {
    // The server has closed the cursor, or cannot be reached.
    id_ = 0;
    failure_ = reply.error();
    return fail(std::move(reply).error());
  }
  Result<std::vector<bson::View>> events = take(*std::move(reply));
  if (!events) failure_ = events.error();
  return events;
}

}  // namespace gridmount::mongo
