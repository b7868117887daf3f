// Reads the results of a cursor on the server, batch by batch.
//
// Thread-safety: not thread-safe. A cursor belongs to its snapshot.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/mongo/mongo_snapshot.h"
#include "engine/store.h"

namespace gridmount::mongo {

class MongoCursor final : public engine::Cursor {
 public:
  // `reply` is the server's reply to a find, aggregate, listIndexes or listCollections on
  // `database`. Fails with FailedToParse if the reply has no cursor. With `keeps_documents`, the
  // views that next() returns are valid as S5 (engine/store.h) says. Without it, they are valid
  // until the next call of next(). With `tailable`, next() returns nothing after an empty batch,
  // and can be called again later.
  static Result<std::unique_ptr<engine::Cursor>> open(std::shared_ptr<Reads> reads,
                                                      std::string database, bson::Document reply,
                                                      bool keeps_documents = false,
                                                      bool tailable = false);
  // Closes the server's cursor, unless the server has already closed it.
  ~MongoCursor() override;
  MongoCursor(const MongoCursor&) = delete;
  MongoCursor& operator=(const MongoCursor&) = delete;

  // Fails with the error of the server's getMore, which ends the cursor: later calls return
  // nothing. Fails with FailedToParse if the reply to a getMore has no cursor, or if a batch holds
  // something that is not a document. Fails with IllegalOperation while the snapshot is paused and
  // after its end.
  Result<std::optional<bson::View>> next() override;

 private:
  MongoCursor(std::shared_ptr<Reads> reads, std::string database, bool keeps_documents,
              bool tailable)
      : reads_(std::move(reads)),
        ns_{std::move(database), ""},
        keeps_documents_(keeps_documents),
        tailable_(tailable) {}

  Status take(bson::Document reply);

  const std::shared_ptr<Reads> reads_;
  // The namespace for getMore and killCursors. The newest reply names the collection.
  engine::Namespace ns_;
  const bool keeps_documents_;
  const bool tailable_;  // after an empty batch the cursor may be read again
  int64_t id_ = 0;
  bson::Document reply_;  // has the current batch
  bson::View::Iterator at_;
};

}  // namespace gridmount::mongo
