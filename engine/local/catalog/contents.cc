#include "engine/local/catalog/contents.h"

#include <utility>

namespace gridmount::local {

void Contents::pause() {
  trees_->pause();
  catalog_.forget_recent();
}

void Contents::resume(MDB_txn* txn) {
  trees_->resume(txn);
}

bson::View Contents::keep(bson::Document document) {
  if (trees_->writes() != kept_at_write_) {
    kept_.clear();
    kept_at_write_ = trees_->writes();
  }
  kept_.push_back(std::move(document));
  return kept_.back();
}

Result<std::shared_ptr<Contents>> contents_of(engine::Snapshot& snapshot,
                                              const Environment& environment) {
  const auto* holder = dynamic_cast<const ContentsHolder*>(&snapshot);
  if (holder == nullptr || &holder->contents()->environment() != &environment) {
    return fail(ErrorCode::kIllegalOperation, "the snapshot belongs to another store");
  }
  GM_TRY(holder->contents()->trees().readable());
  return holder->contents();
}

Result<std::shared_ptr<Contents>> writable_contents_of(engine::Transaction& transaction,
                                                       const Environment& environment) {
  GM_ASSIGN(std::shared_ptr<Contents> contents, contents_of(transaction, environment));
  GM_TRY(contents->trees().writable_now());
  return contents;
}

}  // namespace gridmount::local
