#include "engine/mongo/mongo_cursor.h"

#include <utility>

#include "engine/bson/builder.h"

namespace gridmount::mongo {
namespace {

tl::unexpected<Error> no_cursor() {
  return fail(ErrorCode::kFailedToParse, "the server's reply holds no cursor");
}

}  // namespace

Result<std::unique_ptr<engine::Cursor>> MongoCursor::open(std::shared_ptr<Reads> reads,
                                                          std::string database,
                                                          bson::Document reply,
                                                          bool keeps_documents, bool tailable) {
  std::unique_ptr<MongoCursor> cursor(
      new MongoCursor(std::move(reads), std::move(database), keeps_documents, tailable));
  GM_TRY(cursor->take(std::move(reply)));
  return std::unique_ptr<engine::Cursor>(std::move(cursor));
}

MongoCursor::~MongoCursor() {
  if (keeps_documents_) reads_->keep(std::move(reply_));
  if (id_ != 0) reads_->close_cursor(id_);
}

Status MongoCursor::take(bson::Document reply) {
  if (id_ != 0) reads_->closed(id_);
  id_ = 0;
  if (keeps_documents_) reads_->keep(std::move(reply_));
  reply_ = std::move(reply);
  const std::optional<bson::ValueView> cursor = reply_.find("cursor");
  if (!cursor || cursor->type() != bson::Type::kDocument) return no_cursor();
  const bson::View fields = cursor->as_document();
  const std::optional<bson::ValueView> id = fields.find("id");
  const std::optional<bson::ValueView> ns = fields.find("ns");
  std::optional<bson::ValueView> batch = fields.find("firstBatch");
  if (!batch) batch = fields.find("nextBatch");
  if (!id || !id->integral() || !ns || ns->type() != bson::Type::kString || !batch ||
      batch->type() != bson::Type::kArray) {
    return no_cursor();
  }
  const std::string_view name = ns->as_string();
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) return no_cursor();
  ns_.collection = name.substr(dot + 1);
  id_ = *id->integral();
  if (id_ != 0) reads_->opened(id_, ns_);
  at_ = batch->as_document().begin();
  return {};
}

Result<std::optional<bson::View>> MongoCursor::next() {
  GM_TRY(reads_->check_usable());
  bool asked = false;
  while (at_ == bson::View::Iterator()) {
    if (id_ == 0 || (tailable_ && asked)) return std::optional<bson::View>();
    bson::Builder command;
    command.append("getMore", id_).append("collection", ns_.collection);
    Result<bson::Document> reply = reads_->run(ns_, std::move(command).finish());
    if (!reply) {
      // The server has closed the cursor, or cannot be reached.
      reads_->closed(id_);
      id_ = 0;
      return fail(std::move(reply).error());
    }
    GM_TRY(take(*std::move(reply)));
    asked = true;
  }
  const bson::Element element = *at_;
  ++at_;
  if (element.value.type() != bson::Type::kDocument) return no_cursor();
  return std::optional(element.value.as_document());
}

}  // namespace gridmount::mongo
