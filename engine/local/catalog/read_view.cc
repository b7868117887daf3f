#include "engine/local/catalog/read_view.h"

#include <utility>

namespace gridmount::local {

void ReadView::pause() {
  trees_->pause();
  catalog_.drop_recent();
}

void ReadView::resume(MDB_txn* txn) {
  trees_->resume(txn);
}

bson::View ReadView::keep(bson::Document document) {
  if (trees_->writes() != kept_at_write_) {
    kept_.clear();
    kept_at_write_ = trees_->writes();
  }
  kept_.push_back(std::move(document));
  return kept_.back();
}

Result<std::shared_ptr<ReadView>> read_view_of(engine::Snapshot& snapshot,
                                               const Environment& environment) {
  const auto* holder = dynamic_cast<const ReadViewHolder*>(&snapshot);
  if (holder == nullptr || &holder->read_view()->environment() != &environment) {
    return fail(ErrorCode::kIllegalOperation, "the snapshot belongs to another store");
  }
  GM_TRY(holder->read_view()->trees().readable());
  return holder->read_view();
}

Result<std::shared_ptr<ReadView>> writable_view_of(engine::Transaction& transaction,
                                                   const Environment& environment) {
  GM_ASSIGN(std::shared_ptr<ReadView> read_view, read_view_of(transaction, environment));
  GM_TRY(read_view->trees().writable_now());
  return read_view;
}

}  // namespace gridmount::local
