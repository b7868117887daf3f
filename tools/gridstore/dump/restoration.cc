#include "tools/gridstore/dump/restoration.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "engine/base/counted.h"
#include "engine/batch_insert.h"
#include "engine/bson/builder.h"
#include "tools/gridstore/dump/restored_index.h"
#include "tools/gridstore/message.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

// The limit for the failures that are printed for each collection. Further failures are only
// counted.
constexpr uint64_t kFailuresPrintedMax = 10;

Status in_transaction(engine::Store& store, const auto& work) {
  GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store.begin());
  GM_TRY(work(*transaction));
  return transaction->commit();
}

bool is_id_index(bson::View specification) {
  const std::optional<bson::ValueView> key = specification.find("key");
  if (!key || key->type() != bson::Type::kDocument || key->as_document().empty()) return false;
  const bson::View keys = key->as_document();
  const bson::Element first = *keys.begin();
  return first.key == "_id" && first.value.integral() == 1 && ++keys.begin() == keys.end();
}

std::string_view name_of(bson::View specification) {
  const std::optional<bson::ValueView> name = specification.find("name");
  return name && name->type() == bson::Type::kString ? name->as_string() : "?";
}

}  // namespace

Restoration::Restoration(engine::Store& store, const RestoreRules& rules)
    : store_(store), rules_(rules), writes_(store, actions()), users_(store) {}

BatchedWrites<Restoration::RestoreTarget*>::Actions Restoration::actions() {
  BatchedWrites<RestoreTarget*>::Actions actions;
  actions.write = [this](engine::Transaction& transaction, RestoreTarget* target,
                         bson::View document) { return insert(transaction, target->ns, document); };
  // Over a network, a round trip for each document would take most of the time.
  if (!store_.capabilities().exclusive) {
    actions.write_all = [this](engine::Transaction& transaction, RestoreTarget* target,
                               std::span<const bson::View> documents, size_t& written) {
      return insert_several(transaction, target->ns, documents, written);
    };
    actions.are_together = std::equal_to<>();
  }
  actions.refused = [this](RestoreTarget* target, const Error& error) {
    return document_failed(*target, error);
  };
  actions.written = [this](RestoreTarget* target) {
    ++target->documents;
    ++counts_.documents;
  };
  return actions;
}

Status Restoration::failed(const Error& error) {
  ++counts_.failures;
  if (rules_.stop_on_error || ends_everything(error.code())) return fail(error);
  print_message(error.message());
  return {};
}

Status Restoration::begin(const engine::Namespace& ns, const Metadata& metadata) {
  // Inserts the waiting documents first, because this collection may have the same name as theirs.
  GM_TRY(writes_.flush());
  RestoreTarget& target = targets_[ns];
  target.ns = ns;
  target.metadata = metadata;
  if (RestoredUsers::are_in(ns)) {
    // A deployment has its own users.
    if (!store_.capabilities().exclusive) {
      target.kind = RestoreTarget::Kind::kRefused;
      return failed(
          Error(ErrorCode::kCommandNotSupported,
                in_quotes(ns.full()) + " is not restored into a deployment; mongorestore does so"));
    }
    target.kind = RestoreTarget::Kind::kUsers;
    return {};
  }
  if (ns.collection == "system.indexes") {
    target.kind = RestoreTarget::Kind::kRefused;
    return failed(Error(ErrorCode::kCommandNotSupported,
                        in_quotes(ns.full()) +
                            " cannot be restored: the dump comes from a server too old "
                            "to be supported, which kept its indexes there"));
  }
  if (ns.collection == "system.views") {
    target.kind = RestoreTarget::Kind::kViewDefinitions;
    return {};
  }
  if (metadata.is_view()) {
    // The view is created at the end, because its source may be restored later.
    target.kind = RestoreTarget::Kind::kView;
    return {};
  }
  return make(target);
}

Status Restoration::make(RestoreTarget& target) {
  const Status made = in_transaction(store_, [&](engine::Transaction& transaction) {
    return drop_and_create(target, transaction);
  });
  if (made) {
    ++counts_.collections;
    return {};
  }
  const bool was_view = target.kind == RestoreTarget::Kind::kView;
  target.kind = RestoreTarget::Kind::kRefused;
  return failed(Error(made.error())
                    .with_context(std::string(was_view ? "the view " : "the collection ") +
                                  in_quotes(target.ns.full()) + " is not restored"));
}

Status Restoration::drop_and_create(RestoreTarget& target, engine::Transaction& transaction) {
  const engine::Namespace& ns = target.ns;
  GM_TRY(engine::check_namespace(ns));
  const std::shared_ptr<engine::Database> database = store_.database(ns.database);
  GM_ASSIGN(const auto existing, database->collection_info(transaction, ns.collection));
  if (existing && rules_.drop && !ns.collection.starts_with("system.")) {
    GM_TRY(database->drop(transaction, ns.collection));
  } else if (existing) {
    if (existing->options.find("viewOn").has_value() != target.metadata.is_view()) {
      return fail(ErrorCode::kNamespaceExists,
                  "there is a " + std::string(target.metadata.is_view() ? "collection" : "view") +
                      " of that name (--drop removes it)");
    }
    if (target.metadata.is_view()) {
      return fail(ErrorCode::kNamespaceExists, "it exists (--drop replaces it)");
    }
    if (!rules_.quiet) print_message(ns.full() + " exists; it keeps its options and documents");
    return {};
  }
  return database->create(transaction, ns.collection, target.metadata.options);
}

Status Restoration::add(const engine::Namespace& ns, bson::View document) {
  RestoreTarget& target = targets_[ns];
  if (target.kind == RestoreTarget::Kind::kRefused || target.kind == RestoreTarget::Kind::kView)
    return {};
  if (target.kind == RestoreTarget::Kind::kUsers) {
    const Status added = users_.add(ns, document);
    return added ? Status() : document_failed(target, added.error());
  }
  if (target.kind == RestoreTarget::Kind::kViewDefinitions) {
    return document_failed(target, Error(ErrorCode::kInvalidNamespace,
                                         "cannot write to " + target.ns.full() +
                                             ", which defines views: create the view with the "
                                             "command create"));
  }
  return writes_.add(&target, document);
}

engine::InsertOptions Restoration::insert_options() const {
  engine::InsertOptions options;
  options.bypass_validation = rules_.bypass_validation;
  options.keep_empty_timestamps = true;
  return options;
}

Status Restoration::insert(engine::Transaction& transaction, const engine::Namespace& ns,
                           bson::View document) {
  GM_TRY(store_.database(ns.database)
             ->collection(ns.collection)
             ->insert(transaction, document, insert_options()));
  return {};
}

// Inserts the documents before the first one without an _id together. Inserts a document without an
// _id alone, because insert() adds an _id.
Status Restoration::insert_several(engine::Transaction& transaction, const engine::Namespace& ns,
                                   std::span<const bson::View> documents, size_t& written) {
  const std::unique_ptr<engine::Collection> collection =
      store_.database(ns.database)->collection(ns.collection);
  const auto without_id = std::find_if(documents.begin(), documents.end(),
                                       [](bson::View document) { return !document.find("_id"); });
  auto* const batches = dynamic_cast<engine::BatchInserter*>(collection.get());
  if (batches != nullptr && without_id != documents.begin()) {
    const auto count = static_cast<size_t>(without_id - documents.begin());
    return batches->insert_all(transaction, documents.first(count), written, insert_options());
  }
  GM_TRY(collection->insert(transaction, documents.front(), insert_options()));
  written = 1;
  return {};
}

Status Restoration::document_failed(RestoreTarget& target, const Error& error) {
  ++target.failures;
  if (!rules_.stop_on_error && target.failures > kFailuresPrintedMax) {
    ++counts_.failures;
    return {};
  }
  Error said = error;
  // Most messages of the store already name the collection.
  if (error.message().find(target.ns.full()) == std::string::npos) {
    said = Error(error).with_context(target.ns.full());
  }
  return failed(said);
}

Status Restoration::end(const engine::Namespace& ns) {
  RestoreTarget& target = targets_[ns];
  target.is_whole = true;
  return print_documents(target);
}

Status Restoration::break_off(const engine::Namespace& ns, const Error& error) {
  GM_TRY(print_documents(targets_[ns]));
  return failed(error);
}

Status Restoration::print_documents(const RestoreTarget& target) {
  GM_TRY(writes_.flush());
  const std::string name = target.ns.full();
  if (target.failures > kFailuresPrintedMax) {
    print_message(name + ": " + counted(target.failures - kFailuresPrintedMax, "more failure"));
  }
  if (target.kind != RestoreTarget::Kind::kCollection || rules_.quiet) return {};
  print_message(name + ": " + counted(target.documents, "document") +
                (target.failures > 0 ? ", " + counted(target.failures, "failure") : std::string()));
  return {};
}

Status Restoration::finish() {
  GM_TRY(writes_.flush());
  for (const auto& [ns, target] : targets_) {
    if (target.kind == RestoreTarget::Kind::kCollection) GM_TRY(make_indexes(target));
  }
  for (auto& [ns, target] : targets_) {
    if (target.kind == RestoreTarget::Kind::kView) GM_TRY(make(target));
  }
  GM_TRY(make_users());
  return store_.make_durable();
}

// Returns the converted indexes. If several indexes then have the same keys, keeps only the first.
std::vector<bson::Document> Restoration::converted_indexes(const RestoreTarget& target) const {
  std::vector<bson::Document> indexes;
  for (const bson::Document& given : target.metadata.indexes) {
    bson::Document converted = with_converted_keys(given);
    const bool is_known =
        std::any_of(indexes.begin(), indexes.end(),
                    [&](const bson::Document& other) { return have_equal_keys(converted, other); });
    if (is_known && !rules_.quiet) {
      print_message("skipping the index " + in_quotes(name_of(given)) + " of " + target.ns.full() +
                    ": another index has the same keys");
    }
    if (!is_known) indexes.push_back(std::move(converted));
  }
  return indexes;
}

Status Restoration::make_indexes(const RestoreTarget& target) {
  const std::vector<bson::Document> indexes =
      rules_.convert_legacy_indexes ? converted_indexes(target) : target.metadata.indexes;
  for (const bson::Document& specification : indexes) {
    if (is_id_index(specification)) continue;
    const Status made = make_index(target, specification);
    if (made) {
      ++counts_.indexes;
      continue;
    }
    GM_TRY(failed(Error(made.error())
                      .with_context("the index " + in_quotes(name_of(specification)) + " of " +
                                    target.ns.full() + " is not restored")));
  }
  return {};
}

Status Restoration::make_index(const RestoreTarget& target, bson::View specification) {
  GM_ASSIGN(auto index, engine::IndexDefinition::parse(current_specification(specification)));
  // A dump names the collation of every index that has one. An index without a collation must not
  // get the collection's collation.
  if (!index.collation) index.collation.emplace();
  return in_transaction(store_, [&](engine::Transaction& transaction) {
    return store_.database(target.ns.database)
        ->collection(target.ns.collection)
        ->create_index(transaction, index);
  });
}

Status Restoration::make_users() {
  // If some users are missing, no users are restored: the set would differ from the dump, and with
  // `drop` the missing users would be removed.
  for (const auto& [ns, target] : targets_) {
    if (target.kind != RestoreTarget::Kind::kUsers || (target.is_whole && target.failures == 0))
      continue;
    return failed(Error(
        ErrorCode::kOperationFailed,
        "no users are restored, because some documents of " + ns.full() + " cannot be restored"));
  }
  const Result<size_t> merged = users_.merge(rules_.drop);
  if (!merged) return failed(merged.error());
  counts_.users = *merged;
  return {};
}

}  // namespace gridmount::tools
