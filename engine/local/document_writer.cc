// Writes single documents: record, index entries, counts.

#include <string_view>

#include "engine/local/catalog/patched_records.h"
#include "engine/local/catalog/records.h"
#include "engine/local/collection.h"
#include "engine/local/validation.h"

namespace gridmount::local {
namespace {

// Returns whether the two dotted paths are equal, or one is a parent of the other.
bool paths_meet(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  return b.starts_with(a) && (a.size() == b.size() || b[a.size()] == '.');
}

// Returns the path up to its first array position or `$`. A touched path may name positions
// ("a.0.b") that an index on "a.b" does not name. So only the parts before the positions are
// compared.
std::string_view before_positions(std::string_view path) {
  for (size_t start = 0; start < path.size();) {
    const size_t end = std::min(path.find('.', start), path.size());
    const std::string_view part = path.substr(start, end - start);
    if (!part.empty() &&
        (part[0] == '$' || part.find_first_not_of("0123456789") == std::string_view::npos)) {
      return start == 0 ? path : path.substr(0, start - 1);
    }
    start = end + 1;
  }
  return path;
}

}  // namespace

DocumentWriter::DocumentWriter(ReadView& read_view,
                               std::shared_ptr<const CollectionMetadata> metadata, bool validates)
    : read_view_(read_view),
      metadata_(std::move(metadata)),
      validates_(validates && metadata_->validator != nullptr),
      indexes_(read_view.trees(), *metadata_) {}

std::vector<bool> DocumentWriter::affected_by(const query::Update& update) const {
  return affected_by(update.touched_paths());
}

std::vector<bool> DocumentWriter::affected_by(const std::vector<std::string>& touched) const {
  std::vector<bool> affected(metadata_->indexes.size(), touched.empty());
  for (size_t i = 0; i < affected.size(); ++i) {
    // The filter of a partial index and a wildcard index may depend on any field.
    const IndexKeySpec& rules = metadata_->indexes[i].rules;
    if (rules.partial || rules.wildcard) affected[i] = true;
    if (const auto& text = rules.text) {
      for (const std::string& path : touched) {
        if (text->depends_on(before_positions(path))) affected[i] = true;
      }
    }
    for (const IndexPart& part : rules.parts) {
      for (const std::string& path : touched) {
        if (paths_meet(before_positions(path), before_positions(part.path.dotted()))) {
          affected[i] = true;
        }
      }
    }
  }
  return affected;
}

Status DocumentWriter::record_multikey() {
  const std::vector<size_t> becoming = indexes_.becoming_multikey();
  if (becoming.empty()) return {};
  // This writer may have changed the catalog's entry since the writer was made.
  GM_ASSIGN(const std::shared_ptr<const CollectionMetadata> current,
            read_view_.catalog().find(metadata_->ns));
  CollectionMetadata changed = *current;
  bool any = false;
  for (const size_t i : becoming) {
    any = any || !changed.indexes[i].multikey;
    changed.indexes[i].multikey = true;
  }
  if (any) GM_TRY(read_view_.catalog().put(std::move(changed)));
  return {};
}

Status DocumentWriter::insert(bson::View document) {
  if (bson::is_nested(document, bson::kMaxStoredDepth)) {
    return fail(ErrorCode::kOverflow, "cannot insert document because it exceeds " +
                                          std::to_string(bson::kMaxStoredDepth) +
                                          " levels of nesting");
  }
  if (validates_) GM_TRY(validate(*metadata_, std::nullopt, document));
  const engine::CollectionOptions& settings = metadata_->settings;
  GM_ASSIGN(Counts* const counts, read_view_.catalog().counts_for_change(*metadata_));
  const RecordId id = counts->next_record;
  GM_TRY(check_indexes_are_current(*metadata_));
  GM_TRY(indexes_.prepare_insert(document, id));
  GM_TRY(record_multikey());
  GM_TRY(indexes_.apply());
  if (read_view_.write_observer() != nullptr) {
    read_view_.write_observer()->document_changed(metadata_->ns, std::nullopt, document);
  }
  if (is_likely_to_be_patched(document)) {
    GM_TRY(put_new_patchable_record(read_view_.trees(), metadata_->records, id, document));
  } else {
    GM_TRY(put_record(read_view_.trees(), metadata_->records, id, document, true));
  }
  ++counts->next_record;
  ++counts->documents;
  counts->document_bytes += document.size();
  if (!settings.capped) return {};
  // The document is stored already. So if no room can be made for it, the transaction is poisoned
  // (S3).
  if (Status made = make_room(); !made) {
    return read_view_.trees().poison(std::move(made).error());
  }
  return {};
}

// The newest document stays, however large it is.
Status DocumentWriter::make_room() {
  const engine::CollectionOptions& settings = metadata_->settings;
  GM_ASSIGN(Counts* const counts, read_view_.catalog().counts_for_change(*metadata_));
  Trees& trees = read_view_.trees();
  const std::string first = keyspace_prefix(metadata_->records);
  const std::string end = keyspace_end(metadata_->records);
  while (counts->documents > 1 &&
         (counts->document_bytes > settings.size_bytes ||
          (settings.max_documents > 0 && counts->documents > settings.max_documents))) {
    GM_ASSIGN(const std::optional<TreeEntry> oldest,
              trees.at_or_after(trees.tree(metadata_->records), first));
    if (!oldest || oldest->key >= end) return {};
    const RecordId id = record_id_of(oldest->key).value_or(0);
    GM_ASSIGN(const bson::View document,
              document_of(oldest->value, Verify::kChecksum, metadata_->ns,
                          RecordKey(metadata_->records, id)));
    GM_TRY(remove(id, document));
  }
  return {};
}

Status DocumentWriter::replace(RecordId id, bson::View before, bson::View after,
                               const std::vector<bool>& affected) {
  if (validates_) GM_TRY(validate(*metadata_, before, after));
  const int64_t growth = int64_t{after.size()} - int64_t{before.size()};
  // `before` may be a view of the record, and the first write ends the view. So use its size now.
  const bool may_have_patches = before.size() >= kPatchableBytesMin;
  // If the counts stay the same, the commit writes no page of the catalog.
  Counts* counts = nullptr;
  if (growth != 0) {
    GM_ASSIGN(counts, read_view_.catalog().counts_for_change(*metadata_));
  }
  GM_TRY(check_indexes_are_current(*metadata_));
  GM_TRY(indexes_.prepare_update(before, after, id, affected));
  GM_TRY(record_multikey());
  // The observer must run before the writes, which end the view `before`.
  if (read_view_.write_observer() != nullptr) {
    read_view_.write_observer()->document_changed(metadata_->ns, before, after);
  }
  GM_TRY(indexes_.apply());
  if (may_have_patches) {
    GM_TRY(remove_patches(read_view_.trees(), metadata_->ns, metadata_->records, id));
  }
  GM_TRY(put_record(read_view_.trees(), metadata_->records, id, after, false));
  if (counts != nullptr) counts->document_bytes += growth;
  return {};
}

Status DocumentWriter::remove(RecordId id, bson::View document) {
  GM_ASSIGN(Counts* const counts, read_view_.catalog().counts_for_change(*metadata_));
  const int64_t bytes = document.size();
  GM_TRY(check_indexes_are_current(*metadata_));
  GM_TRY(indexes_.prepare_remove(document, id));
  if (read_view_.write_observer() != nullptr) {
    read_view_.write_observer()->document_changed(metadata_->ns, document, std::nullopt);
  }
  GM_TRY(indexes_.apply());
  Trees& trees = read_view_.trees();
  if (bytes >= kPatchableBytesMin) {
    GM_TRY(remove_patches(trees, metadata_->ns, metadata_->records, id));
  }
  GM_TRY(trees.remove(trees.tree(metadata_->records), RecordKey(metadata_->records, id).view()));
  --counts->documents;
  counts->document_bytes -= bytes;
  return {};
}

}  // namespace gridmount::local
